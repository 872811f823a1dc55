import { describe, expect, it } from 'vitest';
import {
  type Context,
  failureOf,
  findInEvent,
  findInMessage,
  findInQuarantine,
  findInRow,
  isShutOut,
} from '../../functions/core/finding.ts';
import type { GateView } from '../../functions/core/gate.ts';
import type { Destination } from '../../functions/core/items.ts';
import { HORIZON_MS, REDRIVES_MAX } from '../../functions/core/limits.ts';
import { drainBody, noticeBody, readMessage, redriveBody, sweepBody } from '../../functions/core/message.ts';
import {
  cancel,
  claim,
  DAY_MS,
  defer,
  destinationIdOf,
  destinationOf,
  HOUR_MS,
  MINUTE_MS,
  mark,
  outcomeOf,
  park,
  play,
  redrive,
  SAFE,
  type Scene,
  type Step,
  sceneOf,
  settle,
  UNSAFE,
  wait,
} from '../support/machine.ts';

const openAt = (config: Destination): GateView => ({
  kind: 'open',
  config,
  line: 1,
  places: undefined,
  failing: false,
});
const parkAt = (config: Destination, reason: 'paused' | 'closed' = 'paused'): GateView => ({
  kind: 'park',
  config,
  reason,
  opensAtMs: undefined,
  probeOnly: false,
});

const contextOf = (scene: Scene, over: Partial<Context> = {}): Context => ({
  nowMs: scene.nowMs,
  acceptSecondEffect: false,
  gate: openAt(destinationOf(scene.rules)),
  ...over,
});

const inRow = (scene: Scene, over: Partial<Context> = {}) => findInRow(scene.row, contextOf(scene, over));
const inQuarantine = (scene: Scene, over: Partial<Context> = {}) => findInQuarantine(scene.row, contextOf(scene, over));

const unsafe = (...steps: readonly Step[]): Scene => play(steps, sceneOf({ rules: UNSAFE }));
const once = { ...SAFE, scheduleSec: [] };
/** Its only attempt has failed. */
const spent = (): Scene => play([claim('a'), settle('a', 'failed')], sceneOf({ rules: once }));
const rejected = (): Scene => play([claim('a'), settle('a', 'rejected')]);

