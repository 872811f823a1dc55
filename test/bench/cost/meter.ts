/**
 * What requests cost, as the engine itself says it: every request of a client is asked for its consumed capacity, table and
 * indexes apart. A refused condition costs units as well, and no engine says how many: they are computed by the rule of
 * the developer guide, one unit for each KB of the larger of the item that stands there and the one that was offered.
 */
import { ConditionalCheckFailedException, type ConsumedCapacity, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { itemBytes } from '../../support/item-bytes.ts';

export interface Spent {
  /** Write units by place: the kind of item that was written, or the index that changed with it. */
  readonly writes: Readonly<Record<string, number>>;
  readonly reads: number;
  /** Of the writes, those of conditions that were refused. */
  readonly refused: number;
}

export interface Meter {
  /** What was spent since the last time, and begins anew. */
  take(): Spent;
}

/** `kindOf`: the name under which a write of these keys is counted; undefined where it is not to be counted. */
export const metered = (
  client: DynamoDBClient,
  kindOf: (keys: Readonly<Record<string, unknown>>) => string | undefined,
): Meter => {
  let writes: Record<string, number> = {};
  let [reads, refused] = [0, 0];
  const add = (place: string, units: number): void => {
    if (units > 0) writes[place] = (writes[place] ?? 0) + units;
  };
  const note = (command: string, kind: string | undefined, capacity: ConsumedCapacity): void => {
    if (kind === undefined) return;
    if (!WRITES.has(command)) {
      reads += capacity.CapacityUnits ?? 0;
      return;
    }
    add(kind, capacity.Table?.CapacityUnits ?? 0);
    for (const [index, used] of Object.entries(capacity.GlobalSecondaryIndexes ?? {}))
      add(index, used.CapacityUnits ?? 0);
  };
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const input = args.input as Asked;
        const kind = kindOf(keysOf(input));
        try {
          const answer = await next({ ...args, input: { ...input, ReturnConsumedCapacity: 'INDEXES' } });
          const { ConsumedCapacity: used } = answer.output as {
            ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[];
          };
          for (const one of [used ?? []].flat()) note(commandName, kind, one);
          return answer;
        } catch (error) {
          if (error instanceof Error && error.name === ConditionalCheckFailedException.name && kind !== undefined) {
            const present = 'Item' in error && error.Item ? itemBytes(error.Item as Record<string, never>) : 0;
            const units = Math.max(1, Math.ceil(Math.max(present, itemBytes(input.Item ?? {})) / KB));
            refused += units;
            add(kind, units);
          }
          throw error;
        }
      },
    { step: 'initialize', name: 'meter', priority: 'low' },
  );
  return {
    take: () => {
      const spent = { writes, reads, refused };
      writes = {};
      [reads, refused] = [0, 0];
      return spent;
    },
  };
};

const KB = 1_024;
const WRITES = new Set(['PutItemCommand', 'UpdateItemCommand', 'DeleteItemCommand', 'TransactWriteItemsCommand']);

interface Asked {
  readonly Item?: Record<string, never>;
  readonly Key?: Record<string, never>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
}

/** Of a query, its values: the partition is one of them. */
const keysOf = ({ Item, Key, ExpressionAttributeValues }: Asked): Readonly<Record<string, unknown>> =>
  Item ?? Key ?? ExpressionAttributeValues ?? {};

export const writesOf = ({ writes }: Spent): number => Object.values(writes).reduce((sum, units) => sum + units, 0);

export const together = (all: readonly Spent[]): Spent => {
  const writes: Record<string, number> = {};
  for (const one of all)
    for (const [place, units] of Object.entries(one.writes)) writes[place] = (writes[place] ?? 0) + units;
  const sum = (units: (one: Spent) => number): number => all.reduce((total, one) => total + units(one), 0);
  return { writes, reads: sum(({ reads }) => reads), refused: sum(({ refused }) => refused) };
};
