/** What the port `Pages` promises of the lists of decisions, operations and poison, and of counts. */
import { expect } from 'vitest';
import { causeOf } from '../../functions/core/journal.ts';
import type { CountQuery, Ref } from '../../functions/ports.ts';
import {
  claimedRow,
  decisionItem,
  deliveredRow,
  destinationIdOf,
  destinationItem,
  eventIdOf,
  operationItem,
  operationMessageItem,
  parkedRow,
  pendingRow,
  poisonItem,
  quarantinedRow,
  requestIdOf,
  T0_MS,
} from '../support/rows.ts';
import { all, rowsOf, sorted, stored } from './ledger-pages.ts';
import type { LedgerCheck } from './ledger-writes.ts';

const HOUR_MS = 3_600_000;
const PARTNER = destinationIdOf('partner');
const OTHER = destinationIdOf('partner2');

/** Times of seven items, in no order, with two at the same moment. */
const TIMES = [3, 0, 5, 1, 1, 4, 2].map((n) => T0_MS + n * HOUR_MS);

const timed = (
  times: readonly number[],
  refs: readonly Ref[],
  of: (n: number) => Ref,
): readonly (number | undefined)[] =>
  refs.map((ref) => times[times.findIndex((_, n) => JSON.stringify(of(n)) === JSON.stringify(ref))]);

const newestFirst = (times: readonly number[]): readonly number[] => times.toSorted((a, b) => b - a);

const records: readonly LedgerCheck[] = [
  {
    name: 'lists decisions newest first, each once, also when its result is written later',
    run: async (harness) => {
      const requests = TIMES.map((_, n) => requestIdOf(`request-${n}`));
      for (const [n, request] of requests.entries()) {
        await harness.ledger.create(decisionItem({ request, decidedAtMs: TIMES[n] ?? 0 }));
      }
      await harness.ledger.create(operationItem());
      await harness.ledger.create(destinationItem());
      const first = decisionItem({ request: requestIdOf('request-1'), decidedAtMs: TIMES[1] ?? 0 });
      await harness.ledger.replace(first, { ...first, version: 2, result: 'done' });
      for (const limit of [1, 3, 100]) {
        const refs = await all(harness, { list: 'decisions' }, limit);
        expect(sorted(refs)).toStrictEqual(
          sorted(requests.map((request) => ({ item: 'decision', cause: causeOf('actor', request) }))),
        );
        const times = timed(TIMES, refs, (n) => ({ item: 'decision', cause: `a:request-${n}` }));
        expect(times).toStrictEqual(newestFirst(TIMES));
      }
    },
  },
  {
    name: 'lists operations newest first, and none of their messages among them',
    run: async (harness) => {
      for (const [n, createdAtMs] of TIMES.entries()) {
        const operation = `op-${n}`;
        await harness.ledger.create(operationItem({ operation, createdAtMs }));
        await harness.ledger.create(operationMessageItem({ operation }));
      }
      await harness.ledger.create(decisionItem());
      const plan = operationItem({ operation: 'op-0', createdAtMs: TIMES[0] ?? 0 });
      await harness.ledger.replace(plan, { ...plan, version: 2, state: 'running', startedAtMs: T0_MS + 9 * HOUR_MS });
      for (const limit of [1, 3, 100]) {
        const refs = await all(harness, { list: 'operations' }, limit);
        expect(new Set(sorted(refs)).size).toBe(TIMES.length);
        const times = timed(TIMES, refs, (n) => ({ item: 'operation', operation: `op-${n}` }));
        expect(times).toStrictEqual(newestFirst(TIMES));
      }
    },
  },
  {
    name: 'lists poison in order of time over all shards, and nothing else that wants attention',
    run: async (harness) => {
      for (const [n, seenAtMs] of TIMES.entries()) {
        await harness.ledger.create(poisonItem({ id: `message:m-${n}`, seenAtMs }));
      }
      await stored(harness, [parkedRow(), quarantinedRow({ event: eventIdOf('held') })]);
      for (const limit of [1, 3, 100]) {
        const refs = await all(harness, { list: 'poison' }, limit);
        expect(new Set(sorted(refs)).size).toBe(TIMES.length);
        const times = timed(TIMES, refs, (n) => ({ item: 'poison', id: `message:m-${n}` }));
        expect(times).toStrictEqual(TIMES.toSorted((a, b) => a - b));
      }
      expect(await all(harness, { list: 'quarantined' })).toHaveLength(1);
    },
  },
  {
    name: 'has a place in the decisions where a reader stands while newer ones come in',
    run: async (harness) => {
      const decide = (n: number) =>
        harness.ledger.create(decisionItem({ request: requestIdOf(`r-${n}`), decidedAtMs: T0_MS + n }));
      for (let n = 0; n < 10; n += 1) await decide(n);
      const query = { list: 'decisions', limit: 4 } as const;
      const first = await harness.pages.list(query);
      await decide(10);
      const second = await harness.pages.list({ ...query, cursor: first.next ?? '' });
      const seen = [...first.refs, ...second.refs];
      const wanted = [9, 8, 7, 6, 5, 4, 3, 2].map((n) => ({ item: 'decision', cause: `a:r-${n}` }));
      expect(seen).toStrictEqual(wanted);
    },
  },
];

