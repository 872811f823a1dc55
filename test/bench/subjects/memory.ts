/**
 * Our own code in one long-lived process, without HTTP: a round accepts its events and receives their pushes, over the twin,
 * whose finished items are removed as the table's time to live removes them. What stays is what the code keeps.
 */
import { keyOf } from '../../../functions/adapters/ledger/codec/item-keys.ts';
import { createTwin } from '../../../functions/adapters/ledger/twin.ts';
import { systemClock } from '../../../functions/adapters/system.ts';
import { FUNCTION_MS } from '../../../functions/core/limits.ts';
import { receive } from '../../../functions/receiver/receive.ts';
import { destinationIdOf, eventIdOf } from '../../support/rows.ts';
import { acceptAll, benchWorldOf, setDestinations } from '../stage/bench-world.ts';
import { type Round, serve } from '../stage/child.ts';
import { destinationsOf, eventNameOf, pushBodyOf, pushHeadersOf } from '../stage/messages.ts';

await serve(async () => {
  const twin = createTwin({ clock: systemClock, keepsHistory: false });
  const world = benchWorldOf(twin, {
    send: async () => ({ kind: 'answered', status: 204, retryAfter: [], excerpt: '', durationMs: 1 }),
    close: async () => {},
  });
  const destination = destinationIdOf(destinationsOf()[0] ?? '');

  const deliverOne = async (round: Round, n: number): Promise<void> => {
    await acceptAll(world, { ...round, first: n, count: 1 });
    const body = pushBodyOf(n);
    const headers = pushHeadersOf(body);
    const verdict = await receive(world, {
      header: (name) => headers[name],
      body: Buffer.from(body),
      runId: world.dice.id(),
      remainingMs: () => FUNCTION_MS,
    });
    const event = eventIdOf(eventNameOf(n));
    const row = keyOf({ item: 'delivery', event, destination });
    const ended = twin.store.peek(row)?.['st']?.S;
    if (verdict.kind !== 'ack' || ended !== 'delivered') throw new Error(`delivery ${n} ended ${ended}`);
    twin.store.remove(row);
    twin.store.remove(keyOf({ item: 'event', event }));
  };

  return {
    url: 'http://127.0.0.1',
    prepare: async (round) => {
      await setDestinations(world, round);
      for (let n = round.first; n < round.first + round.count; n += 1) await deliverOne(round, n);
    },
    close: async () => {},
  };
});
