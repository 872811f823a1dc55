import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../functions/core/model.ts';
import {
  addedUp,
  compared,
  dayMs,
  NO_TALLY,
  readCounts,
  type ShadowTally,
  type ShadowWindow,
  tallyOf,
} from '../../functions/core/shadow.ts';
import { type ShadowTold, shadowWords } from '../../functions/core/shadow-words.ts';
import {
  cancelledRow,
  claimedRow,
  deliveredRow,
  eventIdOf,
  pendingRow,
  quarantinedRow,
  T0_MS,
} from '../support/rows.ts';

/** T0 is noon of the 29th. */
const DAY: ShadowWindow = { fromDay: '2026-11-29', toDay: '2026-11-29', per: 'day' };
const HOURS: ShadowWindow = { ...DAY, per: 'hour' };
const HOUR_MS = 3_600_000;
const NOON = T0_MS;

const shadowed = (endedAtMs: number, event = 'order-1'): Delivery =>
  cancelledRow({ reason: 'shadow', endedAtMs, event: eventIdOf(event) });
const counted = (window: ShadowWindow, ...rows: readonly (Delivery | 'unreadable')[]): ShadowTally =>
  tallyOf(rows, window);

describe('a report of shadow mode', () => {
  it('tells what would have been sent from everything that would not', () => {
    const test = eventIdOf(`test~${'x'.repeat(43)}`);
    const rows = [
      ...[shadowed(NOON), shadowed(NOON + 1), shadowed(NOON, test), cancelledRow(), deliveredRow(), quarantinedRow()],
      ...[pendingRow(), claimedRow(), 'unreadable' as const],
    ];
    expect(counted(DAY, ...rows)).toMatchObject({
      ...{ wouldSend: 2, tests: 1, cancelled: 1, delivered: 1, quarantined: 1, waiting: 2, unreadable: 1 },
      requests: 3,
    });
  });

  it.each([
    ['the first instant of the first day', dayMs('2026-11-29'), 1],
    ['the last of the last day', dayMs('2026-11-30') - 1, 1],
    ['an instant before', dayMs('2026-11-29') - 1, 0],
    ['the first of the day behind', dayMs('2026-11-30'), 0],
  ])('counts by the instant at which it would have left: %s', (_at, atMs, wouldSend) => {
    expect(counted(DAY, shadowed(atMs)).wouldSend).toBe(wouldSend);
  });

  it('leaves out what is due behind its end', () => {
    expect(counted(DAY, pendingRow({ dueAtMs: dayMs('2026-11-30') })).waiting).toBe(0);
  });

  it('counts by the hour or by the day, from their beginnings', () => {
    const rows = [shadowed(NOON), shadowed(NOON + HOUR_MS - 1), shadowed(NOON + HOUR_MS)];
    expect([...counted(HOURS, ...rows).buckets]).toEqual([
      [NOON, 2],
      [NOON + HOUR_MS, 1],
    ]);
    expect([...counted(DAY, ...rows).buckets]).toEqual([[dayMs('2026-11-29'), 3]]);
  });

  it('is the same in parts that are added up as in one', () => {
    const rows = [shadowed(NOON + HOUR_MS), pendingRow(), shadowed(NOON), quarantinedRow(), shadowed(NOON + 1)];
    const parts = rows.map((row) => tallyOf([row], HOURS)).reduce(addedUp, NO_TALLY);
    expect(parts).toEqual(tallyOf(rows, HOURS));
    expect([...parts.buckets.keys()]).toEqual([NOON, NOON + HOUR_MS]);
  });
});

