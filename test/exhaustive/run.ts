/**
 * One run: the cast on its stage, first by choices, then left alone until everything has come to rest.
 *
 *   start -> choice, choice, ... until nobody waits -> quiet phase: time moves, messages are pushed, sweeps look -> rest
 */
import type { RequestId, WriteId } from '../../functions/core/ids.ts';
import type { Input } from '../../functions/core/inputs.ts';
import type { Destination } from '../../functions/core/items.ts';
import { causeOf } from '../../functions/core/journal.ts';
import { dueShard, outgoingKey } from '../../functions/core/keys.ts';
import { DUE_SHARDS } from '../../functions/core/limits.ts';
import { type DrainMessage, type Message, readMessage } from '../../functions/core/message.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { PortUnavailable, type Publication } from '../../functions/ports.ts';
import { drain } from '../../functions/receiver/drain.ts';
import { deliver } from '../../functions/receiver/receive.ts';
import type { Run as PushRun } from '../../functions/receiver/run.ts';
import { sweep } from '../../functions/receiver/sweep.ts';
import { pauseFor } from '../../functions/steps/gate.ts';
import { resume } from '../../functions/steps/resume.ts';
import { transition } from '../../functions/steps/transition.ts';
import { portsOf, type Shared } from './gated-ports.ts';
import type { LogEntry } from './log.ts';
import { Partner } from './partner.ts';
import { type Beginning, beginningOf, itemsOf, type Part, REF, type Scene, START_MS } from './scene.ts';
import { type Actor, Stage } from './stage.ts';
import { nameOf, rawStore, type Store } from './store.ts';

interface Published {
  readonly message: Message;
  readonly dueAtMs: number;
  readonly by: string;
}

/** What judges look at. */
export interface Ended {
  readonly scene: Scene;
  readonly beginning: Beginning;
  readonly log: readonly LogEntry[];
  readonly row: Delivery;
  /** Nothing is left to do, or the row waits visibly. */
  readonly atRest: boolean;
  /** Errors that no code expected. */
  readonly bugs: readonly string[];
}

const QUIET_STEPS_MAX = 80;
const SHARD = dueShard(REF.event, REF.destination, DUE_SHARDS);
const REQUEST = 'request-1' as RequestId;
const NAMES: Readonly<Record<Part, string>> = {
  worker: 'A',
  sweep: 'S',
  cancel: 'O',
  redrive: 'O',
  resolve: 'O',
  pause: 'O',
  resume: 'O',
  edit: 'O',
  delete: 'O',
};

const messageOf = (body: string): Message => {
  const read = readMessage(Buffer.from(body), START_MS);
  if (read.kind !== 'message') throw new Error(`a message that nobody understands was published: ${body}`);
  return read.message;
};

export class Run {
  readonly stage: Stage;
  readonly #scene: Scene;
  readonly #beginning: Beginning;
  readonly #store: Store;
  readonly #shared: Shared;
  readonly #messages: Published[] = [];
  readonly #keys = new Set<string>();
  readonly #bugs: string[] = [];
  readonly #unanswered: (() => Promise<void>)[] = [];
  #pushesLeft: number;
  #pushed = 0;

  constructor(scene: Scene, store?: Store) {
    this.#scene = scene;
    this.#beginning = beginningOf(scene);
    this.#pushesLeft = scene.pushes;
    this.stage = new Stage(scene);
    const items = itemsOf(this.#beginning);
    this.#store = store ?? rawStore(items);
    this.#shared = {
      stage: this.stage,
      store: this.#store,
      partner: new Partner(this.stage, scene),
      standing: new Map(items.map((item) => [nameOf(item), item])),
      published: (actor, publication, taken) => this.#published(actor, publication, taken),
    };
    if (this.#beginning.arrived) {
      this.#shared.partner.arrived(this.stage.actor('Z'), outgoingKey(REF.event, REF.destination));
    }
    const workers: Actor[] = [];
    for (const part of scene.cast) {
      const second = part === 'worker' && workers.length > 0;
      const actor = this.stage.actor(second ? 'B' : NAMES[part], second ? scene.skewMs : 0);
      if (part === 'worker') workers.push(actor);
      this.#begin(part, actor);
    }
    const [first, second] = workers;
    if (first && second && scene.skewMs === 0 && scene.mirror !== false) this.stage.mirrored(first, second);
  }

