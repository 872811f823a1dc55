import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type EmbeddedDynamo, openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { dynamodbEngineContract } from './dynamodb-engine.ts';

const opened: EmbeddedDynamo[] = [];
const directories: string[] = [];

afterAll(async () => {
  await Promise.all(opened.map((engine) => engine.close()));
  await Promise.all(directories.map((path) => rm(path, { recursive: true })));
});

dynamodbEngineContract('embedded in memory', async () => {
  const engine = await openEmbeddedDynamo();
  opened.push(engine);
  return engine.client();
});

dynamodbEngineContract('embedded on disk', async () => {
  const path = await mkdtemp(join(tmpdir(), 'dynamodb-engine-'));
  directories.push(path);
  const engine = await openEmbeddedDynamo({ path });
  opened.push(engine);
  return engine.client();
});
