/** A message that meets a worker whose clock is behind: within the margin between two clocks, that costs seconds. */
import { describe, expect, it } from 'vitest';
import { SKEW_MARGIN_MS } from '../../functions/core/limits.ts';
import { lapsesAfterMs } from '../../functions/core/phase.ts';
import { type Flow, openFlow, sendTimes } from '../support/flow.ts';
import { openLaggingFlow } from '../support/lagging-flow.ts';
import { answered } from '../support/world-ports.ts';

const PARTNER = 'partner';
const MINUTE_MS = 60_000;

/** One delivery has failed and waits for its retry; whoever is pushed from now on is behind by so much. */
const failedOnce = async (behindMs: number, loses: Flow['queue']['loses'] = () => false) => {
  const { flow, lag } = openLaggingFlow();
  await flow.destination(PARTNER);
  flow.world.sender.script(answered(500));
  const [event = ''] = await flow.accept(PARTNER, 1);
  await flow.run(1_000);
  const row = await flow.world.row(event, PARTNER);
  if (row.status !== 'pending') throw new Error(row.status);
  lag.ms = behindMs;
  flow.queue.loses = loses;
  flow.startTicks();
  return { flow, event, dueAtMs: row.dueAtMs };
};

describe('a retry that meets a worker whose clock is behind', () => {
  it.each([0, 1_000, 2_000, 3_000, 4_000, SKEW_MARGIN_MS])(
    'by %d ms, is sent seconds later and once, without a sweep',
    async (behindMs) => {
      const { flow, dueAtMs } = await failedOnce(behindMs);
      await flow.run(5 * MINUTE_MS);
      const [, retryAtMs = Number.NaN] = sendTimes(flow);
      expect(sendTimes(flow)).toHaveLength(2);
      expect(retryAtMs - dueAtMs).toBeGreaterThanOrEqual(0);
      expect(retryAtMs - dueAtMs).toBeLessThanOrEqual(behindMs + 3_000);
    },
  );

  it('waits for its sweep where that second message is lost: it is the message that saves the time', async () => {
    let published = 0;
    const { flow, dueAtMs } = await failedOnce(2_000, ({ kind }) => {
      published += Number(kind === 'deliver');
      return kind === 'deliver' && published === 1;
    });
    await flow.run(5 * MINUTE_MS);
    expect((sendTimes(flow)[1] ?? 0) - dueAtMs).toBeGreaterThan(30_000);
  });
});

/**
 * A worker has died behind its claim, and its message is gone. A sweep whose clock is right finds the claim lapsed to the
 * millisecond; whoever meets what it has published is behind by so much, the first, the second and so on.
 */
const diedWithItsClaim = async (
  behindMs: number | readonly number[],
  loses: Flow['queue']['loses'] = () => false,
  flows: Flow[] = [],
) => {
  const { flow, lag } = openLaggingFlow();
  const behind = [behindMs].flat();
  flows.push(flow);
  await flow.destination(PARTNER);
  const { left } = flow.world.sender.hold();
  flow.queue.loses = ({ kind }) => kind === 'deliver';
  const [event = ''] = await flow.accept(PARTNER, 1);
  void flow.world.deliver(event, PARTNER);
  await left;
  const row = await flow.world.row(event, PARTNER);
  if (row.status !== 'claimed') throw new Error(row.status);
  const lapsedAtMs = lapsesAfterMs(row) + 1;
  await flow.run(lapsedAtMs - flow.world.clock.nowMs());
  flow.queue.loses = (message) => {
    if (message.kind === 'deliver') lag.ms = behind.shift() ?? lag.ms;
    return loses(message);
  };
  await flow.world.tick();
  return { flow, event, lapsedAtMs };
};

