import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLazyDeadLetters, createLazyQueue } from '../../functions/adapters/queue/lazy-queue.ts';
import { openDeadLetters } from '../../functions/adapters/queue/open-dead-letters.ts';
import { openQueue, type TransportSettings } from '../../functions/adapters/queue/open-queue.ts';
import { systemClock, systemDice } from '../../functions/adapters/system.ts';
import { createEmbeddedQueue, type EmbeddedQueue } from '../../infra/local/queue/embedded-queue.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const API_KEY = 'ifr_test_key';
const QUEUE = 'deliveries';
const needs = { clock: systemClock, dice: systemDice };

describe('a queue that is opened when it is first used', () => {
  let embedded: EmbeddedQueue;
  let all: readonly TransportSettings[];

  beforeEach(async () => {
    embedded = createEmbeddedQueue({ timers: new VirtualClock(), apiKey: API_KEY, queues: [QUEUE] });
    const infrai = { baseUrl: await embedded.listen(), apiKey: API_KEY, queue: QUEUE };
    const at = 'https://sqs.eu-central-1.amazonaws.com/123456789012';
    const sqs = { queueUrl: `${at}/onceward`, deadLetterUrl: `${at}/onceward-dead` };
    all = [
      { transport: 'sqs', sqs },
      { transport: 'infrai', infrai },
      { transport: 'both', sqs, infrai },
    ];
  });
  afterEach(() => embedded.close());

  it('says of every transport before it is opened what the opened one says', async () => {
    // The clients of AWS ask for a region when they are made.
    const before = process.env['AWS_REGION'];
    process.env['AWS_REGION'] = 'eu-central-1';
    try {
      for (const settings of all) {
        expect(createLazyQueue(settings).limits).toEqual((await openQueue(settings)).limits);
        expect(createLazyDeadLetters(settings, needs).traits).toEqual((await openDeadLetters(settings, needs)).traits);
      }
    } finally {
      if (before === undefined) delete process.env['AWS_REGION'];
      else process.env['AWS_REGION'] = before;
    }
  });

  const infrai = (): TransportSettings => {
    const found = all.find(({ transport }) => transport === 'infrai');
    if (found === undefined) throw new Error('no settings of infrai');
    return found;
  };

  it('publishes what comes at the same time through one client', async () => {
    const queue = createLazyQueue(infrai());
    const bodies = ['first', 'second', 'third'];
    const published = await Promise.all(
      bodies.map((key) => queue.publish({ key, body: JSON.stringify({ key }), delaySec: 60 })),
    );
    expect(published.map(({ kind }) => kind)).toEqual(['published', 'published', 'published']);
    expect(embedded.stats(QUEUE)).toMatchObject({ delayed: 3 });
  });

  it('that cannot be opened is a publish that failed, and is opened again by the next one', async () => {
    const settings = infrai();
    let reads = 0;
    const failingOnce: TransportSettings = {
      ...settings,
      get transport() {
        reads += 1;
        // The first is read where the limits are told, the second where it is opened.
        if (reads === 2) throw new Error('no client to be had');
        return settings.transport as 'infrai';
      },
    } as TransportSettings;
    const queue = createLazyQueue(failingOnce);
    const publication = { key: 'k', body: '{}', delaySec: 60 };
    expect(await queue.publish(publication)).toEqual({
      kind: 'failed',
      code: 'not-opened',
      detail: 'no client to be had',
    });
    expect(await queue.publish(publication)).toMatchObject({ kind: 'published' });
  });

  it('hands every question about dead letters on', async () => {
    const deadLetters = createLazyDeadLetters(infrai(), needs);
    expect(await deadLetters.stats()).toMatchObject({ kind: 'stats', dead: 0 });
    expect(await deadLetters.read(5)).toEqual({ kind: 'read', letters: [] });
    expect(await deadLetters.redrive({ messageId: ' ', body: Buffer.from('') })).toMatchObject({ kind: 'failed' });
    expect(await deadLetters.discard({ messageId: ' ' })).toMatchObject({ kind: 'failed' });
    await expect(deadLetters.release([])).resolves.toBeUndefined();
  });
});
