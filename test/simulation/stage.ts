/**
 * Where everybody meets: virtual time, chance, the ledger, and the log. Whatever the product asks of the world passes
 * through `call`, and there it waits, fails, is carried out, or never comes back.
 *
 *   worker --calls a port--> waits --its time comes--> carried out --> worker goes on
 *                              |                          |
 *                              +-- crash, failure         +-- crash, lost answer, standing still
 */
import type { ItemKey } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { createTwin, type Twin } from '../../functions/adapters/ledger/twin.ts';
import type { Gate, Item } from '../../functions/core/items.ts';
import { FUNCTION_MS } from '../../functions/core/limits.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { Clockwork } from './clockwork.ts';
import { Draws } from './draws.ts';
import { Fates } from './fates.ts';
import type { FaultName, Site } from './fault-classes.ts';
import type { Happening, LogEntry } from './log.ts';
import type { Plan, ProcessPlan, Without } from './plan.ts';
import { createRawStore } from './raw-store.ts';

export interface Process extends Omit<ProcessPlan, 'skewMs' | 'code'> {
  skewMs: number;
  code: ProcessPlan['code'];
}

export class Actor {
  readonly name: string;
  readonly role: 'push' | 'tick' | 'client' | 'person';
  readonly process: Process;
  readonly about: string | undefined;
  /** The code that it began with, whatever is deployed meanwhile. */
  readonly code: ProcessPlan['code'];
  dead = false;
  ended = false;
  /** Until then it stands still. */
  thawAtMs = 0;
  /** The platform ends it there. */
  limitAtMs: number;
  /** Told when it dies. */
  onDeath: () => void = () => undefined;
  #ids = 0;

  constructor(name: string, role: Actor['role'], process: Process, about: string | undefined, nowMs: number) {
    this.name = name;
    this.role = role;
    this.process = process;
    this.about = about;
    this.code = process.code;
    this.limitAtMs = nowMs + FUNCTION_MS;
  }

  /** Eleven characters, as real ids have; whose it is can be seen. */
  nextId(): string {
    this.#ids += 1;
    return `${this.name.padEnd(6, '-')}${String(this.#ids).padStart(5, '0')}`;
  }
}

const never = new Promise<never>(() => {});
const unreachable = (): PortUnavailable => new PortUnavailable('ledger', 'the ledger is out of reach');

/** What a call is to the world. `repeated`: what the client's own repeat of it comes to. */
export interface Call<T> {
  readonly what: string;
  readonly site: Site;
  readonly perform: () => T | Promise<T>;
  /** For a call that never throws: what a failure looks like. */
  readonly failed?: () => T;
}

export class Stage {
  readonly plan: Plan;
  readonly without: Without;
  readonly clockwork = new Clockwork();
  readonly draws: Draws;
  readonly fates: Fates;
  readonly log: LogEntry[] = [];
  /** What all processes read and write. */
  readonly store: Pick<Twin, 'ledger' | 'pages' | 'pace'>;
  /** Where the stored form matters, and now and then besides: the twin behind the store. */
  readonly twin: Twin | undefined;
  /** What stands in the ledger, item by item, as it was written. */
  readonly standing = new Map<string, Item>();
  readonly rows = new Map<string, Delivery>();
  readonly gates = new Map<string, Gate>();
  /** Names of the deliveries that newer code has written. */
  readonly touched = new Set<string>();
  /** What newer code has moved to a later format. */
  readonly later = new Map<string, ItemKey>();
  readonly processes: readonly Process[];
  /** Told of every write of a delivery. */
  onRow: (row: Delivery) => void = () => undefined;
  readonly #startMs: number;
  #actors = 0;
  #lag = 0;

  constructor(plan: Plan, without: Without) {
    this.plan = plan;
    this.without = without;
    this.draws = new Draws(plan.seed);
    this.#startMs = this.clockwork.nowMs;
    this.fates = new Fates(this.draws, plan.shares, without, (fault, where) =>
      this.note(undefined, { kind: 'fault', fault, where }),
    );
    const indexLag = (): number => this.#lag;
    const isWhole = plan.store === 'twin';
    this.twin = isWhole ? createTwin({ clock: { nowMs: () => this.clockwork.nowMs }, indexLag }) : undefined;
    this.store = this.twin ?? createRawStore(indexLag);
    this.processes = plan.processes.map((process) => ({ ...process }));
  }

  get nowMs(): number {
    return this.clockwork.nowMs;
  }

  /** Since the beginning of the history. */
  get sinceStartMs(): number {
    return this.clockwork.nowMs - this.#startMs;
  }

  note(actor: Actor | undefined, happening: Happening): void {
    this.log.push({
      ...happening,
      at: this.log.length,
      atMs: this.clockwork.nowMs,
      by: actor?.name ?? '',
      about: actor?.about,
      skewMs: actor?.process.skewMs ?? 0,
      newer: actor?.code === 'next',
    });
  }

  wrote(actor: Actor | undefined, name: string, item: Item): void {
    const before = this.standing.get(name);
    this.standing.set(name, item);
    this.note(actor, { kind: 'write', name, before, item });
    if (item.item === 'gate') this.gates.set(item.destination, item);
    if (item.item !== 'delivery') return;
    this.rows.set(name, item);
    if (actor?.code === 'next') this.touched.add(name);
    this.onRow(item);
  }

  /** Somebody begins to work, in one of the processes. */
  actor(role: Actor['role'], about?: string): Actor {
    this.#actors += 1;
    const process = this.processes[Math.floor(this.draws.next(`process of a ${role}`) * this.processes.length)];
    if (process === undefined) throw new Error('no process');
    return new Actor(`${role[0]}${this.#actors}`, role, process, about, this.clockwork.nowMs);
  }