describe('a message for a claim that has lapsed, at a worker whose clock is behind', () => {
  it.each([0, 1, 1_000, 2_500, 4_000, SKEW_MARGIN_MS])(
    'by %d ms, is taken over seconds later, without another sweep',
    async (behindMs) => {
      const { flow, lapsedAtMs } = await diedWithItsClaim(behindMs);
      await flow.run(5 * MINUTE_MS);
      const [, takenOverAtMs = Number.NaN] = sendTimes(flow);
      expect(sendTimes(flow)).toHaveLength(2);
      expect(takenOverAtMs - lapsedAtMs).toBeLessThanOrEqual(behindMs + 3_000);
    },
  );

  it('waits for the next look where that second message is lost: it is the message that saves the time', async () => {
    let published = 0;
    const { flow, event } = await diedWithItsClaim(2_500, ({ kind }) => {
      published += Number(kind === 'deliver');
      return kind === 'deliver' && published === 2;
    });
    await flow.run(5 * MINUTE_MS);
    expect((await flow.world.row(event, PARTNER)).status).toBe('claimed');
  });

  it('is pushed again, and then taken over, where the queue is away as it would be published once more', async () => {
    let published = 0;
    const flows: Flow[] = [];
    const { flow, lapsedAtMs } = await diedWithItsClaim(
      2_500,
      ({ kind }) => {
        published += Number(kind === 'deliver');
        const { queue, world } = flows[0] ?? {};
        if (published !== 1 || queue === undefined || world === undefined) return false;
        queue.away = true;
        world.clock.after(1_000, () => {
          queue.away = false;
        });
        return false;
      },
      flows,
    );
    await flow.run(5 * MINUTE_MS);
    expect(flow.pushes.map(({ said }) => said)).toContain('later:queue-unavailable');
    expect(sendTimes(flow)).toHaveLength(2);
    expect((sendTimes(flow)[1] ?? 0) - lapsedAtMs).toBeLessThanOrEqual(10_000);
  });

  it('by more than two clocks can differ, is acknowledged and no more', async () => {
    const { flow } = await diedWithItsClaim(SKEW_MARGIN_MS + 1);
    const published = flow.queue.published.length;
    await flow.run(5 * MINUTE_MS);
    expect(flow.queue.published.length - published).toBe(1);
    expect(sendTimes(flow)).toHaveLength(1);
  });

  it('is published again by a third clock that is further behind, though the same seconds seem to be left', async () => {
    // The first leaves 1 s and is published 2 s later; by the second clock, 2 s further behind, 1 s is left then.
    const { flow, lapsedAtMs } = await diedWithItsClaim([1_000, 3_000]);
    await flow.run(5 * MINUTE_MS);
    expect(sendTimes(flow)).toHaveLength(2);
    expect((sendTimes(flow)[1] ?? 0) - lapsedAtMs).toBeLessThanOrEqual(6_000);
  });
});

describe('repeats of a message that come before its time', () => {
  it('write nothing, and make no more than five messages, however many they are', async () => {
    const { flow, event, dueAtMs } = await failedOnce(0);
    const published = flow.queue.published.length;
    const writes = await flow.world.writesOf(async () => {
      while (flow.world.clock.nowMs() < dueAtMs - 100) {
        for (let n = 0; n < 20; n += 1) {
          const again = await flow.world.deliver(event, PARTNER, { messageId: 'm-again' });
          expect(again.body).toEqual({ verdict: 'ack', note: 'early' });
        }
        await flow.run(100);
      }
    });
    expect(writes).toEqual([]);
    expect(flow.queue.published.length - published).toBeLessThanOrEqual(SKEW_MARGIN_MS / 1_000);
    await flow.run(MINUTE_MS);
    expect(sendTimes(flow)).toHaveLength(2);
  });

  it('make none at all when they come earlier than two clocks can differ', async () => {
    const flow = openFlow();
    await flow.destination(PARTNER);
    const deliverAtMs = flow.world.clock.nowMs() + SKEW_MARGIN_MS + 2_000;
    const [event = ''] = await flow.accept(PARTNER, 1, { deliverAtMs });
    const published = flow.queue.published.length;
    for (let n = 0; n < 20; n += 1) await flow.world.deliver(event, PARTNER);
    expect(flow.queue.published.length - published).toBe(0);
  });
});
