/** Real failures around clocks and units. */
import { afterEach, describe, expect, it } from 'vitest';
import { SKEW_MARGIN_MS } from '../../functions/core/limits.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { phaseOf } from '../../functions/core/phase.ts';
import { parseRetryAfter } from '../../functions/core/retry-after.ts';
import {
  claim,
  claimIdOf,
  entriesOf,
  MINUTE_MS,
  outcomeOf,
  pendingRow,
  play,
  SECOND_MS,
  START_MS,
  saidOf,
  sceneOf,
  settle,
  storyOf,
  wait,
} from '../support/machine.ts';

const NOW_MS = START_MS;

describe('a lease that ends around now', () => {
  const ends = (ms: number): Delivery => {
    const { row } = play([claim('holder')]);
    return row.status === 'claimed' ? { ...row, claim: { ...row.claim, leaseEndsAtMs: NOW_MS + ms } } : row;
  };
  const claimed = (ms: number): string => saidOf(play([claim('rival')], sceneOf({ row: ends(ms), nowMs: NOW_MS })));

  it.each([
    [-30_000, 'claimed'],
    [-1, 'busy'],
    [0, 'busy'],
    [1, 'busy'],
    [30_000, 'busy'],
  ])('%d ms from now: the next claim is told %s, for the margin of five seconds counts in [C005]', (ms, said) => {
    expect(claimed(ms)).toBe(said);
  });

  it('is over exactly behind the margin [C005]', () => {
    expect(claimed(-SKEW_MARGIN_MS)).toBe('busy');
    expect(claimed(-SKEW_MARGIN_MS - 1)).toBe('claimed');
  });

  it('is in milliseconds wherever it is written: every time of a row ends in Ms [C005]', () => {
    const { row } = play([claim('a'), settle('a', 'failed')]);
    const times = Object.entries(row).filter(([, value]) => typeof value === 'number' && value > 10 ** 9);
    expect(times.length).toBeGreaterThan(3);
    for (const [name, value] of times) {
      expect(name).toMatch(/Ms$/);
      expect(value).toBeGreaterThan(10 ** 12);
    }
  });
});

describe('a Retry-After that is a date', () => {
  const zoneBefore = process.env['TZ'];
  afterEach(() => {
    if (zoneBefore === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zoneBefore;
  });

  it.each(['UTC', 'America/New_York', 'Asia/Kolkata'])(
    'is the due time in each of its forms, in zone %s [C077]',
    (zone) => {
      process.env['TZ'] = zone;
      for (const date of [
        'Sun, 29 Nov 2026 12:05:00 GMT',
        'Sunday, 29-Nov-26 12:05:00 GMT',
        'Sun Nov 29 12:05:00 2026',
      ]) {
        const asked = parseRetryAfter([date], NOW_MS);
        const retryAfterMs = asked.kind === 'after' ? asked.ms : 0;
        const scene = play([claim('a'), settle('a', outcomeOf('throttled', { retryAfterMs }))]);
        expect(pendingRow(scene.row).dueAtMs).toBe(Date.UTC(2026, 10, 29, 12, 5));
      }
    },
  );
});

describe('clocks that are wrong', () => {
  it('inside the margin of five seconds never take a live lease over [C152]', () => {
    const { row } = play([claim('a')]);
    for (const wrongMs of [-SKEW_MARGIN_MS, 0, SKEW_MARGIN_MS])
      expect(phaseOf(row, NOW_MS + 30_000 + wrongMs)).toBe('live');
  });

  it.each([
    ['five minutes fast', 5 * MINUTE_MS],
    ['five minutes slow', -5 * MINUTE_MS],
  ])('outside of it, %s, still leave one recorded success [C152]', (_name, wrongMs) => {
    const held = play([claim('a'), wait(10 * SECOND_MS)]);
    const rival = play([wait(wrongMs), claim('b')], held);
    expect(saidOf(rival)).toBe(wrongMs > 0 ? 'claimed' : 'busy');
    const both = play([wait(-wrongMs), settle('a', 'delivered'), settle('b', 'delivered')], rival);
    expect(both.row.status).toBe('delivered');
    const successes = entriesOf(both.row).filter(({ kind, class: is }) => kind === 'outcome' && is === 'delivered');
    expect(successes.length + (both.row.status === 'delivered' && both.row.by === 'late-outcome' ? 1 : 0)).toBe(1);
  });

  it('that step back a minute during a send leave its claim with its holder [C152]', () => {
    const stepped = play([claim('a'), wait(-MINUTE_MS)]);
    expect(saidOf(play([claim('b')], stepped))).toBe('busy');
    const settled = play([settle('a', 'delivered')], stepped);
    expect(settled.row).toMatchObject({ status: 'delivered', by: 'attempt' });
    expect(storyOf(settled.row)).toEqual(['accepted', 'claimed 1', 'outcome 1 delivered']);
  });

  it('do not let an older claim settle as if it were the present one: the id counts, not the time [C152]', () => {
    const over = play([claim('a'), wait(36 * SECOND_MS), claim('b'), wait(-MINUTE_MS), settle('a', 'failed')]);
    expect(over.row).toMatchObject({ status: 'claimed', claim: { id: claimIdOf('c-b') } });
    expect(saidOf(over)).toBe('late');
  });
});
