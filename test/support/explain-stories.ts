/** Ten lives of a delivery, each brought to where a person asks about it. They are told in `functions/operator/EXPLAIN.md`. */
import { decideBy } from './decisions.ts';
import { openTestWorld, type TestWorld } from './world.ts';
import { answered, unanswered } from './world-ports.ts';
import { EVENT, opened, PARTNER, sending } from './world-states.ts';

export interface ExplainStory {
  readonly title: string;
  /** What a person would want to know. */
  readonly asks: string;
  readonly live: () => Promise<TestWorld>;
}

const UNSAFE = { repeatSafe: false } as const;
const DELIVERY = `/v1/events/${EVENT}/deliveries/${PARTNER}`;

const decide = (world: TestWorld, verb: string, right: 'resend' | 'decide', body: Readonly<Record<string, unknown>>) =>
  decideBy(world, { path: `${DELIVERY}/${verb}`, right, body: { reason: 'no reason', ...body } }, `${verb}-1`);

const push = (world: TestWorld, messageId: string) => world.deliver(EVENT, PARTNER, { messageId });

const inDoubt = async (): Promise<TestWorld> => {
  const world = await opened(openTestWorld(), UNSAFE);
  world.sender.script(unanswered('timeout'));
  await push(world, 'qmsg_1');
  await world.clock.advance(3_600_000);
  return world;
};

export const EXPLAIN_STORIES: readonly ExplainStory[] = [
  {
    title: 'Delivered at the first attempt',
    asks: 'Did it arrive?',
    live: async () => {
      const world = await opened(openTestWorld());
      await push(world, 'qmsg_1');
      return world;
    },
  },
  {
    title: 'Pushed three times',
    asks: 'The queue delivered the message three times. Did the customer get three calls?',
    live: async () => {
      const world = await opened(openTestWorld());
      for (const id of ['qmsg_1', 'qmsg_2', 'qmsg_1']) await push(world, id);
      return world;
    },
  },
  {
    title: 'A time-out where a repeat is safe',
    asks: 'There were two calls. Was it one effect?',
    live: async () => {
      const world = await opened(openTestWorld());
      world.sender.script(unanswered('timeout'), answered(200));
      await push(world, 'qmsg_1');
      await world.clock.advance(60_000);
      await push(world, 'qmsg_2');
      return world;
    },
  },
  {
    title: 'A time-out where a repeat is not safe',
    asks: 'Why does it not go on?',
    live: inDoubt,
  },
  {
    title: 'Resolved by a person',
    asks: 'Who says that it was delivered, and how do they know?',
    live: async () => {
      const world = await inDoubt();
      await decide(world, 'resolve', 'decide', {
        reason: 'customer 4711 called',
        as: 'delivered',
        evidence: 'receipt 4711 in their books',
      });
      return world;
    },
  },
  {
    title: 'Waiting for its next attempt',
    asks: 'Why is it waiting, and until when?',
    live: async () => {
      const world = await opened(openTestWorld());
      world.sender.script(answered(500), answered(503, { retryAfter: ['120'] }));
      await push(world, 'qmsg_1');
      await world.clock.advance(10_000);
      await push(world, 'qmsg_2');
      return world;
    },
  },
  {
    title: 'Out of budget, redriven with a grant',
    asks: 'It had given up. Why was it sent again, and by whom?',
    live: async () => {
      const world = await opened(openTestWorld(), { schedule: [] });
      world.sender.script(answered(500), answered(200));
      await push(world, 'qmsg_1');
      await world.clock.advance(3_600_000);
      await decide(world, 'redrive', 'resend', { reason: 'their outage is over', grant: 2 });
      await push(world, 'qmsg_2');
      return world;
    },
  },
  {
    title: 'Parked at a paused destination',
    asks: 'What does it wait for?',
    live: async () => {
      const world = await opened(openTestWorld());
      await world.call('operator', 'POST', `/v1/destinations/${PARTNER}/pause`, {
        token: world.token('pause'),
        headers: { 'idempotency-key': 'pause-1' },
        body: { reason: 'their maintenance until noon' },
      });
      await push(world, 'qmsg_1');
      return world;
    },
  },
  {
    title: 'A worker that came back late',
    asks: 'Its worker was cut off, and another took over. What did each of them do?',
    live: async () => {
      const world = await opened(openTestWorld());
      const held = await sending(world);
      await world.clock.advance(36_000);
      world.sender.script(answered(500));
      await push(world, 'qmsg_2');
      held.answer(answered(200));
      await world.finish(held.push);
      return world;
    },
  },
  {
    title: 'Cancelled, and perhaps there all the same',
    asks: 'It was cancelled. Can it have arrived?',
    live: async () => {
      const world = await inDoubt();
      await decide(world, 'cancel', 'decide', { reason: 'the order was refunded' });
      return world;
    },
  },
];
