/**
 * The port `Pace` on DynamoDB: one item a destination and kind of line, with the time from which its next slot is free.
 *
 *   take ──► move it on, if it lies ahead ───── done ──► the slot is where it stood
 *     ▲          └── refused: idle, new, or an earlier line
 *     │      start it at `fromMs` ───────────── done ──► the slot is `fromMs`
 *     └────────── refused: a rival has started it
 *
 * Within a line it only grows, so one who was refused twice gets its slot in the second round; more rounds are needed by broken data
 * or newer code only, and they end. A lost answer costs a slot that nobody uses, and never gives one to two.
 */
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { DestinationId } from '../../core/ids.ts';
import { assertInstant } from '../../core/instant.ts';
import { destinationPartition, PACE_SORT } from '../../core/keys.ts';
import { FORMAT } from '../../core/model.ts';
import { type Pace, type PaceLine, PortUnavailable } from '../../ports.ts';
import type { ItemKey } from './codec/item-keys.ts';
import { storedOf } from './codec/stored.ts';
import { reached, untilLate } from './reached.ts';
import { FORMAT_ATTRIBUTE, TABLE_KEY } from './schema.ts';

export interface PaceOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

export const PACE_ROUNDS_MAX = 8;

export const NEXT_ATTRIBUTE = 'nextMs';
export const LINE_ATTRIBUTE = 'line';

export const paceKey = (destination: DestinationId, kind: PaceLine['kind']): ItemKey => ({
  pk: destinationPartition(destination),
  sk: `${PACE_SORT}#${kind}`,
});

const MOVE = {
  UpdateExpression: 'SET #next = #next + :step',
  ConditionExpression: '#next > :from AND #line >= :line AND #f <= :format',
};

const START = {
  UpdateExpression: 'SET #next = :behind, #line = :line, #f = :format',
  ConditionExpression: 'attribute_not_exists(#next) OR ((#next <= :from OR #line < :line) AND #f <= :format)',
};

const NAMES = { '#next': NEXT_ATTRIBUTE, '#line': LINE_ATTRIBUTE, '#f': FORMAT_ATTRIBUTE };

/** The client stays the caller's: it is neither changed nor closed. */
export const createDynamoPace = ({ client, table }: PaceOptions): Pace => {
  const updated = async (input: Omit<UpdateItemCommandInput, 'TableName'>, end: ReturnType<typeof untilLate>) => {
    const command = new UpdateItemCommand({
      ...input,
      TableName: table,
      ExpressionAttributeNames: NAMES,
      ReturnValues: 'UPDATED_OLD',
    });
    try {
      const answer = await reached(client.send(command, end));
      const old = answer.Attributes?.[NEXT_ATTRIBUTE]?.N;
      return { old: old === undefined ? undefined : Number(old) };
    } catch (cause) {
      if (cause instanceof ConditionalCheckFailedException) return undefined;
      throw cause;
    }
  };

  return {
    take: async (destination, line, fromMs, stepMs) => {
      const step = stepOf(fromMs, stepMs);
      const { pk: partition, sk: sort } = paceKey(destination, line.kind);
      const key = { Key: storedOf({ [TABLE_KEY.partition.name]: partition, [TABLE_KEY.sort.name]: sort }) };
      const end = untilLate();
      for (let round = 0; round < PACE_ROUNDS_MAX; round += 1) {
        const values = { ':from': fromMs, ':line': line.number, ':format': FORMAT };
        const moved = await updated(
          { ...key, ...MOVE, ExpressionAttributeValues: storedOf({ ...values, ':step': step }) },
          end,
        );
        if (moved?.old !== undefined) return wholeMs(moved.old);
        const behind = storedOf({ ...values, ':behind': rounded(fromMs + step) });
        if (await updated({ ...key, ...START, ExpressionAttributeValues: behind }, end)) return fromMs;
      }
      throw new PortUnavailable(
        'ledger',
        `the item "${partition}" / "${sort}" gives no slot: it is broken, or of a format of newer code`,
      );
    },
  };
};

/** Whole milliseconds, and never before the slot: a third of a second stays a third in the table only. */
export const wholeMs = Math.ceil;

/** Six digits behind the point: numbers that are added up stay short, and 1,000 steps drift by less than 0.001 ms. */
const rounded = (ms: number): number => Number(ms.toFixed(6));

/** Throws on a time or a step that is none: a bug of the caller. */
export const stepOf = (fromMs: number, stepMs: number): number => {
  assertInstant(fromMs);
  const step = rounded(stepMs);
  if (!(step > 0 && Number.isFinite(step))) throw new RangeError(`not a step from slot to slot: ${stepMs}`);
  return step;
};
