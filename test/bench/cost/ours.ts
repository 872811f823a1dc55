/**
 * The product over an engine that counts: the real apps, receiver, sweep and decisions in virtual time, an endless schedule
 * included, with a sender that answers as it is told.
 */
import { createHash } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoLedger } from '../../../functions/adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../../../functions/adapters/ledger/pace.ts';
import { createDynamoPages } from '../../../functions/adapters/ledger/pages.ts';
import { createLedgerSecrets } from '../../../functions/adapters/secrets.ts';
import type { Token } from '../../../functions/core/items.ts';
import { TICK_MS } from '../../../functions/core/limits.ts';
import type { Delivery } from '../../../functions/core/model.ts';
import type { QueueLimits } from '../../../functions/ports.ts';
import { ensureTable } from '../../../infra/local/ledger-table.ts';
import { destinationId, eventId, openTestWorld, type TestWorld, tokenItems } from '../../support/world.ts';
import { type Meter, metered } from './meter.ts';

/** As long as the cost is stated for: 40 and 16 characters, 512 bytes. A message id of the queue has 36. */
export const eventNamed = (name: string): string => name.padEnd(40, '-');
export const destinationNamed = (name: string): string => name.padEnd(16, '-');
const PAYLOAD = { text: 'x'.repeat(512 - '{"text":""}'.length) };

export interface CountedWorld {
  readonly world: TestWorld;
  readonly meter: Meter;
  /** Under 40 characters, to destinations of under 16. */
  accept(event: string, ...destinations: readonly string[]): Promise<void>;
  /** The next message of the queue, at its time; false where there is none. */
  pushNext(): Promise<boolean>;
  /** Pushes, and ticks of the schedule where a row wants to be looked after, until nothing of this delivery is open. */
  live(event: string, destination: string): Promise<Delivery>;
  row(event: string, destination: string): Promise<Delivery>;
}

export const openCountedWorld = async (
  client: DynamoDBClient,
  table: string,
  limits?: QueueLimits,
): Promise<CountedWorld> => {
  await ensureTable(client, table);
  const meter = metered(client, kindOf);
  const at = { client, table };
  const ledger = createDynamoLedger(at);
  const world = openTestWorld({
    reshape: (plain) => ({
      ...plain,
      ledger,
      pages: createDynamoPages(at, plain.clock),
      pace: createDynamoPace(at),
      secrets: createLedgerSecrets(ledger, plain.clock),
      queue: limits === undefined ? plain.queue : { limits, publish: (one) => plain.queue.publish(one) },
    }),
  });
  for (const token of tokenItems(world.clock.nowMs())) await ledger.create<Token>(token);
  meter.take();
  return { world, meter, ...verbs(world) };
};

const verbs = (world: TestWorld): Omit<CountedWorld, 'world' | 'meter'> => {
  const row: CountedWorld['row'] = async (event, destination) => {
    const ref = { event: eventId(eventNamed(event)), destination: destinationId(destinationNamed(destination)) };
    const found = await world.ports.ledger.load({ item: 'delivery', ...ref });
    if (found.kind !== 'found') throw new Error(`the delivery of ${event} to ${destination} is ${found.kind}`);
    return found.item;
  };
  const pushBefore = async (byMs: number): Promise<boolean> => {
    const next = world.queue.take(byMs);
    if (next === undefined) return false;
    await world.clock.advance(Math.max(0, next.atMs - world.clock.nowMs()));
    const answer = await world.push(next.body, { messageId: messageIdOf(next.messageId) });
    if (answer.status !== 200) throw new Error(`a push was not taken: ${answer.text}`);
    return true;
  };
  return {
    row,
    accept: async (event, ...destinations) => {
      const names = destinations.map(destinationNamed);
      const answer = await world.submit({ id: eventNamed(event), payload: PAYLOAD, destinations: names });
      if (answer.status !== 202) throw new Error(`not accepted: ${answer.text}`);
    },
    pushNext: () => pushBefore(Number.POSITIVE_INFINITY),
    live: async (event, destination) => {
      for (let steps = 0; steps < STEPS_MAX; steps += 1) {
        const now = await row(event, destination);
        if (now.status !== 'pending' && now.status !== 'claimed') return now;
        const tickMs = Math.ceil(now.lookAfterMs / TICK_MS) * TICK_MS;
        if (await pushBefore(tickMs)) continue;
        await world.clock.advance(Math.max(0, tickMs - world.clock.nowMs()));
        await world.tick();
      }
      throw new Error(`the delivery of ${event} to ${destination} does not end`);
    },
  };
};

/** In the form of those of SQS: bytes that nothing can pack. */
const messageIdOf = (name: string): string =>
  createHash('sha256')
    .update(name)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');

const STEPS_MAX = 500;

/** Under what a write is counted. What the schedule costs whatever there is to deliver is none of a delivery's cost. */
const kindOf = (keys: Readonly<Record<string, unknown>>): string | undefined => {
  const [pk, sk] = [textOf(keys['pk'] ?? keys[':pk']), textOf(keys['sk'])];
  const kind = pk.split('#')[0] ?? '';
  if (kind === 'event') return sk.startsWith('delivery') ? 'delivery' : 'event';
  if (kind === 'destination') return sk.split('#')[0] || 'destination';
  return ['decision', 'secret', 'token', 'operation'].includes(kind) ? kind : undefined;
};

const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'S' in value ? String(value.S) : '';
