/**
 * BullMQ over Redis, by its pattern of idempotent jobs: an event is added under its own job id, so that a second add is
 * ignored, and the job notes in its data that the effect has happened, so that a second run skips it.
 */
import { systemClock } from '../../../functions/adapters/system.ts';
import type { PeerPackages } from '../peers/packages.ts';
import type { Server } from '../peers/server.ts';
import type { Destination } from './destination.ts';
import { countsOf, type Fire, killAt, type Tally } from './fire.ts';
import { BULL_QUEUE } from './ours-settings.ts';
import { openPool } from './pool.ts';

interface Queue {
  add(name: string, data: object, options: object): Promise<unknown>;
  getJobCounts(...states: readonly string[]): Promise<Readonly<Record<string, number>>>;
  getFailed(from: number, to: number): Promise<readonly { readonly id: string }[]>;
  close(): Promise<void>;
}
interface Library {
  readonly Queue: new (name: string, options: object) => Queue;
}

/** The acknowledgement that is lost here is the end of a run; each such run counts as an attempt. */
const ATTEMPTS = 10;
const OPEN = ['waiting', 'active', 'delayed', 'prioritized'] as const;
const LOOK_MS = 500;
const AGAIN_MS = 1_000;
const WAIT_MS_MAX = 300_000;

export const bullmqUnderFire = async (
  packages: PeerPackages,
  redis: Server,
  fire: Fire,
  destination: Destination,
  workers: number,
  atOnce: number,
): Promise<Tally> => {
  const from = performance.now();
  const { Queue } = packages.load<Library>('bullmq');
  const queue = new Queue(BULL_QUEUE, { connection: { host: redis.host, port: redis.port } });
  const args = [`${redis.port}`, destination.url, packages.folder, `${fire.seed}`, `${Math.ceil(atOnce / workers)}`];
  const pool = await openPool('./bullmq-worker.ts', args, workers);
  try {
    killAt(fire, destination, pool);
    await addAll(queue, fire);
    await untilOver(queue);
    const failed = (await queue.getFailed(0, -1)).map(({ id }) => id);
    return {
      ...countsOf(fire, destination),
      lost: fire.events.filter((event) => destination.effectsOf(event) === 0 && !failed.includes(event)).length,
      held: failed.length,
      heldHappened: failed.filter((event) => destination.effectsOf(event) > 0).length,
      kills: pool.kills,
      // Adds; how often a job was run is not counted.
      pushes: fire.events.length + fire.events.filter((event) => fire.copyLaterMs(event) !== undefined).length,
      seconds: Math.round((performance.now() - from) / 1_000),
    };
  } finally {
    await pool.close();
    await queue.close();
  }
};

/** Each once, and those with a copy twice. */
const addAll = async (queue: Queue, { events, copyLaterMs }: Fire): Promise<void> => {
  const add = (event: string): Promise<unknown> =>
    queue.add('send', { event }, { jobId: event, attempts: ATTEMPTS, backoff: { type: 'fixed', delay: AGAIN_MS } });
  const copies: Promise<unknown>[] = [];
  for (const event of events) {
    await add(event);
    const laterMs = copyLaterMs(event);
    if (laterMs !== undefined)
      copies.push(laterMs === 0 ? add(event) : systemClock.sleep(laterMs).then(() => add(event)));
  }
  await Promise.all(copies);
};

/** A job that was under way in a worker that died is found stalled when its lock has run out, and is run again. */
const untilOver = async (queue: Queue): Promise<void> => {
  const lateMs = performance.now() + WAIT_MS_MAX;
  while (performance.now() < lateMs) {
    const counts = await queue.getJobCounts(...OPEN);
    if (OPEN.every((state) => (counts[state] ?? 0) === 0)) return;
    await systemClock.sleep(LOOK_MS);
  }
  throw new Error(`jobs of BullMQ are still open after ${WAIT_MS_MAX / 1_000} s`);
};
