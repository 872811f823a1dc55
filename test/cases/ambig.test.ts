/** Real failures around answers that nobody knows, and around what is recorded when, as far as the machine decides. */
import { describe, expect, it } from 'vitest';
import {
  acceptedRow,
  cancel,
  claim,
  destinationIdOf,
  HOUR_MS,
  MINUTE_MS,
  mark,
  outcomeOf,
  play,
  SECOND_MS,
  saidOf,
  sceneOf,
  settle,
  storyOf,
  sweep,
  UNSAFE,
  wait,
} from '../support/machine.ts';

const LAPSE = wait(36 * SECOND_MS);

describe('a success that cannot be recorded', () => {
  it('leaves the claim where it is: nobody else may send while the lease lasts [C011] [C114]', () => {
    const answered = play([claim('a')]);
    expect(saidOf(play([wait(29 * SECOND_MS), claim('b')], answered))).toBe('busy');
    expect(saidOf(play([wait(29 * SECOND_MS), sweep()], answered))).toBe('not-due');
  });

  it('is recorded in place when the ledger comes back, even after the lease [C011]', () => {
    const back = play([claim('a'), wait(10 * MINUTE_MS), settle('a', 'delivered')]);
    expect(back.row).toMatchObject({ status: 'delivered', by: 'attempt', attempts: 1 });
  });

  it('is taken for unknown when its worker has died: repeated under the key, or held [C011] [C114]', () => {
    const safe = play([claim('a'), LAPSE, claim('b')]);
    expect(safe.row).toMatchObject({ status: 'claimed', doubt: 'safe', attempts: 2 });
    expect(storyOf(safe.row)).toContain('outcome 1 in-doubt');
    const unsafe = play([claim('a', UNSAFE), mark('a'), LAPSE, claim('b', UNSAFE)]);
    expect(unsafe.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt', attempts: 1 });
  });
});

describe('a delivered row whose acknowledgement fails', () => {
  it('is met three times more, and three times there is nothing to do [C041]', () => {
    const done = play([claim('a'), settle('a', 'delivered')]);
    let scene = done;
    for (const again of ['b', 'c', 'd']) {
      scene = play([wait(6_000), claim(again)], scene);
      expect([saidOf(scene), scene.row]).toEqual(['done', done.row]);
    }
  });
});

describe('work that goes on inside the next invocation', () => {
  it('is late in its own row, and has no claim in any other [C069]', () => {
    const mine = play([claim('frozen'), LAPSE, claim('next'), settle('next', 'failed')]);
    const thawed = play([settle('frozen', 'delivered')], mine);
    expect(thawed.row).toMatchObject({ status: 'delivered', by: 'late-outcome' });
    const holders = mine.holders;
    const elsewhere = { ...sceneOf({ row: { ...acceptedRow(), destination: destinationIdOf('other') } }), holders };
    const claimed = play([claim('owner')], elsewhere);
    const touched = play([settle('frozen', 'failed')], { ...claimed, holders });
    expect(touched.row).toMatchObject({ status: 'claimed', claim: { holder: 'owner' } });
    expect(saidOf(play([mark('frozen')], { ...claimed, holders }))).toBe('lost');
  });
});

describe('a message that comes after the end', () => {
  it('is written down when it is a failure after a success, and changes nothing [C110]', () => {
    const done = play([claim('a'), LAPSE, claim('b'), settle('b', 'delivered')]);
    const late = play([settle('a', outcomeOf('failed', { status: 500 }))], done);
    expect(late.row).toMatchObject({ status: 'delivered', by: 'attempt' });
    expect(storyOf(late.row).at(-1)).toBe('late-outcome 1 failed');
  });

  it('ends a quarantined row when it is a success, and says how it came to that [C110]', () => {
    const held = play([claim('a'), LAPSE, claim('b'), settle('b', 'rejected')]);
    expect(held.row.status).toBe('quarantined');
    const late = play([settle('a', 'delivered')], held);
    expect(late.row).toMatchObject({ status: 'delivered', by: 'late-outcome' });
    expect(storyOf(late.row).slice(-2)).toEqual(['outcome 2 rejected', 'late-outcome 1 delivered']);
  });

  it('leaves a cancelled row cancelled, with the success in sight [C110]', () => {
    const ended = play([claim('a'), LAPSE, cancel('r-1'), wait(HOUR_MS), settle('a', 'delivered')]);
    expect(ended.row.status).toBe('cancelled');
    expect(storyOf(ended.row).at(-1)).toBe('late-outcome 1 delivered');
  });
});
