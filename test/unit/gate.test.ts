import { describe, expect, it } from 'vitest';
import { type GateView, placeWaitMs, slotOf, slotStepMs, viewGate } from '../../functions/core/gate.ts';
import type { Destination, Gate } from '../../functions/core/items.ts';
import { CLOSED_PARKS_MS, CROWDED_PLACES, PLACE_WAIT_MS_MAX, SLOT_GOOD_MS } from '../../functions/core/limits.ts';
import {
  claim,
  defer,
  destinationIdOf,
  destinationOf,
  LINE,
  MINUTE_MS,
  park,
  play,
  START_MS,
  type Step,
  settle,
  wait,
} from '../support/machine.ts';

const NOW_MS = START_MS;
const CONFIG = destinationOf();
const found = <T>(item: T) => ({ kind: 'found', item }) as const;
const ABSENT = { kind: 'absent' } as const;
const LATER = { kind: 'later', format: 2 } as const;
const PAUSE = { by: 'ana', reason: 'maintenance', sinceMs: NOW_MS - 1 };

const gateWith = (over: Partial<Gate>) =>
  found<Gate>({ item: 'gate', version: 3, destination: destinationIdOf('partner'), carried: {}, ...over });
const closedFor = (ms: number) => gateWith({ closedUntilMs: NOW_MS + ms, closedSinceMs: NOW_MS });
const seen = (gate: Parameters<typeof viewGate>[1], config: Destination = CONFIG): GateView =>
  viewGate(found(config), gate, NOW_MS);
const OPEN: GateView = { kind: 'open', config: CONFIG, line: CONFIG.version, places: undefined, failing: false };

describe('a gate', () => {
  it('is open where nobody has ever closed or paused it, and hands its settings on', () => {
    for (const gate of [ABSENT, gateWith({})]) expect(seen(gate)).toEqual(OPEN);
  });

  it('parks what comes while a person has paused it, closed too or not, until a person says otherwise', () => {
    const parked = { kind: 'park', config: CONFIG, reason: 'paused', opensAtMs: undefined, probeOnly: false };
    expect(seen(gateWith({ pause: PAUSE }))).toEqual(parked);
    expect(seen(gateWith({ pause: PAUSE, closedUntilMs: NOW_MS + 60_000 }))).toEqual(parked);
  });

  it('lets one try when the breaker has paused it and the time of its probe has come', () => {
    const probed = (probeAtMs: number) => seen(gateWith({ pause: { ...PAUSE, by: 'system', probeAtMs } }));
    expect(probed(NOW_MS + 1)).toEqual({
      kind: 'park',
      config: CONFIG,
      reason: 'paused',
      opensAtMs: NOW_MS + 1,
      probeOnly: true,
    });
    expect(probed(NOW_MS)).toEqual({ kind: 'probe', config: CONFIG, places: undefined });
    expect(probed(NOW_MS - MINUTE_MS)).toEqual({ kind: 'probe', config: CONFIG, places: undefined });
  });

  it('is open again at the very end of its closing', () => {
    expect(seen(closedFor(-1))).toEqual(OPEN);
    expect(seen(closedFor(0))).toEqual(OPEN);
    expect(seen(closedFor(1))).toEqual({ kind: 'wait', config: CONFIG, line: CONFIG.version, untilMs: NOW_MS + 1 });
  });

  it('lets wait up to fifteen minutes, and parks for longer until its end', () => {
    expect(seen(closedFor(CLOSED_PARKS_MS)).kind).toBe('wait');
    const opensAtMs = NOW_MS + CLOSED_PARKS_MS + 1;
    expect(seen(closedFor(CLOSED_PARKS_MS + 1))).toEqual({
      kind: 'park',
      config: CONFIG,
      reason: 'closed',
      opensAtMs,
      probeOnly: false,
    });
  });

  it('leads nowhere where the destination does not exist or was deleted, paused or not', () => {
    expect(viewGate(ABSENT, ABSENT, NOW_MS)).toEqual({ kind: 'no-destination' });
    const deleted = destinationOf(undefined, { deletedAtMs: NOW_MS - 1 });
    for (const gate of [ABSENT, gateWith({ pause: PAUSE })]) {
      expect(seen(gate, deleted)).toEqual({ kind: 'no-destination' });
    }
  });

  it('is not judged by this code where newer code has written it or its settings', () => {
    expect(viewGate(LATER, ABSENT, NOW_MS)).toEqual({ kind: 'newer', format: 2 });
    expect(viewGate(LATER, gateWith({ pause: PAUSE }), NOW_MS)).toEqual({ kind: 'newer', format: 2 });
    expect(seen(LATER)).toEqual({ kind: 'newer', format: 2 });
    expect(viewGate(ABSENT, LATER, NOW_MS)).toEqual({ kind: 'newer', format: 2 });
  });

  it('says whether a success would be worth a write', () => {
    expect(seen(gateWith({ failures: { count: 1, sinceMs: NOW_MS } }))).toMatchObject({ kind: 'open', failing: true });
    expect(seen(gateWith({ failures: { count: 0, sinceMs: NOW_MS } }))).toMatchObject({ failing: false });
  });
});

