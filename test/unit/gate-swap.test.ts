/** Changing the gate of a destination while answers get lost: what was written once is done once. */
import { describe, expect, it } from 'vitest';
import { createTwin } from '../../functions/adapters/ledger/twin.ts';
import { paused } from '../../functions/core/breaker.ts';
import type { Gate } from '../../functions/core/items.ts';
import { GATE_WRITES_KEPT } from '../../functions/core/limits.ts';
import type { Ledger } from '../../functions/ports.ts';
import { noteOutcome, swapGate, takeProbe } from '../../functions/steps/gate.ts';
import { losingAnswers } from '../support/lost-answers.ts';
import { destinationIdOf } from '../support/machine.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { recordedTelemetry, seededDice, shuffledTurns } from '../support/world-ports.ts';

const PARTNER = destinationIdOf('partner');
const FAILED = { class: 'failed', detail: 'status-500', status: 500, mayHaveArrived: true } as const;

const opened = (lossy: (ledger: Ledger) => Ledger, before?: () => Promise<void>) => {
  const clock = new VirtualClock();
  const { ledger } = createTwin({ clock, ...(before ? { intercept: before } : {}) });
  const world = { ledger: lossy(ledger), clock, dice: seededDice(1), telemetry: recordedTelemetry() };
  const gate = async (): Promise<Gate | undefined> => {
    const found = await ledger.load({ item: 'gate', destination: PARTNER });
    return found.kind === 'found' ? found.item : undefined;
  };
  return { clock, world, gate };
};

/** As if gates did not remember who has written them. */
const forgetful = (ledger: Ledger): Ledger => {
  const without: Ledger = {
    ...ledger,
    create: (item) => ledger.create('writes' in item ? { ...item, writes: [] } : item),
    replace: (read, next) => ledger.replace(read, 'writes' in next ? { ...next, writes: [] } : next),
  };
  return losingAnswers(without);
};

describe('a change of the gate whose answer is lost', () => {
  it('is made once: three failures are counted as three', async () => {
    const { world, gate } = opened(losingAnswers);
    for (let n = 0; n < 3; n += 1) await noteOutcome(world, PARTNER, FAILED, false);
    expect((await gate())?.failures?.count).toBe(3);
  });

  it('would be made again and again if the gate did not remember its latest writes', async () => {
    const { world, gate } = opened(forgetful);
    await expect(noteOutcome(world, PARTNER, FAILED, false)).rejects.toThrow('kept changing');
    expect((await gate())?.failures?.count).toBe(64);
  });

  it.each([1, 2, 3, 4, 5])('is made once beside rivals, in any order of their requests: seed %d', async (seed) => {
    const { world, gate } = opened(losingAnswers, shuffledTurns(seededDice(`turns ${seed}`)));
    const rivals = GATE_WRITES_KEPT / 2;
    await Promise.all(Array.from({ length: rivals }, () => noteOutcome(world, PARTNER, FAILED, false)));
    expect((await gate())?.failures?.count).toBe(rivals);
  });

  it('leaves the probe to the worker that has taken it, and to nobody else', async () => {
    const { clock, world } = opened(losingAnswers);
    const probeAtMs = clock.nowMs();
    await swapGate(world, PARTNER, (gate) => paused(gate, { by: 'system', reason: 'r', sinceMs: 1, probeAtMs }));
    expect(await takeProbe(world, PARTNER)).toBe(true);
    expect(await takeProbe(world, PARTNER)).toBe(false);
  });

  it('keeps the gate small: a few of the latest writes, however many there were', async () => {
    const { world, gate } = opened((ledger) => ledger);
    for (let n = 0; n < 50; n += 1) await noteOutcome(world, PARTNER, FAILED, false);
    expect((await gate())?.writes).toHaveLength(GATE_WRITES_KEPT);
    expect((await gate())?.failures?.count).toBe(50);
  });
});
