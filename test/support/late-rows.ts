/** What the tests of the sweep begin with: rows that are late, in the shard that a test wants, and what is broken. */
import { keyOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { FORMAT_ATTRIBUTE, VERSION_ATTRIBUTE } from '../../functions/adapters/ledger/schema.ts';
import type { Heartbeat } from '../../functions/core/items.ts';
import { dueShard } from '../../functions/core/keys.ts';
import { DUE_SHARDS, graceMsOf, TICK_MS, TIMEOUT_MS_DEFAULT } from '../../functions/core/limits.ts';
import { sweepBody } from '../../functions/core/message.ts';
import type { Ref } from '../../functions/ports.ts';
import { type Flow, type FlowOptions, type Message, openFlow, type PushRecord, pushByHand } from './flow.ts';
import { destinationId, eventId } from './world.ts';

export const PARTNER = 'partner';
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const GRACE_MS = graceMsOf(TIMEOUT_MS_DEFAULT);

export const openedFlow = async (options: FlowOptions = {}, settings?: Readonly<Record<string, unknown>>) => {
  const flow = openFlow(options);
  await flow.destination(PARTNER, settings);
  return flow;
};

/** Accepted, and every publish failed. */
export const unpublished = async (flow: Flow, count: number, prefix?: string): Promise<string[]> => {
  flow.queue.away = true;
  const events = await flow.accept(PARTNER, count, prefix === undefined ? {} : { prefix });
  flow.queue.away = false;
  return events;
};

const shardOf = (event: string, destination: string): number =>
  dueShard(eventId(event), destinationId(destination), DUE_SHARDS);

/** So many events whose deliveries are looked after by this shard. */
export const inShardOf = (destination: string, shard: number, count: number, prefix: string): string[] => {
  const events: string[] = [];
  for (let n = 0; events.length < count; n += 1) {
    if (shardOf(`${prefix}${n}`, destination) === shard) events.push(`${prefix}${n}`);
  }
  return events;
};
export const inShard = (shard: number, count: number, prefix: string): string[] =>
  inShardOf(PARTNER, shard, count, prefix);

export const deliversOf = (flow: Flow, from = 0): Message[] =>
  flow.queue.published.slice(from).filter(({ kind }) => kind === 'deliver');
export const sweepsOf = (flow: Flow): PushRecord[] => flow.pushes.filter(({ message }) => message.kind === 'sweep');
export const beatOf = async (flow: Flow, shard: number): Promise<Heartbeat> => {
  const found = await flow.world.records.load({ item: 'heartbeat', shard });
  if (found.kind !== 'found') throw new Error(`heartbeat of shard ${shard}: ${found.kind}`);
  return found.item;
};
export const sweepNow = (
  flow: Flow,
  shard: number,
  tickNumber = Math.floor(flow.world.clock.nowMs() / TICK_MS),
  page = 0,
) => pushByHand(flow, sweepBody(shard, tickNumber, page));

/** Rows of one shard whose publish failed, and whose time to be looked at has come. */
export const lateInShard = async (flow: Flow, shard: number, count: number): Promise<string[]> => {
  flow.queue.away = true;
  const events = await flow.accept(PARTNER, inShard(shard, count, `late-${shard}-`));
  flow.queue.away = false;
  await flow.run(GRACE_MS);
  return events;
};

/** Every request to the ledger takes this long. */
export const slowLedger = (flow: Flow, ms: number): void => {
  flow.world.ledgerHooks.before = () => flow.world.clock.sleep(ms);
};

export const ofLaterFormat = (record: Stored): Stored => ({ ...record, [FORMAT_ATTRIBUTE]: { N: '2' } });
export const broken = (record: Stored): Stored => ({ ...record, [VERSION_ATTRIBUTE]: { S: 'x' } });

export const spoil = (flow: Flow, ref: Ref, change: (record: Stored) => Stored): void => {
  const record = flow.world.store.peek(keyOf(ref));
  if (record === undefined) throw new Error('nothing to spoil');
  flow.world.store.poke(change(record));
};
