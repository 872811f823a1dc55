import { createSqsDeadLetters } from '../../functions/adapters/queue/sqs/dead-letters.ts';
import { systemClock, systemDice } from '../../functions/adapters/system.ts';
import { DEAD_LETTER_LEASE_SEC, SQS_RECEIVES_MAX, SQS_VISIBILITY_MS } from '../../functions/core/limits.ts';
import { hostileServer, REFUSED_PORT, silent } from '../support/hostile-server.ts';
import { openSqsWorld, type SqsWorld } from '../support/sqs-world.ts';
import type { DeadLettersHarness, DeadLetterWorld } from './dead-letters.ts';

const DYING_MS = SQS_RECEIVES_MAX * SQS_VISIBILITY_MS;

/** The world behind each, for what only SQS can be asked. */
export interface SqsDeadLetterWorld extends DeadLetterWorld {
  readonly world: SqsWorld;
}

export const openSqsDeadLetters = async (): Promise<SqsDeadLetterWorld> => {
  const world = await openSqsWorld();
  const { sqs, queue } = world;
  const deadLetters = createSqsDeadLetters({
    queueUrl: sqs.queueUrl,
    deadLetterUrl: sqs.deadLetterUrl,
    clock: systemClock,
    dice: systemDice,
    access: sqs.access,
    // One server, and time that stands still: there is nothing to wait for.
    waitSec: 0,
  });
  let before = 0;
  return {
    world,
    deadLetters,
    async letDie(...bodies) {
      for (const [nth, body] of bodies.entries()) {
        world.answerWith(...Array.from({ length: SQS_RECEIVES_MAX }, () => 503));
        const published = await queue.publish({ key: `dies-${nth}`, body, delaySec: 0 });
        if (published.kind === 'failed') throw new Error(published.detail);
      }
      await world.pass(DYING_MS);
      before = world.received.length;
    },
    pushed: () => world.received.slice(before).map(({ body }) => Buffer.from(body).toString('utf8')),
    refusePushes: () => world.answerWith(...Array.from({ length: SQS_RECEIVES_MAX }, () => 503)),
    pass: world.pass,
    async close() {
      deadLetters.close();
      await world.close();
    },
  };
};

export const sqsDeadLetters: DeadLettersHarness = {
  leaseMs: DEAD_LETTER_LEASE_SEC * 1_000,
  dyingMs: DYING_MS,
  open: openSqsDeadLetters,
  async openBroken(how, totalMs) {
    const server = await hostileServer(silent);
    const endpoint = how === 'gone' ? `http://127.0.0.1:${REFUSED_PORT}` : new URL(server.url).origin;
    const deadLetters = createSqsDeadLetters({
      queueUrl: `${endpoint}/000000000000/onceward`,
      deadLetterUrl: `${endpoint}/000000000000/onceward-dead`,
      access: { region: 'eu-central-1', endpoint, credentials: { accessKeyId: 'none', secretAccessKey: 'none' } },
      clock: systemClock,
      dice: systemDice,
      retries: { triesMax: 5, tryMs: totalMs / 2, totalMs },
    });
    return {
      deadLetters,
      async close() {
        deadLetters.close();
        await server.close();
      },
    };
  },
};