describe('the counts of another sender', () => {
  const read = (counts: readonly { at: string; sent: number }[], window = HOURS) => readCounts({ counts }, window);

  it.each(['2026-11-29T12', '2026-11-29T12Z', '2026-11-29T12:00', '2026-11-29T12:00:00Z', '2026-11-29T12:00:00.000Z'])(
    'name an hour by its beginning: %s',
    (at) => {
      expect(read([{ at, sent: 3 }])).toEqual({
        kind: 'ok',
        counts: { kind: 'buckets', sent: new Map([[NOON, 3]]) },
      });
    },
  );

  it.each([
    ['half an hour', '2026-11-29T12:30', HOURS, /must begin an hour or a day/],
    ['a day that is none', '2026-02-31', DAY, /must begin an hour or a day/],
    ['an hour of another zone', '2026-11-29T12:00:00+02:00', HOURS, /must begin an hour or a day/],
    ['an hour in a report by the day', '2026-11-29T12', DAY, /counts by the day/],
    ['a day in a report by the hour', '2026-11-29', HOURS, /counts by the hour/],
    ['an hour of another day', '2026-11-28T12', HOURS, /outside of the report/],
  ])('are refused by place and name: %s', (_what, at, window, reason) => {
    const good = window === DAY ? '2026-11-29' : '2026-11-29T01';
    expect(
      read(
        [
          { at: good, sent: 1 },
          { at, sent: 1 },
        ],
        window,
      ),
    ).toEqual({
      kind: 'bad',
      field: 'counts[1]',
      reason: expect.stringMatching(reason),
    });
  });

  it('may not name an hour twice, however it is written', () => {
    const twice = [
      { at: '2026-11-29T12', sent: 1 },
      { at: '2026-11-29T12:00Z', sent: 1 },
    ];
    expect(read(twice)).toMatchObject({ field: 'counts[1]', reason: 'is named twice' });
  });

  it('are the same, or differ in all or in some hour; an hour that is not named was none', () => {
    const tally = counted(HOURS, shadowed(NOON), shadowed(NOON + HOUR_MS));
    const beside = (sent: ReadonlyMap<number, number>) => compared(tally, { kind: 'buckets', sent });
    expect(compared(tally, { kind: 'total', sent: 2 })).toMatchObject({ same: true, difference: 0 });
    expect(compared(tally, { kind: 'total', sent: 3 })).toMatchObject({ same: false, difference: -1 });
    expect(
      beside(
        new Map([
          [NOON, 1],
          [NOON + HOUR_MS, 1],
        ]),
      ),
    ).toMatchObject({ same: true });
    expect(beside(new Map([[NOON, 2]]))).toMatchObject({ same: false, difference: 0, given: 2 });
    expect(beside(new Map([[NOON, 1]])).buckets).toEqual([
      { atMs: NOON, wouldSend: 1, given: 1 },
      { atMs: NOON + HOUR_MS, wouldSend: 1, given: 0 },
    ]);
  });
});

describe('a report in words', () => {
  const TOLD: ShadowTold = {
    destination: 'partner-shadow',
    mode: 'shadow',
    window: DAY,
    tally: counted(DAY, shadowed(NOON), shadowed(NOON)),
    complete: true,
  };
  const says = (told: Partial<ShadowTold>): string => shadowWords({ ...TOLD, ...told }).join(' ');
  const beside = (sent: number) => compared(TOLD.tally, { kind: 'total', sent });

  it('says how many, where to and when, and nothing of what there is none of', () => {
    expect(says({})).toBe('2 deliveries would have been sent to partner-shadow on 2026-11-29 (UTC).');
  });

  it.each([
    ['the same', 2, /You counted the same: 2\./],
    ['fewer there', 1, /You counted 1: 1 fewer.*has missed some/],
    ['more there', 4, /You counted 4: 2 more.*has sent some twice.*event-conflict/],
  ])('says what a difference may mean: %s', (_what, sent, words) => {
    expect(says({ compared: beside(sent) })).toMatch(words);
  });

  it('says that only the hours differ, and how many of them', () => {
    const hours = counted(HOURS, shadowed(NOON), shadowed(NOON + HOUR_MS));
    const sent = new Map([[NOON, 2]]);
    expect(says({ tally: hours, compared: compared(hours, { kind: 'buckets', sent }) })).toMatch(
      /at other times\. 2 of 2 counts differ\. .*border/,
    );
  });

  it('compares nothing with a part', () => {
    const part = says({ complete: false, compared: beside(2) });
    expect(part).toContain('This is a part');
    expect(part).not.toContain('You counted');
  });

  it('names what is not in the number, and that it was not in shadow all the time', () => {
    const tally = counted(DAY, shadowed(NOON), quarantinedRow(), pendingRow());
    expect(says({ tally, mode: 'live' })).toMatch(
      /is live now.*1 quarantined: nothing would have been sent of them; 1 not over yet.*1 real requests/,
    );
  });
});