describe('the places of a destination', () => {
  const placesOf = (concurrency: number | undefined, crowdedUntilMs: number | undefined): number | undefined => {
    const config = destinationOf(undefined, concurrency === undefined ? {} : { concurrency });
    const view = seen(gateWith(crowdedUntilMs === undefined ? {} : { crowdedUntilMs }), config);
    if (view.kind !== 'open') throw new TypeError(view.kind);
    return view.places;
  };

  it('are what its settings say, or as many as there are workers', () => {
    expect(placesOf(undefined, undefined)).toBeUndefined();
    expect(placesOf(2, undefined)).toBe(2);
    expect(placesOf(100, NOW_MS)).toBe(100);
  });

  it('are five while it is crowded, unless it has fewer of its own', () => {
    expect(placesOf(undefined, NOW_MS + 1)).toBe(CROWDED_PLACES);
    expect(placesOf(100, NOW_MS + 1)).toBe(CROWDED_PLACES);
    expect(placesOf(2, NOW_MS + 1)).toBe(2);
  });
});

describe('a slot', () => {
  const deferred = (reason: 'rate' | 'closed' | 'concurrency') => play([defer(10_000, reason)]).row;

  it('is good from its time on, for as long as a message may be late, and not before', () => {
    const row = deferred('rate');
    const good = [-1, 0, SLOT_GOOD_MS, SLOT_GOOD_MS + 1].map((ms) => slotOf(row, LINE, NOW_MS + 10_000 + ms));
    expect(good).toEqual([undefined, NOW_MS + 10_000, NOW_MS + 10_000, undefined]);
  });

  it('is one of the same line, whether a rate or a closing has given it, and good in that line only', () => {
    expect(slotOf(deferred('closed'), LINE, NOW_MS + 10_000)).toBe(NOW_MS + 10_000);
    for (const line of [LINE - 1, LINE + 1]) expect(slotOf(deferred('rate'), line, NOW_MS + 10_000)).toBeUndefined();
  });

  it('is nothing that a wait for a place gives, nor a row that was never deferred', () => {
    expect(slotOf(deferred('concurrency'), LINE, NOW_MS + 10_000)).toBeUndefined();
    const none: readonly Step[][] = [[], [park()], [claim('a')], [claim('a'), settle('a', 'failed')]];
    for (const steps of none) expect(slotOf(play(steps).row, LINE, NOW_MS)).toBeUndefined();
  });

  it('is of a new line after every change of the settings and every resume, and of the same one otherwise', () => {
    const lineOf = (gate: Partial<Gate>, version = 3) => {
      const view = seen(gateWith(gate), { ...CONFIG, version });
      return view.kind === 'open' || view.kind === 'wait' ? view.line : Number.NaN;
    };
    const line = lineOf({});
    expect(lineOf({ failures: { count: 3, sinceMs: NOW_MS } })).toBe(line);
    expect(lineOf({ closedUntilMs: NOW_MS + 10_000 })).toBe(line);
    expect(lineOf({ version: 9 })).toBe(line);
    expect(lineOf({ resumes: 1 })).toBe(line + 1);
    expect(lineOf({}, 4)).toBe(line + 1);
    expect(lineOf({ resumes: 2 }, 5)).toBe(line + 4);
  });

  it('comes as often as the rate says, and ten times a second where there is none', () => {
    expect(slotStepMs({})).toBe(100);
    expect(slotStepMs({ ratePerSecond: 4 })).toBe(250);
    expect(slotStepMs({ ratePerSecond: 0.1 })).toBe(10_000);
  });
});

describe('the wait for a place', () => {
  const afterWaits = (count: number) =>
    play(Array.from({ length: count }, () => [defer(1_000, 'concurrency'), wait(1_000)]).flat()).row;

  it('is 1, 2, 4 ... 30 seconds, however often', () => {
    const waits = [0, 1, 2, 3, 4, 5, 6, 12, 40].map((count) => placeWaitMs(afterWaits(count), 0));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, PLACE_WAIT_MS_MAX, ...Array(3).fill(PLACE_WAIT_MS_MAX)]);
  });

  it('grows by up to a fifth, so that those that wait together do not come together', () => {
    expect(placeWaitMs(afterWaits(0), 0.5)).toBe(1_100);
    expect(placeWaitMs(afterWaits(9), 0.999_999)).toBe(36_000);
  });

  it('starts again at one second for a row that has had its attempt', () => {
    expect(placeWaitMs(play([claim('a')]).row, 0)).toBe(1_000);
  });
});
