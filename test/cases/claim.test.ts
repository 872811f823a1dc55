/** Real failures around claims, leases and fencing, as far as the machine alone decides them. */
import { describe, expect, it } from 'vitest';
import { graceMsOf, leaseMsOf, SKEW_MARGIN_MS } from '../../functions/core/limits.ts';
import {
  claim,
  DAY_MS,
  effectsOf,
  HOUR_MS,
  outcomeOf,
  pendingRow,
  play,
  SAFE,
  SECOND_MS,
  START_MS,
  saidOf,
  sceneOf,
  settle,
  storyOf,
  sweep,
  UNSAFE,
  wait,
} from '../support/machine.ts';

describe('a claim without a lease', () => {
  it('cannot be written, however short the time-out that the settings name [C003]', () => {
    for (const timeoutMs of [0, 1, 1_000, 20_000]) {
      const { row } = play([claim('a', { ...SAFE, timeoutMs })]);
      if (row.status !== 'claimed') throw new TypeError(row.status);
      expect(row.claim.leaseEndsAtMs - row.claim.startedAtMs).toBe(leaseMsOf(timeoutMs));
      expect(row.claim.leaseEndsAtMs).toBeGreaterThanOrEqual(START_MS + 10_000);
    }
  });
});

describe('a copy that comes late', () => {
  it.each([0, 3, 14, 29, 400])('is known as delivered after %d days: the row never forgets [C022]', (days) => {
    const done = play([claim('a'), settle('a', 'delivered')]);
    const copy = play([wait(days * DAY_MS), claim('copy')], done);
    expect([saidOf(copy), copy.row]).toEqual(['done', done.row]);
  });
});

describe('a worker that stalls for two leases', () => {
  it('has its success appended and nothing else: another has delivered meanwhile [C032]', () => {
    const delivered = play([claim('a'), wait(2 * leaseMsOf(20_000)), claim('b'), settle('b', 'delivered')]);
    const stalled = play([settle('a', 'delivered')], delivered);
    expect({ ...stalled.row, version: 0, journal: [] }).toEqual({ ...delivered.row, version: 0, journal: [] });
    expect(storyOf(stalled.row).at(-1)).toBe('late-outcome 1 delivered');
  });

  it('moves neither status nor due time when it failed, and the other waits to try again [C032]', () => {
    const waiting = play([claim('a'), wait(2 * leaseMsOf(20_000)), claim('b'), settle('b', 'failed')]);
    const stalled = play([wait(SECOND_MS), settle('a', 'failed')], waiting);
    expect(pendingRow(stalled.row).dueAtMs).toBe(pendingRow(waiting.row).dueAtMs);
    expect(effectsOf(stalled)).toEqual([]);
  });
});

describe('a worker that read the row early', () => {
  it('claims nothing after another has completed it, and writes nothing [C034]', () => {
    const read = sceneOf();
    const completed = play([claim('a'), settle('a', 'delivered')], read);
    const paused = play([claim('b')], completed);
    expect([saidOf(paused), paused.row]).toEqual(['done', completed.row]);
  });
});

describe('a hard stop while the claim is held', () => {
  it('frees the row by the end of its lease and margin, without anybody deleting anything [C040]', () => {
    const dead = play([claim('dead')]);
    const blocked = play([wait(leaseMsOf(20_000) + SKEW_MARGIN_MS), claim('next')], dead);
    expect(saidOf(blocked)).toBe('busy');
    const free = play([wait(1), claim('next')], blocked);
    expect(free.row).toMatchObject({ status: 'claimed', attempts: 2, claim: { holder: 'next' } });
  });

  it('is met by a sweep at that time, with no other traffic [C040]', () => {
    const dead = play([claim('dead'), wait(graceMsOf(20_000) + 1), sweep()]);
    expect(effectsOf(dead)).toMatchObject([{ kind: 'publish' }]);
  });
});

describe('a client that gives up just after the provider has accepted', () => {
  const gaveUp = outcomeOf('in-doubt', { durationMs: 8_000 });

  it('leaves the outcome unknown and the claim settled: the next attempt comes in its turn [C180]', () => {
    const scene = play([claim('a'), wait(8_000), settle('a', gaveUp)]);
    expect(scene.row).toMatchObject({ status: 'pending', doubt: 'safe', keyFromMs: START_MS });
    expect(saidOf(play([claim('again')], scene))).toBe('early');
    expect(storyOf(scene.row).at(-1)).toBe('outcome 1 in-doubt');
  });

  it('is never followed by a second request where the provider does not know the key [C180]', () => {
    const scene = play([claim('a', UNSAFE), wait(8_000), settle('a', gaveUp)]);
    expect(scene.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt' });
    expect(saidOf(play([wait(HOUR_MS), claim('again', UNSAFE)], scene))).toBe('held');
  });
});
