/** Clients that hand events in, and people who decide: they repeat what has had no answer, as the documents tell them. */
import { type DestinationResult, destinationBody } from '../../functions/core/destination-input.ts';
import {
  type DestinationId,
  type EventId,
  parseDestinationId,
  parseEventId,
  parseRequestId,
  type RequestId,
} from '../../functions/core/ids.ts';
import { causeOf } from '../../functions/core/journal.ts';
import { memberOf, readJson } from '../../functions/core/json-tree.ts';
import { readSubmission } from '../../functions/core/submission.ts';
import { deleteDestination } from '../../functions/operator/commands/delete-destination.ts';
import { decideDelivery, type Wish } from '../../functions/operator/commands/deliveries.ts';
import { putDestination } from '../../functions/operator/commands/destinations.ts';
import { pauseDestination, resumeDestination } from '../../functions/operator/commands/pause.ts';
import { planRedrive } from '../../functions/operator/commands/redrives.ts';
import { replayEvent } from '../../functions/operator/commands/replay.ts';
import { runRedrive, stopRedrive } from '../../functions/operator/commands/run-redrive.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { accept } from '../../functions/steps/accept.ts';
import type { Deed, DestinationPlan, EventPlan } from './plan.ts';
import { portsOf, type Surroundings } from './ports.ts';
import type { Actor } from './stage.ts';

const idOf = <Id>(
  read: { readonly kind: 'ok'; readonly id: Id } | { readonly kind: 'bad'; readonly reason: string },
): Id => {
  if (read.kind === 'bad') throw new TypeError(`the id ${read.reason}`);
  return read.id;
};
export const eventIdOf = (text: string): EventId => idOf(parseEventId(text));
export const destinationIdOf = (text: string): DestinationId => idOf(parseDestinationId(text));
const requestOf = (text: string): RequestId => idOf(parseRequestId(text));

/** The settings of a destination, through the real shape of the body. */
export const settingsOf = (
  plan: DestinationPlan,
  signingSecret?: string,
): Extract<DestinationResult, { kind: 'ok' }> => {
  const {
    schedule,
    signingSecret: _secret,
    ...body
  } = destinationBody.parse({
    url: `https://${plan.id}.example/hook`,
    repeatSafe: plan.repeatSafe,
    keyLifeHours: plan.keys === 'forgets-after' ? plan.forgetsAfterHours : null,
    schedule: plan.scheduleSec,
    timeoutMs: plan.timeoutMs,
    ...(plan.ratePerSecond === undefined ? {} : { ratePerSecond: plan.ratePerSecond }),
    ...(plan.concurrency === undefined ? {} : { concurrency: plan.concurrency }),
    rejectOn: plan.rejectOn,
    acceptFromQueue: true,
    mode: plan.mode,
    notices: plan.notices === true,
  });
  const { ratePerSecond, concurrency, notices, ...rest } = body;
  const settings = {
    ...rest,
    destination: destinationIdOf(plan.id),
    scheduleSec: schedule,
    ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(notices ? { notices } : {}),
  };
  return { kind: 'ok', settings, ...(signingSecret === undefined ? {} : { signingSecret }) };
};

export type Sense = 'first' | 'again' | 'conflict';

export const textOfEvent = ({ id, destinations, deliverInMs }: EventPlan, payload: string, nowMs: number): string => {
  const wish = deliverInMs === undefined ? '' : `,"deliverAt":${nowMs + deliverInMs}`;
  return `{"id":${JSON.stringify(id)},"payload":${payload},"destinations":${JSON.stringify(destinations)}${wish}}`;
};

export class People {
  readonly #around: Surroundings;
  /** What has had no answer: repeated until it has one. */
  waiting = 0;
  /** What everybody's settings are by now. */
  readonly #settings = new Map<string, DestinationPlan>();
  readonly #bug: (actor: Actor, error: unknown) => void;

  constructor(around: Surroundings, bug: (actor: Actor, error: unknown) => void) {
    this.#around = around;
    this.#bug = bug;
    for (const plan of around.stage.plan.destinations) this.#settings.set(plan.id, plan);
  }

