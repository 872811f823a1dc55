/** The schedule of the local world: one tick after another, never two at once. */
import type { Timer } from '../../functions/adapters/system.ts';
import type { World } from '../../functions/ports.ts';
import { tick } from '../../functions/reconciler/tick.ts';

export interface Ticker {
  stop(): void;
}

export const startTicker = (
  world: Pick<World, 'queue' | 'clock' | 'telemetry'>,
  timer: Timer,
  everyMs: number,
): Ticker => {
  let stopped = false;
  let cancel = (): void => {};
  const next = (): void => {
    if (!stopped) cancel = timer.after(everyMs, run);
  };
  const run = (): void => {
    tick(world, everyMs)
      .catch((error: unknown) => world.telemetry.line('tick.failed', { detail: String(error) }))
      .finally(next);
  };
  run();
  return {
    stop: () => {
      stopped = true;
      cancel();
    },
  };
};
