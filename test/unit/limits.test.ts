/** The bounds and the relations between them; and the fullest life that a delivery can lead inside them. */
import { describe, expect, it } from 'vitest';
import * as limits from '../../functions/core/limits.ts';
import {
  ATTEMPTS_MAX,
  DECISIONS_MAX,
  DELIVERY_ITEM_BYTES_MAX,
  graceMsOf,
  JOURNAL_ENTRIES_MAX,
  JOURNAL_ENTRY_BYTES_MAX,
  leaseMsOf,
  REDRIVES_MAX,
  REFUNDS_MAX,
  relations,
} from '../../functions/core/limits.ts';
import {
  cancel,
  claim,
  entriesOf,
  HOUR_MS,
  mark,
  outcomeOf,
  park,
  play,
  redrive,
  refuse,
  resolve,
  SAFE,
  type Scene,
  SECOND_MS,
  type Step,
  sceneOf,
  settle,
  UNSAFE,
  wait,
} from '../support/machine.ts';
import { violationsOf } from '../support/machine-invariants.ts';

describe('the relations between the bounds', () => {
  it('all hold, and each is said once', () => {
    const all = relations();
    expect(all.filter(({ holds }) => !holds)).toEqual([]);
    expect(new Set(all.map(({ says }) => says)).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(15);
  });

  it('put the times of an attempt in their order', () => {
    const longest = limits.TIMEOUT_MS_MAX;
    const order = [
      limits.CONNECT_MS,
      longest,
      leaseMsOf(longest) - limits.SKEW_MARGIN_MS,
      limits.PUSH_ANSWER_MS,
      limits.FUNCTION_MS,
      900_000,
    ];
    expect(order).toEqual([...new Set(order)].sort((a, b) => a - b));
  });

  it('are the agreed numbers', () => {
    expect(leaseMsOf(20_000)).toBe(30_000);
    expect(graceMsOf(20_000)).toBe(35_000);
    expect(limits).toMatchObject({
      TIMEOUT_MS_MIN: 1_000,
      TIMEOUT_MS_MAX: 20_000,
      SKEW_MARGIN_MS: 5_000,
      TICK_MS: 60_000,
      HORIZON_MS: 7 * 86_400_000,
      LOOK_AHEAD_MS: 600_000,
      SWEEP_STEP_MS: 900_000,
      SWEEP_STEP_MS_MAX: 7_200_000,
      PARKED_LOOK_MS: 3_600_000,
      CLOSED_PARKS_MS: 900_000,
      ...{ ATTEMPTS_MAX: 50, REDRIVES_MAX: 5, DECISIONS_MAX: 20, REFUNDS_MAX: 5, JOURNAL_ENTRY_BYTES_MAX: 140 },
      PAYLOAD_BYTES_MAX: 262_144,
      PUSH_BODY_BYTES_MAX: 2_097_152,
    });
    expect(limits.SCHEDULE_SEC_DEFAULT).toEqual([5, 30, 300, 1_800, 7_200, 18_000, 36_000]);
  });

  it('are whole numbers above zero, but for the share of chance', () => {
    const numbers = Object.entries(limits).filter((pair): pair is [string, number] => typeof pair[1] === 'number');
    expect(numbers.length).toBeGreaterThan(60);
    for (const [name, value] of numbers) {
      if (name !== 'JITTER_SHARE') expect(Number.isSafeInteger(value) && value > 0, name).toBe(true);
    }
  });
});

// ---- the fullest life ---------------------------------------------------------------------------------------------

const LAPSE = wait(36 * SECOND_MS);
const LONG: Parameters<typeof outcomeOf>[1] = {
  detail: 'header-overflow',
  durationMs: 20_000,
  excerpt: 'x'.repeat(512),
};
const request = (n: number): string => `request-${n}`.padEnd(38, 'r');

/** Two workers at each attempt: one dies and comes back late, the next has closed it; then a person, and a refusal. */
const attemptsOf = (from: number, count: number): Step[] =>
  Array.from({ length: count }, (_, index) => from + index).flatMap((n) => [
    claim(`w-${n}`),
    LAPSE,
    ...(n > 1 ? [settle(`w-${n - 1}`, outcomeOf('in-doubt', LONG))] : []),
  ]);

const persons = (): Step[] =>
  Array.from({ length: REDRIVES_MAX + DECISIONS_MAX - 1 }, (_, index) => index + 1).flatMap((n) => {
    const person = n <= REDRIVES_MAX ? redrive(request(n), { grant: 1 }) : resolve(request(n), 'not-delivered');
    return [refuse('payload-changed'), person, park(), ...attemptsOf(2 * n - 1, 2)];
  });

const fullest = (messageIdOf: (number: number) => string): Scene => {
  const rules = { ...SAFE, keyLifeHours: null, scheduleSec: Array<number>(44).fill(5) };
  const start = sceneOf({ rules, messageIdOf });
  const last = request(REDRIVES_MAX + DECISIONS_MAX);
  const end = [...attemptsOf(ATTEMPTS_MAX - 1, 2), refuse('payload-changed'), cancel(last)];
  return play([...persons(), ...end, settle('w-50', outcomeOf('in-doubt', LONG))], start);
};

const bytesOf = ({ row }: Scene): number =>
  row.journal.lines.reduce((sum, line) => sum + Buffer.byteLength(line.text), 0);

describe('the fullest life of a delivery', () => {
  const life = fullest((number) => `message-${number}`.padEnd(20, 'm'));

  it('has every attempt, outcome, late outcome, redrive, decision and refusal, and no entry more than the bound', () => {
    const { row } = life;
    expect(row).toMatchObject({ attempts: ATTEMPTS_MAX, redrives: REDRIVES_MAX, decisions: DECISIONS_MAX });
    const kinds = entriesOf(row).map((entry) => (entry.decision === 'refuse' ? 'refusal' : entry.kind));
    const counted = Object.groupBy(kinds, (kind) => kind);
    expect(Object.fromEntries(Object.entries(counted).map(([kind, all]) => [kind, all?.length]))).toEqual({
      accepted: 1,
      claimed: ATTEMPTS_MAX,
      outcome: ATTEMPTS_MAX,
      'late-outcome': ATTEMPTS_MAX,
      redriven: REDRIVES_MAX,
      decision: DECISIONS_MAX,
      refusal: REDRIVES_MAX + DECISIONS_MAX,
    });
    expect(row.journal.lines).toHaveLength(JOURNAL_ENTRIES_MAX);
  });

  it('keeps the invariants all along [M18]', () => {
    expect(life.taken.flatMap((t) => violationsOf(t.before, t.input, t.decision, t.nowMs))).toEqual([]);
  });

  it('fits the bytes that the relations were asserted with, and leaves room for the rest of the row', () => {
    expect(bytesOf(life)).toBeLessThanOrEqual(JOURNAL_ENTRIES_MAX * JOURNAL_ENTRY_BYTES_MAX);
    const stored = JSON.stringify({ ...life.row, journal: life.row.journal.lines.map((line) => line.text) });
    expect(stored.length).toBeLessThan(DELIVERY_ITEM_BYTES_MAX);
  });

  it('is the same with the longest message ids, which are kept whole as causes', () => {
    const longest = fullest((number) => `message-${number}`.padEnd(38, 'm'));
    expect(longest.row.journal.lines).toHaveLength(JOURNAL_ENTRIES_MAX);
    expect(bytesOf(longest)).toBeGreaterThan(bytesOf(life));
    expect(bytesOf(longest)).toBeLessThanOrEqual(JOURNAL_ENTRIES_MAX * JOURNAL_ENTRY_BYTES_MAX);
  });

  it('ends for good: nothing but a late outcome can be added to it', () => {
    const steps = [claim('x'), refuse(), redrive('r', { accept: true }), resolve('s', 'delivered'), mark('w-50')];
    expect(play(steps, life).row).toBe(life.row);
    expect(play([settle('w-50', 'failed')], life).row).toBe(life.row);
  });
});

describe('a life of fifty attempts that are all answered in time', () => {
  const rules = { ...SAFE, keyLifeHours: null, scheduleSec: Array<number>(49).fill(5) };
  const answered = (messageIdOf: (number: number) => string): Scene =>
    play(
      Array.from({ length: ATTEMPTS_MAX }, (_, n) => [
        ...[claim(`w-${n}`), settle(`w-${n}`, outcomeOf('in-doubt', LONG)), wait(60 * SECOND_MS)],
      ]).flat(),
      sceneOf({ rules, messageIdOf }),
    );

  it('fits with short message ids', () => {
    const { row } = answered((number) => `m-${number}`);
    expect(row).toMatchObject({ status: 'quarantined', reason: 'in-doubt', attempts: ATTEMPTS_MAX });
  });

  // Broken at present: the settle throws, and the attempt is left to its lease; see also `journal.test.ts`.
  it('fits with the longest message ids, which are kept whole as causes [M18]', () => {
    const { row } = answered((number) => `message-${number}`.padEnd(38, 'm'));
    expect(row).toMatchObject({ status: 'quarantined', reason: 'in-doubt', attempts: ATTEMPTS_MAX });
  });
});

describe('the loops of a life', () => {
  /** Every worker is told at its re-check that it must not send. */
  const withheldFor = (rounds: number, rules: typeof SAFE): Scene =>
    play(
      Array.from({ length: rounds }, (_, n) => [
        claim(`w-${n}`, rules),
        settle(`w-${n}`, 'withheld'),
        wait(12 * HOUR_MS),
      ]).flat(),
      sceneOf({ rules }),
    );

  it('of withheld and of abandoned attempts end: five units come back, then each round costs one', () => {
    expect(withheldFor(20, SAFE).row).toMatchObject({
      status: 'quarantined',
      reason: 'budget',
      attempts: 8 + REFUNDS_MAX,
    });
    const abandoned = Array.from({ length: 100 }, (_, n) => [claim(`w-${n}`, UNSAFE), LAPSE]).flat();
    expect(play(abandoned, sceneOf({ rules: UNSAFE })).row).toMatchObject({
      status: 'quarantined',
      reason: 'budget',
      attempts: 8 + REFUNDS_MAX,
    });
  });
});
