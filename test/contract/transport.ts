/** What every transport behind the ports Queue and Push has to do, whatever queue it is. */

import { describe, expect, it, onTestFinished } from 'vitest';
import type { Publication, Push, Queue } from '../../functions/ports.ts';
import type { ReceivedPush } from '../support/push-receiver.ts';

export interface TransportStats {
  readonly available: number;
  readonly delayed: number;
  readonly inFlight: number;
  readonly dead: number;
}

/** One queue with its receiver, fresh for each test. */
export interface TransportWorld {
  readonly queue: Queue;
  readonly push: Push;
  readonly received: readonly ReceivedPush[];
  nowMs(): number;
  /** Statuses for the pushes to come, in turn; then 200. */
  answerWith(...statuses: number[]): void;
  /** Resolves when the transport has nothing left to do at this time. */
  settled(): Promise<void>;
  /** Lets that much time of the transport pass, then as `settled`. */
  pass(ms: number): Promise<void>;
  stats(): Promise<TransportStats>;
  close(): Promise<void>;
}

export interface TransportHarness {
  readonly deliveriesMax: number;
  /** After this much time a refused push has been made again, or its message is dead. */
  readonly redeliverMs: number;
  /** A delay that the tests can live through. */
  readonly delaySec: number;
  /** Whether the same key again is the same message; where not, the ledger alone keeps duplicates harmless. */
  readonly remembersKeys: boolean;
  /** Where nobody is subscribed, messages stay in the queue. */
  open(who: 'subscribed' | 'nobody'): Promise<TransportWorld>;
  /** A port whose transport is not there, or takes the call and never answers; both give up after `publishMs`. */
  openBroken(how: 'gone' | 'hanging', publishMs: number): Promise<{ readonly queue: Queue; close(): Promise<void> }>;
}

const BODY = '{ "kind":"deliver","format":1, "event":"order-\\u00e9-é-🚚", "destination":"partner", "n":1.00e2 }';

const message = (change: Partial<Publication> = {}): Publication => ({
  key: 'key-1',
  body: BODY,
  delaySec: 0,
  ...change,
});

const textOf = (push: Push, received: ReceivedPush | undefined): string => {
  const unwrapped = push.unwrap(received?.body ?? new Uint8Array(), received?.header ?? (() => undefined));
  return unwrapped.kind === 'message' ? Buffer.from(unwrapped.body).toString('utf8') : unwrapped.reason;
};

export const transportContract = (name: string, harness: TransportHarness): void => {
  const inWorld: InWorld = async (act, who = 'subscribed') => {
    const world = await harness.open(who);
    try {
      await act(world);
    } finally {
      await world.close();
    }
  };
  describe(`publishing over ${name}`, () => publishing(harness, inWorld));
  describe(`delivery by ${name}`, () => delivery(harness, inWorld));
  describe(`pushes of ${name}`, () => pushes(inWorld));
  describe(`a broken ${name}`, () => broken(harness));
};

type InWorld = (act: (world: TransportWorld) => Promise<void>, who?: 'subscribed' | 'nobody') => Promise<void>;

const publishing = (harness: TransportHarness, inWorld: InWorld): void => {
  it('gives an id, and the message is pushed with exactly its bytes', () =>
    inWorld(async ({ queue, push, received, settled }) => {
      const published = await queue.publish(message());
      await settled();
      expect(published).toMatchObject({ kind: 'published', messageId: expect.stringMatching(/^[!-~]+$/) });
      expect(received).toHaveLength(1);
      expect(textOf(push, received[0])).toBe(BODY);
    }));

  it('names the message in its push', () =>
    inWorld(async ({ queue, push, received, settled }) => {
      const published = await queue.publish(message());
      await settled();
      const messageId = published.kind === 'published' ? published.messageId : 'none';
      const { body = new Uint8Array(), header = () => undefined } = received[0] ?? {};
      expect(push.unwrap(body, header)).toMatchObject({ kind: 'message', messageId });
    }));

  it('keeps a delayed message back until its time, and not longer', () =>
    inWorld(async ({ queue, received, settled, pass, nowMs }) => {
      const publishedAtMs = nowMs();
      await queue.publish(message({ delaySec: harness.delaySec }));
      await settled();
      expect(received).toHaveLength(0);
      await pass(harness.delaySec * 1_000 - 1);
      expect(received).toHaveLength(0);
      await pass(1);
      expect(received).toHaveLength(1);
      expect(received[0]?.atMs).toBeGreaterThanOrEqual(publishedAtMs + harness.delaySec * 1_000);
    }));

  it('takes the longest delay that its limits name', () =>
    inWorld(async ({ queue, stats }) => {
      const delaySec = Math.floor(queue.limits.delayMsMax / 1_000);
      expect(await queue.publish(message({ delaySec }))).toMatchObject({ kind: 'published' });
      expect(await stats()).toMatchObject({ delayed: 1 });
    }));

  it.runIf(harness.remembersKeys)('makes one message of two publishes with the same key', () =>
    inWorld(async ({ queue, received, settled }) => {
      const first = await queue.publish(message());
      await settled();
      expect(await queue.publish(message())).toEqual(first);
      await settled();
      expect(received).toHaveLength(1);
    }),
  );

  it('makes another message of another key, under an id of its own', () =>
    inWorld(async ({ queue, received, settled }) => {
      const first = await queue.publish(message());
      const second = await queue.publish(message({ key: 'key-2' }));
      await settled();
      expect(second).toMatchObject({ kind: 'published' });
      expect(second).not.toEqual(first);
      expect(received).toHaveLength(2);
    }));
};

