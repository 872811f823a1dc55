/** The product over a table of many rows, and what it does there that could depend on how many they are. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoLedger } from '../../../functions/adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../../../functions/adapters/ledger/pace.ts';
import { createDynamoPages } from '../../../functions/adapters/ledger/pages.ts';
import { TABLE_NAME } from '../../../functions/adapters/ledger/schema.ts';
import { INFRAI_LIMITS } from '../../../functions/adapters/queue/transport-facts.ts';
import { createLedgerSecrets } from '../../../functions/adapters/secrets.ts';
import type { AcceptedEvent, Token } from '../../../functions/core/items.ts';
import { dueShard } from '../../../functions/core/keys.ts';
import { DUE_SHARDS, LIST_PAGE_MAX, TICK_MS } from '../../../functions/core/limits.ts';
import type { Pending } from '../../../functions/core/model.ts';
import { explainDelivery } from '../../../functions/operator/commands/explain.ts';
import type { ListQuery, Queue } from '../../../functions/ports.ts';
import { sweep } from '../../../functions/receiver/sweep.ts';
import { MANY_DESTINATIONS, manyDestination, manyRowAt } from '../../support/many-rows.ts';
import { destinationIdOf, eventIdOf, eventItem, pendingRow } from '../../support/rows.ts';
import { openTestWorld, tokenItems } from '../../support/world.ts';

/** Each gives how many rows it has found or handled. */
export interface LargeTable {
  readonly works: Readonly<Record<WorkName, () => Promise<number>>>;
  /** Rows for the next sweep, and an event for the next delivery: not part of what is measured. */
  makeReady(): Promise<void>;
}

export const WORKS = [
  'sweep',
  'list: open',
  'list: quarantined',
  'list: recent',
  'count: open',
  'claim',
  'explain',
] as const;
export type WorkName = (typeof WORKS)[number];

/** Rows that a sweep finds, of one shard: a page of it. */
export const SWEPT = 100;

const COUNTED_TO = 500;
const SHARD = 0;

export const openLargeTable = async (client: DynamoDBClient): Promise<LargeTable> => {
  const at = { client, table: TABLE_NAME };
  const ledger = createDynamoLedger(at);
  const taken = { messages: 0 };
  const queue: Queue = {
    limits: INFRAI_LIMITS,
    publish: async ({ key }) => {
      taken.messages += 1;
      return { kind: 'published', messageId: key };
    },
  };
  const world = openTestWorld({
    reshape: (plain) => ({
      ...plain,
      ledger,
      pages: createDynamoPages(at, plain.clock),
      pace: createDynamoPace(at),
      queue,
      secrets: createLedgerSecrets(ledger, plain.clock),
    }),
  });
  const { ports, clock } = world;
  const startMs = clock.nowMs();
  for (const token of tokenItems(startMs)) await ledger.create<Token>(token);
  for (let n = 0; n < MANY_DESTINATIONS; n += 1) await world.destination(manyDestination(n));
  const made = { events: 0, claims: 0 };
  const inShard = (): string => {
    for (;;) {
      const name = `swept-${made.events++}`;
      if (dueShard(eventIdOf(name), destinationIdOf(manyDestination(0)), DUE_SHARDS) === SHARD) return name;
    }
  };
  const listed = async (query: ListQuery): Promise<number> => (await ports.pages.list(query)).refs.length;
  const limit = LIST_PAGE_MAX;
  return {
    makeReady: async () => {
      await clock.advance(TICK_MS);
      made.claims += 1;
      const nowMs = clock.nowMs();
      const rows = Array.from({ length: SWEPT }, () => dueRow(inShard(), nowMs));
      await Promise.all(rows.map((row) => ledger.create<Pending>(row)));
      const claimed = dueRow(`claimed-${made.claims}`, nowMs);
      const { event, destination } = claimed;
      await ledger.create<AcceptedEvent>(eventItem({ event, destinations: [destination] }));
      await ledger.create<Pending>({ ...claimed, lookAfterMs: nowMs + TICK_MS * 60 });
    },
    works: {
      sweep: async () => {
        const before = taken.messages;
        const tick = Math.floor(clock.nowMs() / TICK_MS);
        const run = { id: 'bench', cause: 's:bench', remainingMs: () => TICK_MS };
        await sweep(ports, run, { kind: 'sweep', shard: SHARD, tick, page: 1 });
        return taken.messages - before;
      },
      'list: open': () => listed({ list: 'open', limit }),
      'list: quarantined': () => listed({ list: 'quarantined', limit }),
      'list: recent': () => listed({ list: 'recent', destination: destinationIdOf(manyDestination(7)), limit }),
      'count: open': () => ports.pages.count({ list: 'open' }, COUNTED_TO),
      claim: async () => {
        const answer = await world.deliver(`claimed-${made.claims}`, manyDestination(0));
        if (answer.text.includes('settled')) return 1;
        throw new Error(`the delivery was answered ${answer.status} ${answer.text}`);
      },
      explain: async () => {
        const { event, destination } = manyRowAt(MANY_DESTINATIONS * 5, startMs);
        return (await explainDelivery(ports, { event, destination })).kind === 'found' ? 1 : 0;
      },
    },
  };
};

/** Due a while ago, and never come for: what a sweep is there to find. */
const dueRow = (event: string, nowMs: number): Pending =>
  pendingRow({
    event: eventIdOf(event),
    destination: destinationIdOf(manyDestination(0)),
    acceptedAtMs: nowMs - TICK_MS,
    dueAtMs: nowMs - TICK_MS,
    lookAfterMs: nowMs - 1,
  });
