/** What a client's requests cost and look at, as the engine says it: units, and the rows that its queries read. */
import type { ConsumedCapacity, DynamoDBClient } from '@aws-sdk/client-dynamodb';

export interface ReadSpent {
  readonly requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Items of queries before any limit of ours, and items that were got. */
  readonly rows: number;
}

export interface ReadMeter {
  /** Since the last time; begins anew. */
  take(): ReadSpent;
}

interface Answer {
  readonly ConsumedCapacity?: ConsumedCapacity;
  readonly ScannedCount?: number;
  readonly Item?: unknown;
}

const READS = new Set(['GetItemCommand', 'QueryCommand']);

export const readMetered = (client: DynamoDBClient): ReadMeter => {
  let spent = { requests: 0, readUnits: 0, writeUnits: 0, rows: 0 };
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
        const { ConsumedCapacity: used, ScannedCount: scanned, Item: item } = answer.output as Answer;
        spent.requests += 1;
        if (READS.has(commandName)) {
          spent.readUnits += used?.CapacityUnits ?? 0;
          spent.rows += scanned ?? (item === undefined ? 0 : 1);
        } else spent.writeUnits += used?.CapacityUnits ?? 0;
        return answer;
      },
    { step: 'initialize', name: 'read-meter', priority: 'low' },
  );
  return {
    take: () => {
      const taken = spent;
      spent = { requests: 0, readUnits: 0, writeUnits: 0, rows: 0 };
      return taken;
    },
  };
};
