/** What the port `Pages` promises: who stands in which list, in which order, and what a cursor is good for. */
import { expect } from 'vitest';
import { dueShard } from '../../functions/core/keys.ts';
import { DUE_SHARDS, LIST_PAGE_MAX } from '../../functions/core/limits.ts';
import type { Delivery } from '../../functions/core/model.ts';
import type { ListQuery, Ref } from '../../functions/ports.ts';
import {
  cancelledRow,
  claimedRow,
  deferredRow,
  deliveredRow,
  destinationIdOf,
  destinationItem,
  eventIdOf,
  eventItem,
  gateItem,
  parkedRow,
  pendingRow,
  quarantinedRow,
  T0_MS,
} from '../support/rows.ts';
import type { LedgerHarness } from './ledger-harness.ts';
import type { LedgerCheck } from './ledger-writes.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const PARTNER = destinationIdOf('partner');
const OTHER = destinationIdOf('partner2');

const refOf = ({ event, destination }: Delivery): Ref => ({ item: 'delivery', event, destination });
export const sorted = (refs: readonly Ref[]): readonly string[] => refs.map((ref) => JSON.stringify(ref)).toSorted();
const shardOfRow = (row: Delivery): number => dueShard(row.event, row.destination, DUE_SHARDS);

type Unpaged = ListQuery extends infer Q ? (Q extends ListQuery ? Omit<Q, 'limit' | 'cursor'> : never) : never;

/** All pages of a list. More of them than the list can have is a list without an end. */
export const all = async ({ pages }: LedgerHarness, query: Unpaged, limit = LIST_PAGE_MAX): Promise<readonly Ref[]> => {
  const refs: Ref[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 200; page += 1) {
    const { refs: some, next } = await pages.list({ ...query, limit, ...(cursor === undefined ? {} : { cursor }) });
    expect(some.length).toBeLessThanOrEqual(limit);
    refs.push(...some);
    if (next === undefined) return refs;
    cursor = next;
  }
  throw new Error('the list does not end');
};

export const rowsOf = (count: number, make: (event: ReturnType<typeof eventIdOf>, n: number) => Delivery): Delivery[] =>
  Array.from({ length: count }, (_, n) => make(eventIdOf(`e${n}`), n));

export const stored = async ({ ledger }: LedgerHarness, rows: readonly Delivery[]): Promise<void> => {
  await Promise.all(rows.map((row) => ledger.create(row)));
};

// ---- who stands where ---------------------------------------------------------------------------------------------

const LISTS = ['open', 'parked', 'quarantined', 'recent'] as const;

/** The lists in which a row of each status stands. All of them are recent: they were accepted today. */
const STANDS_IN: readonly (readonly [row: Delivery, lists: readonly (typeof LISTS)[number][]])[] = [
  [pendingRow(), ['open', 'recent']],
  [claimedRow(), ['open', 'recent']],
  [deferredRow(), ['open', 'recent']],
  [parkedRow(), ['open', 'parked', 'recent']],
  [quarantinedRow(), ['quarantined', 'recent']],
  [pendingRow(), ['open', 'recent']],
  [parkedRow(), ['open', 'parked', 'recent']],
  [claimedRow(), ['open', 'recent']],
  [quarantinedRow(), ['quarantined', 'recent']],
  [cancelledRow(), ['recent']],
];

const listsWith = async (harness: LedgerHarness, row: Delivery): Promise<readonly string[]> => {
  const held: string[] = [];
  for (const list of LISTS) {
    const refs = await all(harness, list === 'recent' ? { list, destination: row.destination } : { list });
    if (sorted(refs).includes(JSON.stringify(refOf(row)))) held.push(list);
  }
  return held;
};

const membership: readonly LedgerCheck[] = [
  {
    name: 'keeps a row in the lists of its status, and takes it out of all others with the same write',
    run: async (harness) => {
      let read: Delivery | undefined;
      for (const [shape, lists] of STANDS_IN) {
        const next: Delivery = { ...shape, version: (read?.version ?? 0) + 1 };
        if (read) await harness.ledger.replace(read, next);
        else await harness.ledger.create(next);
        expect(await listsWith(harness, next)).toStrictEqual(lists);
        read = next;
      }
    },
  },
  {
    name: 'takes a delivered row out of everything but the recent ones',
    run: async (harness) => {
      const row = claimedRow();
      await harness.ledger.create(row);
      const next = deliveredRow({ version: row.version + 1 });
      await harness.ledger.replace(row, next);
      expect(await listsWith(harness, next)).toStrictEqual(['recent']);
      expect(await harness.pages.due(shardOfRow(row), T0_MS + DAY_MS, 10)).toStrictEqual([]);
    },
  },
  {
    name: 'lists destinations, each once, and nothing else among them',
    run: async (harness) => {
      const ids = ['a', 'b', 'c'].map(destinationIdOf);
      for (const destination of ids) {
        await harness.ledger.create(destinationItem({ destination }));
        await harness.ledger.create(gateItem({ destination }));
      }
      await harness.ledger.create(eventItem());
      await harness.ledger.create(pendingRow());
      const one = destinationItem({ destination: destinationIdOf('a') });
      await harness.ledger.replace(one, { ...one, version: 2, updatedAtMs: T0_MS + 5 });
      const refs = await all(harness, { list: 'destinations' }, 2);
      expect(sorted(refs)).toStrictEqual(sorted(ids.map((destination) => ({ item: 'destination', destination }))));
    },
  },
];

