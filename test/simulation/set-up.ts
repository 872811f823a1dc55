/** The destinations of a history stand before it begins: made by the real command, without anything going wrong. */
import type { Gate, Item } from '../../functions/core/items.ts';
import { BREAKER_FAILURES, BREAKER_MS } from '../../functions/core/limits.ts';
import { putDestination } from '../../functions/operator/commands/destinations.ts';
import type { Ledger } from '../../functions/ports.ts';
import { destinationIdOf, settingsOf } from './people.ts';
import type { Surroundings } from './ports.ts';
import { nameOf } from './raw-store.ts';

export const setUpDestinations = async ({ stage, destinations }: Surroundings): Promise<void> => {
  const { ledger } = stage.store;
  const noted: Ledger = {
    ...ledger,
    create: async <T extends Item>(item: T) => {
      const written = await ledger.create(item);
      stage.wrote(undefined, nameOf(item), item);
      return written;
    },
  };
  const clock = { nowMs: () => stage.nowMs, sleep: async () => undefined };
  const dice = { draw: () => 0, id: () => 'setup', bytes: (count: number) => new Uint8Array(count) };
  for (const plan of stage.plan.destinations) {
    const secret = `whsec_${Buffer.from(`the first secret of ${plan.id}`.padEnd(32, '.')).toString('base64')}`;
    destinations.secrets.set(plan.id, [secret]);
    await putDestination({ ledger: noted, clock, dice }, settingsOf(plan, secret));
    if (plan.notices === true) stage.fates.count('notices');
    if (!stage.plan.shares.has('breaker-near')) continue;
    stage.fates.count('breaker-near');
    // One failure less than the breaker needs, over longer than it waits.
    const failures = { count: BREAKER_FAILURES - 1, sinceMs: stage.nowMs - 2 * BREAKER_MS };
    await noted.create<Gate>({
      item: 'gate',
      version: 1,
      destination: destinationIdOf(plan.id),
      failures,
      carried: {},
    });
  }
};