const delivery = (harness: TransportHarness, inWorld: InWorld): void => {
  it.each([200, 202, 204])('ends with a %i', (status) =>
    inWorld(async ({ queue, received, answerWith, settled, pass, stats }) => {
      answerWith(status);
      await queue.publish(message());
      await settled();
      await pass(2 * harness.redeliverMs);
      expect(received).toHaveLength(1);
      expect(await stats()).toEqual({ available: 0, delayed: 0, inFlight: 0, dead: 0 });
    }),
  );

  it.each([302, 400, 401, 503])('comes again after a %i', (status) =>
    inWorld(async ({ queue, received, answerWith, settled, pass, stats }) => {
      answerWith(status);
      await queue.publish(message());
      await settled();
      expect(received).toHaveLength(1);
      expect(await stats()).toMatchObject({ inFlight: 1 });
      await pass(harness.redeliverMs);
      expect(received).toHaveLength(2);
      expect(await stats()).toEqual({ available: 0, delayed: 0, inFlight: 0, dead: 0 });
    }),
  );

  it('gives up after the last delivery: the message is dead, and counted as dead', () =>
    inWorld(async ({ queue, received, answerWith, settled, pass, stats }) => {
      answerWith(...Array.from({ length: harness.deliveriesMax + 1 }, () => 503));
      await queue.publish(message());
      await settled();
      for (let more = 1; more < harness.deliveriesMax; more += 1) await pass(harness.redeliverMs);
      expect(received).toHaveLength(harness.deliveriesMax);
      await pass(harness.redeliverMs);
      expect(await stats()).toEqual({ available: 0, delayed: 0, inFlight: 0, dead: 1 });
      await pass(10 * harness.redeliverMs);
      expect(received).toHaveLength(harness.deliveriesMax);
    }));

  it('counts messages where they are', () =>
    inWorld(async ({ queue, stats }) => {
      await queue.publish(message({ key: 'now-1' }));
      await queue.publish(message({ key: 'now-2' }));
      await queue.publish(message({ key: 'later', delaySec: harness.delaySec }));
      expect(await stats()).toEqual({ available: 2, delayed: 1, inFlight: 0, dead: 0 });
    }, 'nobody'));
};

const pushes = (inWorld: InWorld): void => {
  const onePush = async (world: TransportWorld): Promise<ReceivedPush> => {
    await world.queue.publish(message());
    await world.settled();
    const [first] = world.received;
    if (first === undefined) throw new Error('nothing was pushed');
    return first;
  };

  it('are authentic as they come', () =>
    inWorld(async (world) => {
      const { header, body } = await onePush(world);
      expect(world.push.verify(header, body, world.nowMs())).toEqual({ kind: 'authentic' });
    }));

  it('are refused with a single bit changed', () =>
    inWorld(async (world) => {
      const { header, body } = await onePush(world);
      const altered = body.map((byte, at) => (at === body.length - 2 ? byte ^ 1 : byte));
      expect(world.push.verify(header, altered, world.nowMs())).toMatchObject({ kind: 'refused' });
    }));

  it('are refused without their headers', () =>
    inWorld(async (world) => {
      const { body } = await onePush(world);
      expect(world.push.verify(() => undefined, body, world.nowMs())).toMatchObject({ kind: 'refused' });
    }));
};

const broken = (harness: TransportHarness): void => {
  it.each(['gone', 'hanging'] as const)('(%s) fails a publish as a value, within the bound given', async (how) => {
    const { queue, close } = await harness.openBroken(how, 300);
    onTestFinished(close);
    const startedMs = performance.now();
    const published = await queue.publish(message());
    expect(published).toMatchObject({ kind: 'failed', code: 'unavailable' });
    expect(performance.now() - startedMs).toBeLessThan(1_500);
  });

  // The transport never answers: a refusal that says more than "unavailable" was made without a call.
  it.each([
    { what: 'a message over its size', code: 'too-large', change: (max: number) => ({ body: objectOf(max + 1) }) },
    {
      what: 'a delay over its longest',
      code: 'delay-too-long',
      change: (_: number, sec: number) => ({ delaySec: sec + 1 }),
    },
  ])('is not even asked for $what', async ({ code, change }) => {
    const { queue, close } = await harness.openBroken('hanging', 300);
    onTestFinished(close);
    const { messageBytesMax, delayMsMax } = queue.limits;
    const published = await queue.publish(message(change(messageBytesMax, delayMsMax / 1_000)));
    expect(published).toMatchObject({ kind: 'failed', code });
  });
};

/** The text of an object of so many bytes. */
export const objectOf = (bytes: number): string => `{"x":"${'x'.repeat(bytes - 8)}"}`;