describe('a dead letter that names a delivery', () => {
  it('is dropped where the delivery has had its effect, was cancelled, or is not due', () => {
    expect(inRow(play([claim('a'), settle('a', 'delivered')]))).toMatchObject({ kind: 'drop', detail: 'delivered' });
    expect(inRow(play([cancel('r')]))).toMatchObject({ kind: 'drop', detail: 'cancelled' });
    const soon = play([claim('a'), settle('a', 'failed')]);
    expect(inRow(soon)).toMatchObject({ kind: 'drop', detail: expect.stringContaining('not due before 2026-11-29T') });
    expect(inRow(play([defer(4_000)])).kind).toBe('drop');
  });

  it('is redriven where the delivery waits for a message: never tried, due again, or left by a dead worker', () => {
    const ref = { event: 'order-17', destination: 'partner' };
    expect(inRow(play([]))).toEqual({ kind: 'redrive', detail: 'waits for a message', ref });
    expect(inRow(play([claim('a'), settle('a', 'failed'), wait(MINUTE_MS)])).kind).toBe('redrive');
    expect(inRow(play([claim('a'), wait(HOUR_MS)])).kind).toBe('redrive');
    expect(inRow(unsafe(claim('a'), wait(HOUR_MS))).kind).toBe('redrive');
  });

  it('is left to the worker that has the delivery now', () => {
    expect(inRow(play([claim('a')]))).toMatchObject({ kind: 'in-flight' });
  });

  it('is over budget where the attempts of a life are spent, or its time is over', () => {
    expect(inRow(spent())).toMatchObject({ kind: 'over-budget', detail: '1 of 1 attempts are spent' });
    const last = play([claim('a'), wait(HOUR_MS)], sceneOf({ rules: once }));
    expect(inRow(last)).toMatchObject({ kind: 'over-budget', detail: '1 of 1 attempts are spent' });
    expect(inRow(play([wait(HORIZON_MS + 1)]))).toMatchObject({ kind: 'over-budget' });
  });

  it('is not over budget by attempts that gave their unit back: only what was spent counts', () => {
    const withheld = [claim('a'), settle('a', 'withheld', { kind: 'again' }), wait(MINUTE_MS)];
    expect(inRow(play(withheld, sceneOf({ rules: once }))).kind).toBe('redrive');
  });

  it('may have had its effect where a request went out at a destination that does not honour keys', () => {
    expect(inRow(unsafe(claim('a'), mark('a'), settle('a', 'in-doubt')))).toMatchObject({ kind: 'second-effect' });
    expect(inRow(unsafe(claim('a'), mark('a'), wait(HOUR_MS)))).toMatchObject({ kind: 'second-effect' });
  });

  it('may have had its effect where the destination has stopped to honour keys since', () => {
    const scene = play([claim('a'), settle('a', 'in-doubt'), wait(MINUTE_MS)]);
    expect(inRow(scene).kind).toBe('redrive');
    expect(inRow(scene, { gate: openAt(destinationOf(UNSAFE)) }).kind).toBe('second-effect');
  });

  it('is not sent again behind the life of its key', () => {
    const late = play([claim('a'), settle('a', 'failed'), wait(25 * HOUR_MS)]);
    expect(inRow(late)).toMatchObject({ kind: 'key-expired' });
    expect(inRow(late, { gate: openAt(destinationOf({ ...SAFE, keyLifeHours: null })) }).kind).toBe('redrive');
    expect(inRow(play([wait(25 * HOUR_MS)])).kind).toBe('redrive');
  });

  it('waits for a destination that is paused, closed for long, or let through one at a time', () => {
    const config = destinationOf();
    expect(inRow(play([]), { gate: parkAt(config) })).toMatchObject({
      kind: 'paused',
      detail: 'its destination is paused',
    });
    expect(inRow(play([]), { gate: parkAt(config, 'closed') })).toMatchObject({ detail: 'its destination is closed' });
    expect(inRow(play([]), { gate: { kind: 'probe', config, places: undefined } }).kind).toBe('paused');
    expect(inRow(play([]), { gate: { kind: 'wait', config, line: 1, untilMs: 1 } }).kind).toBe('redrive');
    expect(inRow(play([park()]), { gate: openAt(config) }).kind).toBe('redrive');
  });

  it('is dropped where its destination is gone, and left where newer code knows more', () => {
    expect(inRow(play([]), { gate: { kind: 'no-destination' } })).toMatchObject({
      kind: 'drop',
      detail: 'its destination is gone',
    });
    expect(inRow(play([]), { gate: { kind: 'newer', format: 2 } }).kind).toBe('unknown');
  });

  it('is no decision about a delivery that is held for a reason of its own, paused or not', () => {
    expect(inRow(rejected())).toMatchObject({ kind: 'drop', detail: 'held: rejected' });
    expect(inRow(rejected(), { gate: parkAt(destinationOf()) })).toMatchObject({ kind: 'drop' });
    expect(inRow(rejected(), { acceptSecondEffect: true })).toMatchObject({ kind: 'drop' });
  });

  it('redrives what is held for its doubt or its key where somebody accepts a second effect', () => {
    const doubt = unsafe(claim('a'), mark('a'), settle('a', 'in-doubt'));
    expect(inRow(doubt, { acceptSecondEffect: true })).toMatchObject({ kind: 'redrive', detail: 'held: in-doubt' });
    const expired = play([claim('a'), settle('a', 'failed'), wait(25 * HOUR_MS), claim('b')]);
    expect(inRow(expired).kind).toBe('key-expired');
    expect(inRow(expired, { acceptSecondEffect: true })).toMatchObject({ kind: 'redrive' });
  });

  it('does not promise what the next claim would refuse: an open doubt has to be held before it can be accepted', () => {
    const lapsed = unsafe(claim('a'), mark('a'), wait(HOUR_MS));
    expect(inRow(lapsed, { acceptSecondEffect: true }).kind).toBe('second-effect');
  });
});

describe('a quarantined delivery', () => {
  it('is redriven where nothing speaks against it, and says why it was held', () => {
    expect(inQuarantine(rejected())).toMatchObject({ kind: 'redrive', detail: 'held: rejected' });
  });

  it('needs an acceptance where a second effect is possible', () => {
    const doubt = unsafe(claim('a'), mark('a'), settle('a', 'in-doubt'));
    expect(inQuarantine(doubt).kind).toBe('second-effect');
    expect(inQuarantine(doubt, { acceptSecondEffect: true }).kind).toBe('redrive');
    const expired = play([claim('a'), settle('a', 'failed'), wait(25 * HOUR_MS), claim('b')]);
    expect(inQuarantine(expired).kind).toBe('key-expired');
    expect(inQuarantine(expired, { acceptSecondEffect: true }).kind).toBe('redrive');
  });

  it('needs an acceptance also where the key has run out while it was held', () => {
    const late = play([wait(25 * HOUR_MS)], rejected());
    expect(inQuarantine(late).kind).toBe('key-expired');
    expect(inQuarantine(late, { acceptSecondEffect: true }).kind).toBe('redrive');
  });

  it('is over budget where nothing is left, and stays so: no redrive adds to it', () => {
    expect(inQuarantine(spent())).toMatchObject({ kind: 'over-budget' });
    const often = Array.from({ length: REDRIVES_MAX }, (_, n): Step[] => [
      redrive(`r-${n}`),
      claim(`c-${n}`),
      settle(`c-${n}`, 'rejected'),
    ]).flat();
    expect(inQuarantine(play(often, rejected()))).toMatchObject({
      kind: 'over-budget',
      detail: 'the bound of its life is reached',
    });
  });

  it('is held where its destination is paused, and dropped where it is gone', () => {
    expect(inQuarantine(rejected(), { gate: parkAt(destinationOf()) }).kind).toBe('paused');
    expect(inQuarantine(rejected(), { gate: { kind: 'no-destination' } }).kind).toBe('drop');
  });

  it('is dropped where it is not held any more', () => {
    expect(inQuarantine(play([redrive('r')], rejected()))).toMatchObject({
      kind: 'drop',
      detail: 'no longer held: pending',
    });
    const delivered = play([redrive('r'), claim('b'), settle('b', 'delivered')], rejected());
    expect(inQuarantine(delivered)).toMatchObject({ kind: 'drop', detail: 'delivered' });
  });
});