// ---- counts -------------------------------------------------------------------------------------------------------

const counts: readonly LedgerCheck[] = [
  {
    name: 'counts the rows of a list over all shards, and those of one destination alone',
    run: async (harness) => {
      await stored(harness, [
        ...rowsOf(9, (event) => pendingRow({ event })),
        ...rowsOf(7, (event) => parkedRow({ event, destination: OTHER })),
        ...rowsOf(5, (event) => quarantinedRow({ event, destination: destinationIdOf('third') })),
        ...rowsOf(3, (event) => quarantinedRow({ event, destination: destinationIdOf('third2') })),
        ...rowsOf(4, (event) => deliveredRow({ event, destination: destinationIdOf('done') })),
      ]);
      await harness.ledger.create(poisonItem());
      const wanted: readonly (readonly [query: CountQuery, rows: number])[] = [
        [{ list: 'open' }, 16],
        [{ list: 'parked' }, 7],
        [{ list: 'parked', destination: OTHER }, 7],
        [{ list: 'parked', destination: PARTNER }, 0],
        [{ list: 'quarantined' }, 8],
        [{ list: 'quarantined', destination: destinationIdOf('third') }, 5],
        [{ list: 'quarantined', destination: destinationIdOf('third2') }, 3],
      ];
      for (const [query, rows] of wanted) expect(await harness.pages.count(query, 10_000)).toBe(rows);
    },
  },
  {
    name: 'counts no further than the cap: the cap itself says that there may be more',
    run: async (harness) => {
      await stored(
        harness,
        rowsOf(25, (event) => quarantinedRow({ event })),
      );
      for (const cap of [0, 1, 7, 24, 25, 26, 100]) {
        const expected = Math.min(cap, 25);
        expect(await harness.pages.count({ list: 'quarantined' }, cap)).toBe(expected);
        expect(await harness.pages.count({ list: 'quarantined', destination: PARTNER }, cap)).toBe(expected);
      }
    },
  },
  {
    name: 'counts a row once more when it enters a list, and once less when it leaves it',
    run: async ({ ledger, pages }) => {
      const row = pendingRow();
      await ledger.create(row);
      const parked = parkedRow({ version: 2 });
      await ledger.replace(row, parked);
      expect(await pages.count({ list: 'parked', destination: PARTNER }, 10)).toBe(1);
      await ledger.replace(parked, claimedRow({ version: 3 }));
      expect(await pages.count({ list: 'parked', destination: PARTNER }, 10)).toBe(0);
      expect(await pages.count({ list: 'open' }, 10)).toBe(1);
    },
  },
];

export const RECORD_CHECKS: readonly LedgerCheck[] = [...records, ...counts];
