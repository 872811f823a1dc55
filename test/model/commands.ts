/** What may happen to the product, in any order: each as a command for model and product side by side. */
import * as fc from 'fast-check';
import { DESTINATIONS, type DestinationName, EVENTS, type EventName, type Promised } from './promise.ts';
import { PLAYS, type Play, type Real } from './real.ts';

export class Broken extends Error {}

abstract class Step implements fc.AsyncCommand<Promised, Real> {
  check(_model: Readonly<Promised>): boolean {
    return true;
  }

  async run(model: Promised, real: Real): Promise<void> {
    await this.act(model, real);
    const broken = await real.judge(model);
    if (broken.length > 0) throw new Broken(broken.join('; '));
  }

  abstract act(model: Promised, real: Real): Promise<unknown>;
  abstract toString(): string;
}

const step = (name: string, act: (model: Promised, real: Real) => Promise<unknown>): Step => {
  class Named extends Step {
    act = act;
    toString = () => name;
  }
  return new Named();
};

const dutyOf = (model: Promised, event: EventName, destination: DestinationName) => {
  const duty = model.duties.find((one) => one.event === event && one.destination === destination);
  if (duty === undefined) throw new Error('no such duty');
  return duty;
};

const submit = (event: EventName, other: boolean, crashAt: number | undefined): Step =>
  step(
    `submit ${event}${other ? ', other content' : ''}${crashAt ? `, crash at ${crashAt}` : ''}`,
    async (model, real) => {
      const payload = other ? { id: event, other: true } : { id: event };
      for (const name of DESTINATIONS) dutyOf(model, event, name).asked = true;
      let status = 0;
      await real.crashing(async () => {
        status = (await real.world.submit({ id: event, payload, destinations: DESTINATIONS })).status;
      }, crashAt);
      if (status !== 202) return;
      for (const destination of DESTINATIONS) dutyOf(model, event, destination).promised = true;
    },
  );

const push = (event: EventName, destination: DestinationName, crashAt: number | undefined): Step =>
  step(`push ${event} to ${destination}${crashAt ? `, crash at ${crashAt}` : ''}`, (_model, real) =>
    real.crashing(() => real.world.deliver(event, destination), crashAt),
  );

const pass = (ms: number): Step => step(`${ms / 1_000} s pass`, (_model, real) => real.world.run(ms));
const stall = (ms: number): Step =>
  step(`${ms / 1_000} s without a push`, (_model, real) => real.world.clock.advance(ms));
const lose = step('the queue loses all messages', async (_model, real) => real.world.queue.loseAll());
const tick = step('tick', (_model, real) => real.world.finish(real.world.tick()));
const play = (next: Play): Step =>
  step(`next time the partner: ${next}`, async (_model, real) => real.plays.push(next));

const person = (
  name: string,
  path: string,
  right: 'pause' | 'resend' | 'decide',
  body: object,
  before: (model: Promised) => void,
  after: (model: Promised) => void = () => {},
): Step =>
  step(name, async (model, real) => {
    model.requests += 1;
    before(model);
    const { world } = real;
    const headers = { 'idempotency-key': `r-${model.requests}` };
    const asked = world.call('operator', 'POST', path, {
      token: world.token(right),
      headers,
      body: { reason: 'so', ...body },
    });
    const { status } = await world.finish(asked);
    if (status < 300) after(model);
  });

const pause = (destination: DestinationName): Step =>
  person(
    `pause ${destination}`,
    `/v1/destinations/${destination}/pause`,
    'pause',
    {},
    () => {},
    (model) => {
      model.paused.add(destination);
    },
  );
const resume = (destination: DestinationName): Step =>
  person(`resume ${destination}`, `/v1/destinations/${destination}/resume`, 'pause', {}, (model) => {
    model.paused.delete(destination);
  });

const decide = (
  event: EventName,
  destination: DestinationName,
  wish: 'redrive' | 'accept' | 'deny' | 'done' | 'cancel',
): Step => {
  const path = `/v1/events/${event}/deliveries/${destination}`;
  const settle = (accepted: number, grant: number) => (model: Promised) => {
    const duty = dutyOf(model, event, destination);
    duty.accepted += accepted;
    duty.grants += grant;
    if (accepted > 0) duty.inDoubt = false;
  };
  switch (wish) {
    case 'redrive':
      return person(
        `redrive ${event} to ${destination}`,
        `${path}/redrive`,
        'resend',
        { grant: 1 },
        () => {},
        settle(0, 1),
      );
    case 'accept':
      return person(
        `redrive ${event} to ${destination}, a second effect accepted`,
        `${path}/redrive`,
        'resend',
        { grant: 1, acceptSecondEffect: true },
        () => {},
        settle(1, 1),
      );
    case 'deny':
      return person(
        `resolve ${event} to ${destination}: not delivered`,
        `${path}/resolve`,
        'decide',
        { as: 'not-delivered', evidence: 'seen' },
        () => {},
        settle(1, 0),
      );
    case 'done':
      return person(
        `resolve ${event} to ${destination}: delivered`,
        `${path}/resolve`,
        'decide',
        { as: 'delivered', evidence: 'seen' },
        () => {},
      );
    case 'cancel':
      return person(`cancel ${event} to ${destination}`, `${path}/cancel`, 'decide', {}, () => {});
  }
};

const event = fc.constantFrom(...EVENTS);
const destination = fc.constantFrom(...DESTINATIONS);
const crashAt = fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined, freq: 2 });

export const anySteps = fc.commands(
  [
    fc.tuple(event, fc.boolean(), crashAt).map((args) => submit(...args)),
    fc.tuple(event, fc.constant(false), fc.constant(undefined)).map((args) => submit(...args)),
    fc.tuple(event, destination, crashAt).map((args) => push(...args)),
    fc.tuple(event, destination, fc.constant(undefined)).map((args) => push(...args)),
    fc.constantFrom(100, 3_000, 40_000).map(pass),
    fc.constantFrom(3_000, 40_000, 1_200_000).map(stall),
    fc.constantFrom(lose, tick),
    fc.constantFrom(...(Object.keys(PLAYS) as Play[])).map(play),
    destination.map(pause),
    destination.map(resume),
    fc
      .tuple(event, destination, fc.constantFrom('redrive', 'accept', 'deny', 'done', 'cancel'))
      .map(([which, where, wish]) => decide(which, where, wish as 'redrive')),
  ],
  { maxCommands: 30 },
);

const ROUNDS_MAX = 60;

/** All is well from now on: every destination is open, the partner does all, and the schedule runs. */
export const untilRest = async (model: Promised, real: Real): Promise<readonly string[]> => {
  real.plays.length = 0;
  for (const name of DESTINATIONS) await resume(name).run(model, real);
  const open = async (): Promise<readonly string[]> => {
    const rows = await Promise.all(model.duties.map((duty) => real.row(duty)));
    return rows.flatMap((row) =>
      row?.status === 'pending' || row?.status === 'claimed'
        ? [`${row.event} to ${row.destination} is ${row.status} for ever`]
        : [],
    );
  };
  for (let round = 0; round < ROUNDS_MAX && (await open()).length > 0; round += 1) {
    await tick.run(model, real);
    await pass(60_000).run(model, real);
    await stall(20 * 60_000).run(model, real);
  }
  return open();
};
