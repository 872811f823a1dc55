import { describe, expect, it } from 'vitest';
import { SKEW_MARGIN_MS } from '../../functions/core/limits.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { claimableFromMs, lapsesAfterMs, PHASES, type Phase, phaseOf } from '../../functions/core/phase.ts';
import {
  acceptedRow,
  cancel,
  claim,
  DAY_MS,
  defer,
  HOUR_MS,
  park,
  pendingRow,
  play,
  redrive,
  refuse,
  START_MS,
  settle,
  wait,
} from '../support/machine.ts';

const NOW_MS = START_MS;
/** A claim whose lease ends this far from now. */
const leasedFor = (ms: number): Delivery => {
  const { row } = play([claim('a')]);
  return row.status === 'claimed' ? { ...row, claim: { ...row.claim, leaseEndsAtMs: NOW_MS + ms } } : row;
};

describe('the phase of a claim', () => {
  it.each<[number, Phase]>([
    [-30_000, 'lapsed'],
    [-SKEW_MARGIN_MS - 1, 'lapsed'],
    [-SKEW_MARGIN_MS, 'live'],
    [-1, 'live'],
    [0, 'live'],
    [1, 'live'],
    [30_000, 'live'],
  ])('with a lease that ends %d ms from now is %s: lapsed only once the margin is over', (ms, phase) => {
    expect(phaseOf(leasedFor(ms), NOW_MS)).toBe(phase);
  });

  it('lapses behind lease end and margin, in milliseconds and nothing else', () => {
    const row = leasedFor(0);
    if (row.status !== 'claimed') throw new TypeError(row.status);
    expect(lapsesAfterMs(row)).toBe(NOW_MS + SKEW_MARGIN_MS);
    // Seconds taken for milliseconds would make every claim look as if it had lapsed in 1970, or never.
    expect(phaseOf(row, NOW_MS / 1_000)).toBe('live');
    expect(phaseOf(row, NOW_MS * 1_000)).toBe('lapsed');
  });
});

describe('the phase of a pending row', () => {
  it('is early until the very instant that it is due', () => {
    const row = acceptedRow({ deliverAtMs: NOW_MS + HOUR_MS });
    expect(phaseOf(row, NOW_MS + HOUR_MS - 1)).toBe('early');
    expect(phaseOf(row, NOW_MS + HOUR_MS)).toBe('due');
  });

  it('is never early before its first attempt without a wish for later, whatever the receiver thinks the time is', () => {
    for (const atMs of [NOW_MS, NOW_MS - 1, NOW_MS - DAY_MS, 0]) expect(phaseOf(acceptedRow(), atMs)).toBe('due');
    const past = acceptedRow({ deliverAtMs: NOW_MS - HOUR_MS });
    expect(phaseOf(past, NOW_MS - 5_000)).toBe('due');
  });

  it('is early after an attempt, and after a redrive on a clock that runs behind', () => {
    const failed = play([claim('a'), settle('a', 'failed')]);
    expect(phaseOf(failed.row, failed.nowMs)).toBe('early');
    const redriven = play([wait(HOUR_MS), refuse(), redrive('r-1')]);
    expect(phaseOf(redriven.row, redriven.nowMs)).toBe('due');
    expect(phaseOf(redriven.row, redriven.nowMs - 1)).toBe('early');
  });

  it('is early after an attempt even if the intake had accepted it on a clock that runs ahead', () => {
    const { row } = play([claim('a'), settle('a', 'failed')]);
    if (row.status !== 'pending') throw new Error('not pending');
    const ahead = { ...row, acceptedAtMs: row.dueAtMs };
    expect(phaseOf(ahead, row.dueAtMs - 1)).toBe('early');
    expect(phaseOf({ ...ahead, attempts: 0 }, row.dueAtMs - 1)).toBe('due');
  });

  it('is early before its slot, even without a wish for later', () => {
    const { row } = play([defer(10_000)]);
    expect(claimableFromMs(pendingRow(row))).toBe(NOW_MS + 10_000);
    expect(phaseOf(row, NOW_MS + 9_999)).toBe('early');
    expect(phaseOf(row, NOW_MS + 10_000)).toBe('due');
  });

  it('takes the later of due time and slot', () => {
    const row = pendingRow(play([claim('a'), settle('a', 'failed'), wait(6_000), defer(1_000)]).row);
    expect(claimableFromMs({ ...row, dueAtMs: NOW_MS + DAY_MS })).toBe(NOW_MS + DAY_MS);
    expect(claimableFromMs(row)).toBe(NOW_MS + 7_000);
  });

  it('is parked as long as it is parked, due or not', () => {
    const { row } = play([park()]);
    for (const atMs of [NOW_MS - DAY_MS, NOW_MS, NOW_MS + DAY_MS]) expect(phaseOf(row, atMs)).toBe('parked');
  });
});

describe('the phase of an ended row', () => {
  it('is its status, at any time', () => {
    const ended = [
      play([claim('a'), settle('a', 'delivered')]).row,
      play([cancel('r-1')]).row,
      play([claim('a'), settle('a', 'gone')]).row,
    ];
    for (const row of ended) {
      for (const atMs of [0, NOW_MS, NOW_MS + 400 * DAY_MS]) expect(phaseOf(row, atMs)).toBe(row.status);
    }
  });

  it('is one of eight, each listed once', () => {
    expect(PHASES).toHaveLength(8);
    expect(new Set(PHASES).size).toBe(8);
  });
});