// ---- due ----------------------------------------------------------------------------------------------------------

const due: readonly LedgerCheck[] = [
  {
    name: 'gives the due rows of one shard, oldest first, with their times, and not the later ones',
    run: async (harness) => {
      const rows = rowsOf(40, (event, n) => pendingRow({ event, lookAfterMs: T0_MS + ((n * 7) % 40) * 1_000 }));
      await stored(harness, rows);
      const untilMs = T0_MS + 20_000;
      for (let shard = 0; shard < DUE_SHARDS; shard += 1) {
        const wanted = rows
          .flatMap((row) =>
            row.status === 'pending' && shardOfRow(row) === shard && row.lookAfterMs <= untilMs ? [row] : [],
          )
          .toSorted((a, b) => a.lookAfterMs - b.lookAfterMs)
          .map(({ event, destination, lookAfterMs }) => ({ event, destination, lookAfterMs }));
        expect(wanted.length).toBeGreaterThan(0);
        expect(await harness.pages.due(shard, untilMs, 100)).toStrictEqual(wanted);
        expect(await harness.pages.due(shard, untilMs, 2)).toStrictEqual(wanted.slice(0, 2));
        // Behind a row, whether or not it is still there.
        expect(await harness.pages.due(shard, untilMs, 2, wanted[0])).toStrictEqual(wanted.slice(1, 3));
        expect(await harness.pages.due(shard, untilMs, 2, wanted.at(-1))).toStrictEqual([]);
      }
    },
  },
  {
    name: 'lets a row move back in the queue of due ones when its look-after time does',
    run: async ({ ledger, pages }) => {
      const row = pendingRow({ lookAfterMs: T0_MS });
      await ledger.create(row);
      await ledger.replace(row, { ...row, version: 2, lookAfterMs: T0_MS + 60_000 });
      const shard = shardOfRow(row);
      expect(await pages.due(shard, T0_MS + 59_999, 10)).toStrictEqual([]);
      const { event, destination } = row;
      const moved = [{ event, destination, lookAfterMs: T0_MS + 60_000 }];
      expect(await pages.due(shard, T0_MS + 60_000, 10)).toStrictEqual(moved);
    },
  },
];

// ---- paging -------------------------------------------------------------------------------------------------------

