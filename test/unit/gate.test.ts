import { describe, expect, it } from 'vitest';
import { viewGate } from '../../functions/core/gate.ts';
import type { Destination, Gate } from '../../functions/core/items.ts';
import { CLOSED_PARKS_MS } from '../../functions/core/limits.ts';
import { destinationIdOf, destinationOf, START_MS } from '../support/machine.ts';

const NOW_MS = START_MS;
const CONFIG = destinationOf();
const found = <T>(item: T) => ({ kind: 'found', item }) as const;
const ABSENT = { kind: 'absent' } as const;
const LATER = { kind: 'later', format: 2 } as const;
const PAUSE = { by: 'ana', reason: 'maintenance', sinceMs: NOW_MS - 1 };

const gateWith = (over: Partial<Gate>) =>
  found<Gate>({ item: 'gate', version: 3, destination: destinationIdOf('partner'), carried: {}, ...over });
const closedFor = (ms: number) => gateWith({ closedUntilMs: NOW_MS + ms, closedSinceMs: NOW_MS });
const seen = (gate: Parameters<typeof viewGate>[1], draw = 0, config: Destination = CONFIG) =>
  viewGate(found(config), gate, NOW_MS, draw);

describe('a gate', () => {
  it('is open where nobody has ever closed or paused it, and hands its settings on', () => {
    for (const gate of [ABSENT, gateWith({})]) expect(seen(gate)).toEqual({ kind: 'open', config: CONFIG });
  });

  it('parks what comes while it is paused, whether it is closed too or not', () => {
    expect(seen(gateWith({ pause: PAUSE }))).toEqual({ kind: 'park', config: CONFIG, reason: 'paused' });
    expect(seen(gateWith({ pause: PAUSE, closedUntilMs: NOW_MS + 60_000 }))).toMatchObject({ reason: 'paused' });
  });

  it('is open again at the very end of its closing', () => {
    expect(seen(closedFor(-1)).kind).toBe('open');
    expect(seen(closedFor(0)).kind).toBe('open');
    expect(seen(closedFor(1)).kind).toBe('wait');
  });

  it('lets wait up to fifteen minutes, and parks for longer', () => {
    expect(seen(closedFor(CLOSED_PARKS_MS))).toEqual({
      kind: 'wait',
      config: CONFIG,
      untilMs: NOW_MS + CLOSED_PARKS_MS,
    });
    expect(seen(closedFor(CLOSED_PARKS_MS + 1))).toEqual({ kind: 'park', config: CONFIG, reason: 'closed' });
  });

  it('spreads those that wait over the first second behind its end, never before it', () => {
    const waits = [0, 0.25, 0.999_999].map((draw) => {
      const view = seen(closedFor(60_000), draw);
      return view.kind === 'wait' ? view.untilMs - NOW_MS : view.kind;
    });
    expect(waits).toEqual([60_000, 60_250, 61_000]);
  });

  it('leads nowhere where the destination does not exist or was deleted, paused or not', () => {
    expect(viewGate(ABSENT, ABSENT, NOW_MS, 0)).toEqual({ kind: 'no-destination' });
    const deleted = destinationOf(undefined, { deletedAtMs: NOW_MS - 1 });
    for (const gate of [ABSENT, gateWith({ pause: PAUSE })]) {
      expect(seen(gate, 0, deleted)).toEqual({ kind: 'no-destination' });
    }
  });

  it('is not judged by this code where newer code has written it or its settings', () => {
    expect(viewGate(LATER, ABSENT, NOW_MS, 0)).toEqual({ kind: 'newer', format: 2 });
    expect(viewGate(LATER, gateWith({ pause: PAUSE }), NOW_MS, 0)).toEqual({ kind: 'newer', format: 2 });
    expect(seen(LATER)).toEqual({ kind: 'newer', format: 2 });
    expect(viewGate(ABSENT, LATER, NOW_MS, 0)).toEqual({ kind: 'newer', format: 2 });
  });
});
