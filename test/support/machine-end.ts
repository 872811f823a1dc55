/**
 * A world in which nothing fails any more: sweeps come, their messages arrive, the destination answers 200. Whatever
 * has happened to a row before, here it has to come to an end, within a bounded time and number of rounds.
 */
import { SWEEP_STEP_MS_MAX } from '../../functions/core/limits.ts';
import { claimableFromMs, phaseOf } from '../../functions/core/phase.ts';
import { outcomeOf, type Scene, type Step, take } from './machine.ts';

/** A far-off row is met ten minutes ahead first, a live claim once before its end; then message, claim and answer. */
const ROUNDS_MAX = 4;
/** A tick comes when it comes: at the last instant of a lease there is nothing to do yet. */
const TICK_DELAY_MS = 1;

export interface End {
  readonly scene: Scene;
  /** Says where it stands still, if it does. */
  readonly stuck?: string;
}

const isOpen = ({ row }: Scene): boolean => row.status === 'pending' || row.status === 'claimed';

const next = (scene: Scene, step: Step): Scene => take(scene, { ...step, number: 1_000 + scene.played });

const until = (scene: Scene, atMs: number): Scene => next(scene, { do: 'wait', ms: Math.max(0, atMs - scene.nowMs) });

/** When the row should have come to its end: its own time, or the longest step of a sweep from now. */
const latestEndMs = ({ row, nowMs }: Scene): number =>
  Math.max(nowMs + SWEEP_STEP_MS_MAX, row.status === 'pending' ? claimableFromMs(row) : 0) + 2 * row.graceMs;

const SUCCESS = outcomeOf('delivered');

/** One look of a sweep, and what its message leads to. */
const round = (scene: Scene): Scene => {
  const { row } = scene;
  if (row.status !== 'pending' && row.status !== 'claimed') return scene;
  const swept = next(until(scene, row.lookAfterMs + TICK_DELAY_MS), { do: 'sweep', gate: 'open' });
  const decision = swept.taken.at(-1)?.decision;
  const [message] = decision?.kind === 'write' ? decision.before : [];
  if (message?.kind !== 'publish') return swept;
  const arrived = until(swept, message.dueAtMs);
  if (['early', 'live'].includes(phaseOf(arrived.row, arrived.nowMs))) return arrived;
  const by = `rescuer-${arrived.played}`;
  const claimed = next(arrived, { do: 'claim', by });
  return next(claimed, { do: 'settle', by, outcome: SUCCESS });
};

export const endOf = (from: Scene): End => {
  let scene = from;
  const latestMs = latestEndMs(from);
  for (let rounds = 0; isOpen(scene); rounds += 1) {
    if (rounds === ROUNDS_MAX) return { scene, stuck: `${scene.row.status} after ${rounds} rounds` };
    scene = round(scene);
  }
  return scene.nowMs <= latestMs || !isOpen(from)
    ? { scene }
    : { scene, stuck: `${scene.nowMs - latestMs} ms too late` };
};