describe('a dead letter by itself', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const inText = (text: string) => findInMessage(readMessage(bytes(text), 0), bytes(text));

  it('names the row that decides, or carries a whole event', () => {
    expect(inText('{"kind":"deliver","format":1,"event":"e","destination":"d"}')).toEqual({
      kind: 'look',
      ref: { event: 'e', destination: 'd' },
    });
    const whole = inText('{"kind":"event","format":1,"event":{"id":"e","payload":1,"destinations":["d"]}}');
    expect(whole).toMatchObject({ kind: 'event', submission: { event: 'e', destinations: ['d'] } });
  });

  it.each([
    ['a sweep', sweepBody(0, 1, 0)],
    ['a turn of a redrive', redriveBody('rd_1', 0, 1)],
    ['a notice', noticeBody({ kind: 'sweep-silent' })],
    ['a drain', drainBody({ kind: 'drain', destination: destinationIdOf('d'), drain: 1, page: 0, fromMs: 0, sent: 0 })],
  ])('is dropped where it is internal: what it asked for is asked for again (%s)', (_what, text) => {
    expect(inText(text).kind).toBe('drop');
  });

  it.each([
    ['not JSON', '{"kind": "deliver",', 'poison'],
    ['a text', '"hello"', 'foreign'],
    ['a list', '[1]', 'foreign'],
    ['of ours, without a format', '{"kind":"deliver"}', 'poison'],
    ['of ours, with a bad id', '{"kind":"deliver","format":1,"event":7,"destination":"d"}', 'poison'],
    ["somebody else's", '{"order":17}', 'foreign'],
    ['of a later format', '{"kind":"deliver","format":2}', 'unknown'],
    ['of an unknown kind', '{"kind":"teleport","format":1}', 'unknown'],
  ])('is told apart: %s', (_what, text, kind) => {
    expect(inText(text).kind).toBe(kind);
  });
});

describe('a dead message with a whole event', () => {
  it.each([
    ['new', { same: undefined, complete: false, unusable: undefined }, 'accept', 'not in the ledger'],
    ['half accepted', { same: true, complete: false, unusable: undefined }, 'accept', 'accepted in part'],
    ['of other content', { same: false, complete: true, unusable: undefined }, 'accept', 'another event has this id'],
    [
      'for a destination that is not there',
      { same: undefined, complete: false, unusable: 'x' },
      'accept',
      'needs destination x',
    ],
    ['known', { same: true, complete: true, unusable: undefined }, 'drop', 'accepted before'],
    ['known, its destination gone since', { same: true, complete: true, unusable: 'x' }, 'drop', 'accepted before'],
  ])('is accepted unless it was before: %s', (_what, known, kind, detail) => {
    expect(findInEvent(known)).toEqual({ kind, detail });
  });

  it('stays where it is as long as its destination is not there', () => {
    expect(isShutOut(findInEvent({ same: undefined, complete: false, unusable: 'x' }))).toBe(true);
    expect(isShutOut(findInEvent({ same: undefined, complete: false, unusable: undefined }))).toBe(false);
  });
});

describe('why a delivery had failed', () => {
  it('is its latest outcome, with how long the call took', () => {
    const scene = play([
      claim('a'),
      settle('a', 'failed'),
      wait(MINUTE_MS),
      claim('b'),
      settle('b', outcomeOf('throttled', { durationMs: 77 })),
    ]);
    expect(failureOf(scene.row)).toEqual({ lastClass: 'throttled', lastStatus: 429, lastDurationMs: 77 });
  });

  it('is nothing where nothing was tried', () => {
    expect(failureOf(play([wait(DAY_MS)]).row)).toEqual({});
  });
});