const paging: readonly LedgerCheck[] = [
  {
    name: 'gives every row of a list exactly once, whatever the size of the pages',
    run: async (harness) => {
      const open = rowsOf(25, (event) => parkedRow({ event }));
      const held = rowsOf(25, (event, n) => quarantinedRow({ event, destination: OTHER, endedAtMs: T0_MS + (n % 3) }));
      await stored(harness, [...open, ...held]);
      for (const limit of [1, 4, 25, 100]) {
        expect(sorted(await all(harness, { list: 'open' }, limit))).toStrictEqual(sorted(open.map(refOf)));
        expect(sorted(await all(harness, { list: 'parked' }, limit))).toStrictEqual(sorted(open.map(refOf)));
        expect(sorted(await all(harness, { list: 'quarantined' }, limit))).toStrictEqual(sorted(held.map(refOf)));
      }
    },
  },
  {
    name: 'orders the open rows by look-after time over all shards',
    run: async (harness) => {
      const rows = rowsOf(30, (event, n) => pendingRow({ event, lookAfterMs: T0_MS + ((n * 11) % 30) }));
      await stored(harness, rows);
      const wanted = rows.toSorted(
        (a, b) => ((Number(a.event.slice(1)) * 11) % 30) - ((Number(b.event.slice(1)) * 11) % 30),
      );
      expect(await all(harness, { list: 'open' }, 7)).toStrictEqual(wanted.map(refOf));
    },
  },
  {
    name: 'gives the parked and quarantined rows of one destination alone, in order of time',
    run: async (harness) => {
      const names = ['partner', 'partner2', 'p', '7:partner,', 'Partner'].map(destinationIdOf);
      const rows = names.flatMap((destination) =>
        rowsOf(6, (event, n) => quarantinedRow({ event, destination, endedAtMs: T0_MS + ((n * 5) % 6) })),
      );
      await stored(harness, rows);
      for (const destination of names) {
        const wanted = rows
          .filter((row) => row.destination === destination)
          .toSorted((a, b) => endedAt(a) - endedAt(b))
          .map(refOf);
        expect(await all(harness, { list: 'quarantined', destination }, 4)).toStrictEqual(wanted);
      }
      expect(await all(harness, { list: 'parked', destination: PARTNER })).toStrictEqual([]);
    },
  },
  {
    name: 'has a cursor that keeps its place while rows leave, come and change: who stays is met exactly once',
    run: async (harness) => {
      const rows = rowsOf(30, (event, n) => quarantinedRow({ event, endedAtMs: T0_MS + n }));
      await stored(harness, rows);
      const query = { list: 'quarantined', limit: 10 } as const;
      const first = await harness.pages.list(query);
      const gone = rows.filter((_, n) => n % 5 === 0);
      for (const row of gone) {
        await harness.ledger.replace(row, pendingRow({ event: row.event, version: row.version + 1 }));
      }
      await stored(harness, [quarantinedRow({ event: eventIdOf('new'), endedAtMs: T0_MS - 1 })]);
      const second = await harness.pages.list({ ...query, cursor: first.next ?? '' });
      const third = await harness.pages.list({ ...query, cursor: second.next ?? '' });
      const later = [...second.refs, ...third.refs];
      const stayed = rows.filter(
        (row) => !gone.includes(row) && !sorted(first.refs).includes(JSON.stringify(refOf(row))),
      );
      expect(later).toStrictEqual(stayed.map(refOf));
    },
  },
  {
    name: 'refuses a cursor that it did not give out, or gave out for another list',
    run: async (harness) => {
      await stored(
        harness,
        rowsOf(9, (event) => quarantinedRow({ event })),
      );
      const { next = '' } = await harness.pages.list({ list: 'quarantined', limit: 2 });
      expect(next).not.toBe('');
      const strange: ListQuery[] = [
        { list: 'parked', limit: 2, cursor: next },
        { list: 'quarantined', destination: PARTNER, limit: 2, cursor: next },
        { list: 'recent', destination: PARTNER, limit: 2, cursor: next },
        { list: 'quarantined', limit: 2, cursor: `${next.slice(0, -9)}` },
        { list: 'quarantined', limit: 2, cursor: 'e30' },
        { list: 'quarantined', limit: 2, cursor: '' },
      ];
      for (const query of strange) {
        await expect(harness.pages.list(query)).rejects.toMatchObject({ name: 'BadCursor' });
      }
    },
  },
];

const endedAt = (row: Delivery): number => ('endedAtMs' in row ? row.endedAtMs : 0);

// ---- recent -------------------------------------------------------------------------------------------------------

const recent: readonly LedgerCheck[] = [
  {
    name: 'gives the recent rows of one destination, newest first, over days without any',
    run: async (harness) => {
      const ages = [0, 1, 2, 11 * HOUR_MS, 13 * HOUR_MS, 3 * DAY_MS, 19 * DAY_MS, 29 * DAY_MS];
      const rows = ages.map((ageMs, n) => deliveredRow({ event: eventIdOf(`e${n}`), acceptedAtMs: T0_MS - ageMs }));
      await stored(harness, [...rows].reverse());
      await stored(harness, [
        deliveredRow({ destination: OTHER }),
        deliveredRow({ event: eventIdOf('old'), acceptedAtMs: T0_MS - 40 * DAY_MS }),
      ]);
      for (const limit of [1, 3, 100]) {
        expect(await all(harness, { list: 'recent', destination: PARTNER }, limit)).toStrictEqual(rows.map(refOf));
      }
    },
  },
  {
    name: 'has among the recent rows one that was accepted by a clock just ahead, past midnight',
    run: async (harness) => {
      const midnightMs = Date.UTC(2026, 11, 1);
      const row = pendingRow({ acceptedAtMs: midnightMs + 1_000 });
      await stored(harness, [row]);
      harness.clock.ms = midnightMs - 1_000;
      expect(await all(harness, { list: 'recent', destination: PARTNER })).toStrictEqual([refOf(row)]);
    },
  },
  {
    name: 'goes on behind the rows that a reader has seen while newer ones come in',
    run: async (harness) => {
      const rows = rowsOf(12, (event, n) => pendingRow({ event, acceptedAtMs: T0_MS - n * HOUR_MS }));
      await stored(harness, rows);
      const query = { list: 'recent', destination: PARTNER, limit: 5 } as const;
      const first = await harness.pages.list(query);
      await stored(harness, [pendingRow({ event: eventIdOf('newer'), acceptedAtMs: T0_MS + 1 })]);
      const second = await harness.pages.list({ ...query, cursor: first.next ?? '' });
      const third = await harness.pages.list({ ...query, cursor: second.next ?? '' });
      expect([...first.refs, ...second.refs, ...third.refs]).toStrictEqual(rows.map(refOf));
    },
  },
];

export const PAGE_CHECKS: readonly LedgerCheck[] = [...membership, ...due, ...paging, ...recent];