  /** Hands in an event at the API and repeats it until there is an answer. */
  submit(event: EventPlan, payload: string, sense: Sense): void {
    const { stage, queue } = this.#around;
    const text = textOfEvent(event, payload, stage.nowMs);
    const { id, by: via } = event;
    if (via === 'queue') {
      stage.note(undefined, { kind: 'submitted', event: id, via, sense });
      queue.publishFrom(`{"kind":"event","format":1,"event":${text}}`);
      stage.note(undefined, { kind: 'told', event: id, via, sense, what: 'accepted' });
      return;
    }
    this.#untilAnswered(
      'client',
      (actor) => {
        stage.note(actor, { kind: 'submitted', event: id, via, sense });
        return this.#accept(actor, text);
      },
      (actor, what) => stage.note(actor, { kind: 'told', event: id, via, sense, what }),
    );
  }

  async #accept(actor: Actor, text: string): Promise<string> {
    const world = portsOf(this.#around, actor);
    const document = readJson(Buffer.from(text));
    if (document.kind === 'bad') throw new TypeError(document.reason);
    const read = readSubmission(document, document.root, world.clock.nowMs());
    if (read.kind === 'bad') throw new TypeError(`${read.field} ${read.reason}`);
    if (memberOf(document.root, 'id') === undefined) throw new TypeError('no id');
    const publishUntilMs = world.clock.nowMs() + 10_000;
    const source = { kind: 'api', cause: causeOf('api', world.dice.id()), publishUntilMs } as const;
    return (await accept(world, read.submission, source)).kind;
  }

  #untilAnswered(
    role: 'client' | 'person',
    work: (actor: Actor) => Promise<string>,
    told: (actor: Actor, what: string) => void,
  ): void {
    const { stage } = this.#around;
    this.waiting += 1;
    let tries = 0;
    // Twice as long each time, as clients do, up to ten minutes.
    const pauseMs = (): number => Math.min(1_000 * 2 ** tries, 600_000) * (1 + stage.draws.next('again'));
    const once = (): void => {
      tries += 1;
      const actor = stage.actor(role);
      let repeated = false;
      const again = (afterMs: number): void => {
        if (repeated) return;
        repeated = true;
        stage.clockwork.at(stage.nowMs + afterMs, once);
      };
      actor.onDeath = () => again(Math.floor(pauseMs()));
      work(actor).then(
        (what) => {
          if (actor.dead || repeated) return;
          actor.ended = true;
          this.waiting -= 1;
          told(actor, what);
        },
        (error: unknown) => {
          if (actor.dead || repeated) return;
          actor.ended = true;
          if (error instanceof PortUnavailable) return again(Math.floor(pauseMs()));
          this.waiting -= 1;
          this.#bug(actor, error);
        },
      );
      // Nobody waits longer for an answer than this; the work may still go on.
      stage.clockwork.at(stage.nowMs + 60_000, () => {
        if (actor.ended || actor.dead || repeated) return false;
        return void again(0);
      });
    };
    once();
  }

  /** Sends a request of a person, perhaps twice at once, until it is answered. */
  ask(request: string, deed: Deed, twice: boolean): void {
    const { stage } = this.#around;
    const send = (): void =>
      this.#untilAnswered(
        'person',
        (actor) => {
          stage.note(actor, { kind: 'asked', request, deed });
          return this.#act(actor, request, deed);
        },
        (actor, what) => {
          stage.note(actor, { kind: 'decided', request, what });
          if (deed.do === 'operation' && what === 'planned') this.#runOperation(request, deed);
        },
      );
    send();
    if (!twice) return;
    stage.fates.count('asked-twice');
    stage.clockwork.at(stage.nowMs + Math.floor(stage.draws.next('twice') * 40), send);
  }

  #runOperation(request: string, deed: Extract<Deed, { do: 'operation' }>): void {
    const { stage } = this.#around;
    const order = (command: 'run' | 'stop'): void =>
      this.#untilAnswered(
        'person',
        async (actor) => {
          const world = portsOf(this.#around, actor);
          const asked = {
            request: requestOf(`${request}-${command}`),
            actor: 'ann',
            reason: 'it is well again',
            operation: this.#operations.get(request) ?? '',
          };
          const done = await (command === 'run' ? runRedrive(world, asked) : stopRedrive(world, asked));
          return done.kind === 'refused' ? `refused ${done.code}` : done.kind;
        },
        (actor, what) => stage.note(actor, { kind: 'decided', request: `${request}-${command}`, what }),
      );
    order('run');
    if (deed.stopAfterMs !== undefined) stage.clockwork.at(stage.nowMs + deed.stopAfterMs, () => order('stop'));
  }

  readonly #operations = new Map<string, string>();

  resumeAll(request: string): void {
    for (const { id } of this.#around.stage.plan.destinations) {
      this.ask(`${request}-${id}`, { do: 'resume', destination: id }, false);
    }
  }

  async #act(actor: Actor, request: string, deed: Deed): Promise<string> {
    const world = portsOf(this.#around, actor);
    const asked = { request: requestOf(request), actor: 'ann', reason: 'as agreed' };
    switch (deed.do) {
      case 'pause':
        return (await pauseDestination(world, { ...asked, destination: destinationIdOf(deed.destination) })).kind;
      case 'resume':
        return (await resumeDestination(world, { ...asked, destination: destinationIdOf(deed.destination) })).kind;
      case 'delete':
        return (await deleteDestination(world, { ...asked, destination: destinationIdOf(deed.destination) })).kind;
      case 'edit':
        return this.#put(actor, deed.destination, deed.change);
      case 'rotate-secret':
        return this.#put(actor, deed.destination, {}, this.#newSecret(deed.destination, request));
      case 'replay':
        return (await replayEvent(world, { ...asked, event: eventIdOf(deed.event) })).kind;
      case 'operation': {
        const { source, acceptSecondEffect } = deed;
        const wish = {
          source,
          acceptSecondEffect,
          limit: 20,
          recoveryMinutes: 60,
          stopAbove: 0.5,
          actor: 'ann',
          why: 'well',
        };
        const planned = await planRedrive(world, requestOf(request), wish);
        if (planned.kind === 'planned') this.#operations.set(request, planned.operation.operation);
        return planned.kind;
      }
      case 'redrive':
      case 'resolve':
      case 'cancel': {
        const of = { ...asked, event: eventIdOf(deed.event), destination: destinationIdOf(deed.destination) };
        const done = await decideDelivery(world, { ...of, wish: wishOf(deed) });
        return done.kind === 'refused' ? `refused ${done.code}` : done.kind;
      }
    }
  }

  #newSecret(destination: string, request: string): string {
    const secret = `whsec_${Buffer.from(`${destination} ${request} `.padEnd(32, '*')).subarray(0, 32).toString('base64')}`;
    const known = this.#around.destinations.secrets.get(destination) ?? [];
    if (!known.includes(secret)) this.#around.destinations.secrets.set(destination, [...known, secret]);
    return secret;
  }

  async #put(actor: Actor, destination: string, change: Partial<DestinationPlan>, secret?: string): Promise<string> {
    const before = this.#settings.get(destination);
    if (before === undefined) throw new Error(`nobody knows ${destination}`);
    const next = { ...before, ...change };
    this.#settings.set(destination, next);
    return (await putDestination(portsOf(this.#around, actor), settingsOf(next, secret))).kind;
  }
}

const wishOf = (deed: Extract<Deed, { do: 'redrive' | 'resolve' | 'cancel' }>): Wish => {
  switch (deed.do) {
    case 'redrive':
      return { command: 'redrive', grant: deed.grant, acceptSecondEffect: deed.acceptSecondEffect };
    case 'resolve':
      return { command: 'resolve', as: deed.as, evidence: 'they say so' };
    case 'cancel':
      return { command: 'cancel' };
  }
};
