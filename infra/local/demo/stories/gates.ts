/** Nothing is stranded: a publish that failed, a destination that is paused, a destination that asks everybody to wait. */
import type { Receiver } from '../../../../functions/receiver/run.ts';
import { check, counts, type Story, told } from '../story.ts';

const UNPUBLISHED = 'unpublished-1';

/** The queue does not take the first message of this one event. */
export const failingFirstPublish = (world: Receiver): Receiver => {
  let failed = false;
  return {
    ...world,
    queue: {
      limits: world.queue.limits,
      publish(publication) {
        if (failed || !publication.body.includes(UNPUBLISHED)) return world.queue.publish(publication);
        failed = true;
        return Promise.resolve({ kind: 'failed', code: 'unavailable', detail: 'the demo said so' });
      },
    },
  };
};

export const publishFailed: Story = {
  title: 'a publish that failed is delivered by the sweep',
  async play(stage) {
    const mailbox = await stage.destination('unpublished', { repeatSafe: true, timeoutMs: 2_000 });
    const { status } = await stage.submit(UNPUBLISHED, 'unpublished');
    const shown = await stage.ended(UNPUBLISHED, 'unpublished');
    return told(
      mailbox,
      `${status}, ${shown.status} without its first message`,
      ...counts(mailbox, 1, 1),
      check('accepted all the same', status === 202),
      check('recorded as delivered', shown.status === 'delivered'),
    );
  },
};

export const pauseHolds: Story = {
  title: 'a paused destination holds, and drains when resumed',
  async play(stage) {
    const mailbox = await stage.destination('on-holiday', { repeatSafe: true });
    const ids = ['h-1', 'h-2', 'h-3', 'h-4', 'h-5'];
    await stage.decide('/v1/destinations/on-holiday/pause', { reason: 'the demo pauses it' });
    await Promise.all(ids.map((id) => stage.submit(id, 'on-holiday')));
    await Promise.all(ids.map((id) => stage.until(id, 'on-holiday', (shown) => shown.reason === 'paused')));
    const whilePaused = mailbox.requestCount;
    await stage.decide('/v1/destinations/on-holiday/resume', { reason: 'the demo is over its holiday' });
    const shown = await Promise.all(ids.map((id) => stage.ended(id, 'on-holiday')));
    return told(
      mailbox,
      `${whilePaused} sent while paused, then ${shown.filter((one) => one.status === 'delivered').length} delivered`,
      ...counts(mailbox, 5, 5),
      check('nothing was sent while it was paused', whilePaused === 0),
      check(
        'no budget was spent by waiting',
        shown.every((one) => one.attempts === 1),
      ),
      check(
        'all are delivered',
        shown.every((one) => one.status === 'delivered'),
      ),
    );
  },
};

const CLOSED_SEC = 3;

export const closedForAll: Story = {
  title: 'one 429 closes the destination for all',
  async play(stage) {
    const mailbox = await stage.destination('overrun', { repeatSafe: true, schedule: [1, 1] });
    stage.partner.script('overrun', [{ status: 429, headers: { 'retry-after': String(CLOSED_SEC) } }, { status: 200 }]);
    await stage.submit('o-0', 'overrun');
    await stage.until('o-0', 'overrun', (shown) => shown.journal.some((entry) => entry.class === 'throttled'));
    const ids = ['o-1', 'o-2', 'o-3'];
    await Promise.all(ids.map((id) => stage.submit(id, 'overrun')));
    const shown = await Promise.all(['o-0', ...ids].map((id) => stage.ended(id, 'overrun')));
    const [refused, ...later] = mailbox.requests;
    const earliestMs = Math.min(...later.map((request) => request.atMs - (refused?.atMs ?? 0)));
    return told(
      mailbox,
      `nobody before ${(earliestMs / 1_000).toFixed(1)} s`,
      ...counts(mailbox, 5, 4),
      check('nobody came before the time that was asked for', earliestMs >= CLOSED_SEC * 1_000),
      check(
        'only the refused attempt was spent',
        shown.slice(1).every((one) => one.attempts === 1),
      ),
      check(
        'all are delivered',
        shown.every((one) => one.status === 'delivered'),
      ),
    );
  },
};
