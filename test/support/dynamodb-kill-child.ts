/**
 * Writes without end until it is killed: `node dynamodb-kill-child.ts DIRECTORY SEED VERSIONS`. Every key is moved from
 * version to version, all keys at once; each step is tried by two rivals of which one has to win. Standard output has
 * `ready`, then `ack KEY VERSION` for every write that was acknowledged, or `broken ...`.
 */
import { writeSync } from 'node:fs';
import { type DynamoDBClient, ResourceInUseException } from '@aws-sdk/client-dynamodb';
import { openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { benchOn, createTable } from '../contract/dynamodb-engine-bench.ts';
import { KILL_INDEXES, KILL_KEYS, KILL_TABLE, keyOf, planned, type Versions } from './dynamodb-kill-model.ts';

const [path = '', seedText = '', versionsText = '{}'] = process.argv.slice(2);
const seed = Number(seedText);
const versions: Versions = JSON.parse(versionsText);

/** Not through a stream: a line is with the parent before the next write begins. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function ensureTable(client: DynamoDBClient): Promise<void> {
  try {
    await createTable(client, KILL_TABLE, { pk: 'S', sk: 'S' }, KILL_INDEXES);
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

async function step(client: DynamoDBClient, pk: string, version: number): Promise<void> {
  const rivals = await Promise.allSettled([0, 1].map((rival) => write(client, pk, version, rival)));
  const won = rivals.filter(({ status }) => status === 'fulfilled').length;
  if (won !== 1) say(`broken: ${won} of two rivals won ${pk} at ${version}`);
  else say(`ack ${pk} ${version}`);
}

function write(client: DynamoDBClient, pk: string, version: number, rival: number): Promise<unknown> {
  const bench = benchOn(client, KILL_TABLE);
  const before = planned(seed, pk, version - 1);
  const after = planned(seed, pk, version);
  const condition = before
    ? { ConditionExpression: 'v = :before', ExpressionAttributeValues: { ':before': { N: `${version - 1}` } } }
    : { ConditionExpression: 'attribute_not_exists(pk)' };
  if (!after) return bench.remove(keyOf(pk), condition);
  if ((version + rival) % 2 === 0) return bench.put(after, condition);

  const { pk: _pk, sk: _sk, ...attributes } = after;
  const names = Object.keys(attributes);
  const gone = ['gp', 'gs', 'bp', 'bs'].filter((name) => !(name in attributes));
  return bench.update(keyOf(pk), {
    UpdateExpression:
      `SET ${names.map((name) => `${name} = :${name}`).join(', ')}` +
      (gone.length > 0 ? ` REMOVE ${gone.join(', ')}` : ''),
    ConditionExpression: condition.ConditionExpression,
    ExpressionAttributeValues: {
      ...condition.ExpressionAttributeValues,
      ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value])),
    },
  });
}

const engine = await openEmbeddedDynamo({ path });
const client = engine.client();
await ensureTable(client);
say('ready');
await Promise.all(
  KILL_KEYS.map(async (pk) => {
    for (let version = (versions[pk] ?? 0) + 1; ; version += 1) await step(client, pk, version);
  }),
);
