/** The product over the twin, with a dead-letter queue that has manners, and the routes of redrives as verbs. */
import * as z from 'zod/mini';
import type { Receiver } from '../../functions/receiver/run.ts';
import { type LeasedDeadLetters, type LeasedOptions, leasedDeadLetters } from './dead-letters.ts';
import { type Answered, deliverMessage, openTestWorld, type TestWorld } from './world.ts';
import { answered, unanswered } from './world-ports.ts';

const shownMessage = z.object({
  position: z.number(),
  messageId: z.optional(z.string()),
  event: z.optional(z.string()),
  destination: z.optional(z.string()),
  finding: z.string(),
  detail: z.string(),
  plannedAs: z.optional(z.string()),
  last: z.optional(z.object({ class: z.string(), status: z.optional(z.number()), durationMs: z.optional(z.number()) })),
  action: z.optional(z.string()),
  result: z.optional(z.string()),
  attempt: z.optional(z.number()),
});
export type ShownMessage = z.infer<typeof shownMessage>;

const shown = z.object({
  operation: z.string(),
  state: z.string(),
  startedBecause: z.optional(z.string()),
  stoppedBecause: z.optional(z.string()),
  stalled: z.optional(z.string()),
  found: z.record(z.string(), z.number()),
  complete: z.boolean(),
  incomplete: z.optional(z.string()),
  contradiction: z.optional(z.string()),
  estimateMs: z.number(),
  tooSlow: z.boolean(),
  deadBefore: z.optional(z.number()),
  deadAfter: z.optional(z.number()),
  planned: z.number(),
  progress: z.record(z.string(), z.number()),
  mismatch: z.optional(z.object({ expected: z.number(), counted: z.number(), says: z.string() })),
  messages: z.array(shownMessage),
  next: z.optional(z.string()),
});
export type ShownOperation = z.infer<typeof shown>;

export interface RedriveWorld {
  readonly world: TestWorld;
  readonly dead: LeasedDeadLetters;
  plan(body?: Readonly<Record<string, unknown>>, key?: string): Promise<ShownOperation>;
  planAnswer(body?: Readonly<Record<string, unknown>>, key?: string): Promise<Answered>;
  run(operation: string, key?: string): Promise<Answered>;
  stop(operation: string, key?: string): Promise<Answered>;
  show(operation: string, query?: string): Promise<ShownOperation>;
  /** Planned, run, and everything pushed until nothing moves any more. */
  through(body?: Readonly<Record<string, unknown>>, ms?: number): Promise<ShownOperation>;
  /** An event for one destination whose message is dead, under an id that names it. */
  deadLetter(event: string, destination?: string): Promise<void>;
}

export interface RedriveOptions extends LeasedOptions {
  readonly reshape?: (ports: Receiver) => Receiver;
}

export const openRedriveWorld = (options: RedriveOptions = {}): RedriveWorld => {
  const clock = { nowMs: (): number => world.clock.nowMs() };
  let returns = 0;
  const dead = leasedDeadLetters(
    clock,
    async (messageId, body) => {
      returns += 1;
      // The queue moves it by itself: it makes no difference whether anybody can publish at the moment.
      const { away } = world.queue;
      world.queue.away = false;
      const published = world.queue.publish({ key: `return ${returns}`, body, delaySec: 0 });
      world.queue.away = away;
      await published;
      // A message keeps its id when it is put back.
      Object.assign(world.queue.published.at(-1) ?? {}, { messageId });
    },
    options,
  );
  const world: TestWorld = openTestWorld({
    reshape: (ports) => {
      const mine = { ...ports, deadLetters: dead };
      return options.reshape?.(mine) ?? mine;
    },
  });
  let keys = 0;
  const keyOf = (key: string | undefined): string => {
    keys += 1;
    return key ?? `key-${keys}`;
  };
  const post = (path: string, body: unknown, key: string | undefined): Promise<Answered> =>
    world.call('operator', 'POST', path, {
      token: world.token('resend'),
      body,
      headers: { 'Idempotency-Key': keyOf(key) },
    });
  const verbs: Omit<RedriveWorld, 'world' | 'dead'> = {
    planAnswer: (body, key) =>
      post('/v1/redrives', { source: 'dead-letters', limit: 100, why: 'they are back', ...body }, key),
    plan: async (body, key) => shownIn(await verbs.planAnswer(body, key)),
    run: (operation, key) => post(`/v1/redrives/${operation}/run`, { reason: 'the plan is right' }, key),
    stop: (operation, key) => post(`/v1/redrives/${operation}/stop`, { reason: 'enough' }, key),
    show: async (operation, query = '') =>
      shownIn(await world.call('operator', 'GET', `/v1/redrives/${operation}${query}`, { token: world.token('view') })),
    through: async (body, ms = 300_000) => {
      const { operation } = await verbs.plan(body);
      const started = await verbs.run(operation);
      if (started.status !== 200) throw new Error(`not run: ${started.text}`);
      await world.run(ms);
      return verbs.show(operation);
    },
    deadLetter: async (event, destination = 'partner') => {
      await world.accepted(event, destination);
      world.queue.loseAll();
      dead.add(`m-${event}`, deliverMessage(event, destination));
    },
  };
  return { world, dead, ...verbs };
};

