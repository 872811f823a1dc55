/** A Powertools handler behind the same queue, over the same engine. */
import { openDynamoHttp } from '../../support/dynamo-http.ts';
import type { PeerPackages } from '../peers/packages.ts';
import type { Destination } from './destination.ts';
import { countsOf, type Fire, killAt, type Tally } from './fire.ts';
import { openPool } from './pool.ts';
import { openPushQueue, untilEmpty, untilRoom } from './push-queue.ts';

export const powertoolsUnderFire = async (
  packages: PeerPackages,
  fire: Fire,
  destination: Destination,
  workers: number,
  atOnce: number,
): Promise<Tally> => {
  const from = performance.now();
  const dynamo = await openDynamoHttp();
  const pool = await openPool(
    './powertools-worker.ts',
    [dynamo.url, 'seen', destination.url, packages.folder],
    workers,
  );
  const wrap = ({ body }: { readonly body: string }) => ({ body: Buffer.from(body), headers: {} });
  const queue = openPushQueue({ fire, pool, path: '/', atOnce, wrap });
  try {
    killAt(fire, destination, pool);
    for (const event of fire.events) {
      await untilRoom(queue);
      queue.publish({ event, body: JSON.stringify({ id: event }) }, 0);
    }
    await untilEmpty(queue);
    return {
      ...countsOf(fire, destination),
      lost: fire.events.filter((event) => destination.effectsOf(event) === 0).length,
      // It has no place where something would wait for a person.
      held: 0,
      heldHappened: 0,
      kills: pool.kills,
      pushes: queue.pushes,
      seconds: Math.round((performance.now() - from) / 1_000),
    };
  } finally {
    await queue.close();
    await pool.close();
    await dynamo.close();
  }
};