  #begin(part: Part, actor: Actor): void {
    switch (part) {
      case 'worker':
        void this.#push(actor);
        return;
      case 'sweep':
        void this.#sweep(actor);
        return;
      case 'pause':
      case 'resume':
        void this.#repeated(actor, () => this.#turn(actor, part));
        return;
      case 'edit':
      case 'delete':
        void this.#repeated(actor, () => this.#change(actor, part));
        return;
      case 'cancel':
      case 'redrive':
      case 'resolve':
        void this.#repeated(actor, () => this.#decide(actor, part));
    }
  }

  #end(actor: Actor, acknowledged: boolean, note: string): void {
    actor.ended = true;
    this.stage.note(actor, { kind: 'verdict', acknowledged, note });
  }

  /** Runs somebody's work to its end; a port out of reach is an answer, anything else is a bug. */
  async #work(actor: Actor, work: () => Promise<string>): Promise<boolean> {
    try {
      this.#end(actor, true, await work());
      return true;
    } catch (error) {
      if (!(error instanceof PortUnavailable)) this.#bugs.push(`${actor.name}: ${error}`);
      this.#end(actor, false, String(error));
      return false;
    }
  }

  #push(actor: Actor): Promise<boolean> {
    return this.#work(actor, async () => {
      const verdict = await deliver(portsOf(this.#shared, actor), pushOf(actor), REF, Buffer.from('{}'));
      if (verdict.kind !== 'ack') throw new PortUnavailable('ledger', verdict.kind);
      return verdict.note;
    });
  }

  #sweep(actor: Actor): Promise<boolean> {
    return this.#work(actor, async () => {
      const tick = Math.floor(this.stage.nowMs / 60_000);
      const message = { kind: 'sweep', shard: SHARD, tick, page: 0 } as const;
      const verdict = await sweep(portsOf(this.#shared, actor), pushOf(actor), message);
      if (verdict.kind !== 'ack') throw new PortUnavailable('ledger', verdict.kind);
      return verdict.note;
    });
  }

  #drain(actor: Actor, message: DrainMessage): Promise<boolean> {
    return this.#work(actor, async () => {
      const verdict = await drain(portsOf(this.#shared, actor), pushOf(actor), message);
      if (verdict.kind !== 'ack') throw new PortUnavailable('queue', verdict.kind);
      return verdict.note;
    });
  }

  /** Whoever has no answer repeats the same request when things are well again. */
  async #repeated(actor: Actor, request: () => Promise<string>): Promise<void> {
    if (await this.#work(actor, request)) return;
    this.#unanswered.push(async () => void (await this.#work(actor, request)));
  }

  async #decide(actor: Actor, part: Decided): Promise<string> {
    const world = portsOf(this.#shared, actor);
    const found = await world.ledger.load({ item: 'delivery', ...REF });
    if (found.kind !== 'found') throw new Error('the row is gone');
    const done = await transition(world, found.item, decisionOf(part, actor.nextId() as WriteId));
    return done.kind === 'refused' ? `refused: ${done.code}` : done.kind;
  }

  /** A person closes or opens the destination. */
  async #turn(actor: Actor, part: 'pause' | 'resume'): Promise<string> {
    const world = portsOf(this.#shared, actor);
    if (part === 'pause') {
      await pauseFor(world, REF.destination, 'person', 'their maintenance');
      return 'paused';
    }
    const enqueued = await resume(world, REF.destination, START_MS, REQUEST);
    if (!enqueued) throw new PortUnavailable('queue', 'the drain could not be enqueued');
    return 'resumed';
  }

  /** A person writes other settings. Whoever is refused, or has no answer, looks again. */
  async #change(actor: Actor, part: 'edit' | 'delete'): Promise<string> {
    const world = portsOf(this.#shared, actor);
    const { config } = await world.ledger.loadDestination(REF.destination);
    if (config.kind !== 'found' || config.item.version > 1) return 'changed already';
    const next: Destination = { ...config.item, version: 2, ...(part === 'delete' ? { deletedAtMs: START_MS } : {}) };
    const written = await world.ledger.replace<Destination>(config.item, next);
    return written.kind;
  }

  #published(actor: Actor, publication: Publication, taken: boolean): void {
    this.stage.note(actor, { kind: 'publish', key: publication.key, delaySec: publication.delaySec, taken });
    if (!taken || this.#keys.has(publication.key)) return;
    this.#keys.add(publication.key);
    const message = messageOf(publication.body);
    if (!this.stage.quiet && publication.delaySec === 0 && this.#pushesLeft > 0) {
      this.#pushesLeft -= 1;
      this.#pushed += 1;
      void this.#receive(this.stage.actor(`P${this.#pushed}`), message);
      return;
    }
    this.#messages.push({ message, dueAtMs: this.stage.nowMs + publication.delaySec * 1_000, by: actor.name });
  }

  async #receive(actor: Actor, message: Message): Promise<void> {
    if (message.kind === 'deliver') await this.#push(actor);
    if (message.kind === 'drain') await this.#drain(actor, message);
  }

  /** Faults are over. Workers that died stay dead; the rest of the world goes on until nothing is left to do. */
  async quietPhase(): Promise<void> {
    this.stage.quiet = true;
    this.stage.note(undefined, { kind: 'quiet' });
    for (const again of this.#unanswered) await again();
    for (let step = 1; step <= QUIET_STEPS_MAX; step += 1) {
      const row = await this.#row();
      const message = this.#nextMessage();
      const lookAfterMs = 'lookAfterMs' in row ? row.lookAfterMs : Number.POSITIVE_INFINITY;
      const nextMs = Math.min(message?.dueAtMs ?? Number.POSITIVE_INFINITY, lookAfterMs);
      if (nextMs === Number.POSITIVE_INFINITY) return;
      if (row.status === 'pending' && row.parking && !message && (await this.#resume(step))) continue;
      this.stage.nowMs = Math.max(this.stage.nowMs, nextMs);
      if (message && message.dueAtMs <= nextMs) {
        this.#messages.splice(this.#messages.indexOf(message), 1);
        await this.#receive(this.stage.actor(`p${step}`), message.message);
      } else {
        await this.#sweep(this.stage.actor(`s${step}`));
        this.stage.nowMs += 1;
      }
    }
  }

  #nextMessage(): Published | undefined {
    const kept = this.#messages.filter(({ by }) => this.#scene.messages === 'kept' || by.startsWith('s'));
    return kept.reduce<Published | undefined>((a, b) => (a && a.dueAtMs <= b.dueAtMs ? a : b), undefined);
  }

  /** A person lets a paused destination go on. False where it is not paused. */
  async #resume(step: number): Promise<boolean> {
    const { gate } = await this.#store.ledger.loadDestination(REF.destination);
    if (gate.kind !== 'found' || !gate.item.pause) return false;
    const actor = this.stage.actor(`o${step}`);
    await this.#work(actor, async () => {
      await resume(portsOf(this.#shared, actor), REF.destination, this.stage.nowMs, `request-${step}` as RequestId);
      return 'resumed';
    });
    return true;
  }

  async #row(): Promise<Delivery> {
    const found = await this.#store.ledger.load({ item: 'delivery', ...REF });
    if (found.kind !== 'found') throw new Error('the row is gone');
    return found.item;
  }

  async ended(): Promise<Ended> {
    const row = await this.#row();
    return {
      scene: this.#scene,
      beginning: this.#beginning,
      log: this.stage.log,
      row,
      atRest: row.status !== 'pending' && row.status !== 'claimed',
      bugs: this.#bugs,
    };
  }
}

const pushOf = (actor: Actor): PushRun => ({
  id: actor.name,
  cause: causeOf('push', `m-${actor.name}`),
  messageId: `m-${actor.name}`,
  remainingMs: () => 60_000,
});

type Decided = Extract<Part, 'cancel' | 'redrive' | 'resolve'>;

/** The same request, each time by a write of its own. */
const decisionOf = (part: Decided, writeId: WriteId): Input => {
  const recorded = { writeId, cause: causeOf('actor', REQUEST) };
  switch (part) {
    case 'cancel':
      return { kind: 'cancel', ...recorded };
    case 'redrive':
      return { kind: 'redrive', grant: 1, acceptSecondEffect: true, ...recorded };
    case 'resolve':
      return { kind: 'resolve', as: 'not-delivered', ...recorded };
  }
};