  clockOf(actor: Actor): number {
    return this.clockwork.nowMs + actor.process.skewMs;
  }

  isAway(fault: FaultName, destination?: string): boolean {
    if (this.fates.quiet) return false;
    const sinceMs = this.sinceStartMs;
    return this.plan.outages.some(
      (outage) =>
        outage.fault === fault &&
        outage.destination === destination &&
        sinceMs >= outage.fromMs &&
        sinceMs < outage.untilMs,
    );
  }

  crash(actor: Actor): void {
    if (actor.dead || actor.ended) return;
    actor.dead = true;
    this.note(actor, { kind: 'crash' });
    actor.onDeath();
  }

  freeze(actor: Actor, ms: number): void {
    actor.thawAtMs = this.clockwork.nowMs + ms;
    // A process that is stopped from outside is not charged for it; one that the platform watches is ended there.
    if (this.draws.happens('the limit waits', 0.6)) actor.limitAtMs += ms;
    this.note(actor, { kind: 'froze', ms });
  }

  /** False where nobody is there any more to go on. */
  isAlive(actor: Actor): boolean {
    if (!actor.dead && !actor.ended && this.clockwork.nowMs > actor.limitAtMs) this.crash(actor);
    return !actor.dead;
  }

  /** Calls back once the actor can go on, if ever. */
  resume(actor: Actor, go: () => void): boolean {
    if (this.clockwork.nowMs < actor.thawAtMs) {
      this.clockwork.at(actor.thawAtMs, () => this.resume(actor, go));
      return false;
    }
    if (!this.isAlive(actor)) return false;
    go();
    return true;
  }

  call<T>(actor: Actor, { what, site, perform, failed }: Call<T>): Promise<T> {
    if (actor.dead) return never;
    const step = `${actor.role} ${what}`;
    const n = this.draws.nth(step);
    const stop = actor.role === 'tick' ? undefined : this.fates.pick('call', step, n);
    const fate = this.fates.pick(site, step, n);
    const latencyMs = 1 + Math.floor(this.draws.at(step, n, 20) * 15) + this.#slowMs(fate, step, n);
    return new Promise<T>((resolve, reject) => {
      const fail = failed ? () => resolve(failed()) : () => reject(unreachable());
      const back = (go: () => void): void => {
        if (stop === 'crash-after') this.crash(actor);
        else if (stop !== undefined) this.freeze(actor, this.#standstillMs(stop, step, n));
        this.resume(actor, go);
      };
      const apply = (then: (value: T) => void): void => {
        try {
          const done = perform();
          if (done instanceof Promise) done.then(then, (error: unknown) => back(() => reject(error)));
          else then(done);
        } catch (error) {
          back(() => reject(error));
        }
      };
      this.clockwork.at(this.clockwork.nowMs + latencyMs, () => {
        if (!this.isAlive(actor)) return false;
        if (stop === 'crash-before') {
          this.crash(actor);
          return false;
        }
        const away = site === 'publish' ? 'queue-outage' : 'ledger-outage';
        if (site !== 'none' && this.#isOut(away)) return void back(fail);
        this.#go(fate, { step, n, apply, fail, pass: (value: T) => back(() => resolve(value)), back });
        return undefined;
      });
    });
  }

  #isOut(away: 'queue-outage' | 'ledger-outage'): boolean {
    const fault = away === 'ledger-outage' && this.isAway('long-ledger-outage') ? 'long-ledger-outage' : away;
    if (!this.isAway(fault)) return false;
    this.fates.count(fault);
    return true;
  }

  #go<T>(
    fate: FaultName | undefined,
    at: {
      readonly step: string;
      readonly n: number;
      readonly apply: (then: (value: T) => void) => void;
      readonly fail: () => void;
      readonly pass: (value: T) => void;
      readonly back: (go: () => void) => void;
    },
  ): void {
    switch (fate) {
      case 'read-fails':
      case 'read-hangs':
      case 'write-not-applied':
      case 'publish-fails':
      case 'stats-fail':
        at.back(at.fail);
        return;
      case 'answer-lost':
      case 'publish-unanswered':
        at.apply(() => at.back(at.fail));
        return;
      case 'write-echoed':
        at.apply(() => {
          const againMs = 20 + Math.floor(this.draws.at(at.step, at.n, 21) * 1_000);
          this.clockwork.at(this.clockwork.nowMs + againMs, () => at.apply(at.pass));
        });
        return;
      case 'write-late': {
        const lateMs = 5 + Math.floor(this.draws.at(at.step, at.n, 22) ** 3 * 60_000);
        this.clockwork.at(this.clockwork.nowMs + lateMs, () => at.apply(() => undefined));
        at.back(at.fail);
        return;
      }
      default:
        at.apply(at.pass);
    }
  }

  #slowMs(fate: FaultName | undefined, step: string, n: number): number {
    switch (fate) {
      case 'read-slow':
      case 'write-slow':
        return Math.floor(this.draws.at(step, n, 23) * 2_900);
      case 'read-hangs':
        return 9_000;
      default:
        return 0;
    }
  }

  #standstillMs(stop: FaultName, step: string, n: number): number {
    const share = this.draws.at(step, n, 24);
    return Math.floor(stop === 'long-freeze' ? 75_000 + share * 125_000 : 20_000 + share * 70_000);
  }

  /** Before each query of an index: how far behind it is now. */
  drawLag(): void {
    const n = this.draws.nth('lag');
    const lags = this.fates.pick('index', 'lag', n) === 'index-lags';
    this.#lag = lags ? 1 + Math.floor(this.draws.at('lag', n, 25) * 8) : 0;
  }
}