export const shownIn = (answer: Answered): ShownOperation => {
  if (answer.status >= 300) throw new Error(`status ${answer.status}: ${answer.text}`);
  return z.parse(shown, answer.body);
};

/** A destination with as many deliveries whose messages are dead: `e-1`, `e-2` ... */
export const partnerWith = async (
  count: number,
  settings: Readonly<Record<string, unknown>> = {},
  options: RedriveOptions = {},
): Promise<RedriveWorld> => {
  const redrives = openRedriveWorld(options);
  await redrives.world.destination('partner', settings);
  for (let n = 1; n <= count; n += 1) await redrives.deadLetter(`e-${n}`);
  return redrives;
};

/** The answer of a route that refuses. Throws where it has written, or asked the queue, all the same. */
export const refusedBy = async (
  { world, dead }: RedriveWorld,
  ask: () => Promise<Answered>,
): Promise<Pick<Answered, 'status' | 'body'>> => {
  const [writes, asked] = [world.store.writes.length, dead.asked.length];
  const { status, body } = await ask();
  if (world.store.writes.length > writes)
    throw new Error(`it has written: ${JSON.stringify(world.store.writes.at(-1))}`);
  if (dead.asked.length > asked) throw new Error(`it has asked the queue: ${dead.asked.at(-1)}`);
  return { status, body };
};

/** The message of a plan that is about this letter. */
export const messageOf = ({ messages }: Pick<ShownOperation, 'messages'>, messageId: string): ShownMessage => {
  const found = messages.find((message) => message.messageId === messageId);
  if (found === undefined) throw new Error(`no ${messageId} among ${messages.map((one) => one.messageId).join(', ')}`);
  return found;
};

/** One dead letter of every sort that can be met; gives the ids by what a plan must say of them. */
export const mixedDeadLetters = async ({ world, dead, deadLetter }: RedriveWorld) => {
  await world.destination('partner', { acceptFromQueue: true });
  await world.destination('once', { repeatSafe: false });
  await world.destination('short', { keyLifeHours: 0.006, schedule: [1], timeoutMs: 1_000 });
  await world.destination('brief', { schedule: [] });
  await world.destination('shut');

  await deadLetter('delivered');
  await world.deliver('delivered', 'partner');
  await deadLetter('cancelled');
  await decide(world, 'cancelled', 'partner', 'cancel', { reason: 'a mistake' });
  await deadLetter('waiting');
  await deadLetter('spent', 'brief');
  world.sender.script(answered(500));
  await world.deliver('spent', 'brief');
  await deadLetter('unsafe', 'once');
  world.sender.script(unanswered('timeout'));
  await world.deliver('unsafe', 'once');
  await deadLetter('forgotten', 'short');
  world.sender.script(answered(500));
  await world.deliver('forgotten', 'short');
  await deadLetter('rejected');
  world.sender.script(answered(422));
  await world.deliver('rejected', 'partner');
  await deadLetter('paused', 'shut');
  await world.call('operator', 'POST', '/v1/destinations/shut/pause', {
    token: world.token('pause'),
    body: { reason: 'their maintenance' },
    headers: { 'Idempotency-Key': 'pause-shut' },
  });
  await world.clock.advance(60_000);
  world.queue.loseAll();
  await deadLetter('busy');
  const held = world.sender.hold();
  const attempt = world.deliver('busy', 'partner');
  await held.left;

  const whole = { id: 'whole', payload: { n: 7 }, destinations: ['partner'] };
  dead.add('m-whole', { kind: 'event', format: 1, event: whole });
  dead.add('m-homeless', { kind: 'event', format: 1, event: { ...whole, id: 'homeless', destinations: ['nowhere'] } });
  dead.add('m-broken', { kind: 'deliver', format: 1, event: 7 });
  dead.add('m-nobody', deliverMessage('nobody', 'partner'));
  dead.add('m-strange', { order: 17 });
  dead.add('m-newer', { kind: 'teleport', format: 1 });
  dead.add('m-tick', { kind: 'sweep', format: 1, shard: 0, tick: 1, page: 0 });
  return {
    endBusy: async () => {
      held.answer(answered(200));
      await attempt;
    },
    expected: {
      'm-delivered': 'drop',
      'm-cancelled': 'drop',
      'm-waiting': 'redrive',
      'm-spent': 'over-budget',
      'm-unsafe': 'second-effect',
      'm-forgotten': 'key-expired',
      'm-rejected': 'drop',
      'm-paused': 'paused',
      'm-busy': 'in-flight',
      'm-whole': 'accept',
      'm-homeless': 'accept',
      'm-broken': 'poison',
      'm-nobody': 'poison',
      'm-strange': 'foreign',
      'm-newer': 'unknown',
      'm-tick': 'drop',
    },
  };
};

export const decide = (
  world: TestWorld,
  event: string,
  destination: string,
  command: 'cancel' | 'resolve' | 'redrive',
  body: Readonly<Record<string, unknown>>,
): Promise<Answered> =>
  world.call('operator', 'POST', `/v1/events/${event}/deliveries/${destination}/${command}`, {
    token: world.token(command === 'redrive' ? 'resend' : 'decide'),
    body,
    headers: { 'Idempotency-Key': `${command}-${event}` },
  });
