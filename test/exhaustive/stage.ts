/**
 * Where calls wait to be let through.
 *
 *   worker --calls a port--> call waits --a choice lets it through, this way or that--> worker goes on to its next call
 *                                |
 *                                +-- crash: it never returns
 *
 * Between two calls a worker runs by itself, and nothing that it does there can be seen by others. A run is therefore
 * fully told by the list of its choices.
 */
import type { Happening, LogEntry } from './log.ts';
import { type Scene, START_MS } from './scene.ts';

// ---- what a choice touches: two choices that touch nothing in common lead to the same state in either order ----------

export const ROW = 1;
export const GATE = 2;
export const SETTINGS = 4;
export const QUEUE = 8;
export const PARTNER = 16;
export const HEARTBEAT = 32;
export const PLACES = 64;
export const PACE = 128;
const CLOCK = 256;
const CRASHES = 512;
const FAULTS = 1_024;

/** Stands in the name of a write that is on its way without its worker. */
export const GHOST = '~';

/** How a call is let through. `ok` and the answers of the destination spend nothing; the others are faults. */
export interface Mode {
  readonly name: string;
  readonly fault: boolean;
  readonly reads: number;
  readonly writes: number;
}

/** One way through for a waiting call. */
export interface Way extends Mode {
  readonly go: () => void;
}

export interface Call {
  readonly seq: number;
  readonly what: string;
  /** Asked anew at each look: whether a write would be refused depends on what stands there. */
  readonly ways: () => readonly Way[];
  /** Reads may be awaited together: when one of them fails, nobody waits for the others. */
  readonly kind: 'read' | 'write' | 'other';
}

export interface Choice {
  readonly key: string;
  readonly actor: string;
  readonly kind: 'step' | 'crash' | 'jump';
  readonly seq: number;
  readonly way: string;
  readonly ms: number;
  readonly reads: number;
  readonly writes: number;
}

/** A choice as it turned out: only then is it known whether somebody looked at the clock behind it. */
export interface Made {
  readonly choice: Choice;
  readonly sawClock: boolean;
}

export const independent = (a: Made, b: Made): boolean => {
  const writes = a.choice.writes & b.choice.writes;
  return a.choice.actor !== b.choice.actor && writes === 0 && !isSeenBy(a, b) && !isSeenBy(b, a);
};

const isSeenBy = ({ choice }: Made, other: Made): boolean =>
  (choice.writes & (other.choice.reads | (other.sawClock ? CLOCK : 0))) !== 0;

export class Actor {
  readonly name: string;
  readonly skewMs: number;
  readonly isGhost: boolean;
  readonly calls: Call[] = [];
  crashed = false;
  ended = false;
  /** Has tried to write. */
  wrote = false;
  #seq = 0;
  #ids = 0;

  constructor(name: string, skewMs: number) {
    this.name = name;
    this.skewMs = skewMs;
    this.isGhost = name.includes(GHOST);
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  /** Eleven characters, as real ids have; whose it is can be seen. */
  nextId(): string {
    this.#ids += 1;
    return `${this.name.padEnd(4, '-')}${String(this.#ids).padStart(7, '0')}`;
  }
}

export class Stage {
  readonly log: LogEntry[] = [];
  /** Somebody has looked at the clock since the latest choice. */
  sawClock = false;
  readonly actors = new Map<string, Actor>();
  nowMs = START_MS;
  /** Calls go straight through. */
  quiet = false;
  readonly #scene: Scene;
  #jumpsLeft: number;
  #crashesLeft: number;
  #faultsLeft: number;
  #begun = false;
  /** Two workers that differ in their names only: whatever B does first, A does first in another run. */
  #twins: readonly [Actor, Actor] | undefined;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#jumpsLeft = scene.jumps;
    this.#crashesLeft = scene.crashes;
    this.#faultsLeft = scene.faults;
  }

  actor(name: string, skewMs = 0): Actor {
    const actor = new Actor(name, skewMs);
    this.actors.set(name, actor);
    return actor;
  }

  note(actor: Actor | undefined, happening: Happening): void {
    this.log.push({ ...happening, by: actor?.name ?? 'world', atMs: this.nowMs + (actor?.skewMs ?? 0) });
  }

  /** The time on this actor's clock. */
  clockOf(actor: Actor): number {
    this.sawClock = true;
    return this.nowMs + actor.skewMs;
  }

  /** Puts a call at the gate; in the quiet phase it takes its first way at once. */
  wait(actor: Actor, call: Omit<Call, 'seq'>): void {
    if (actor.crashed) return;
    if (this.quiet) {
      call.ways()[0]?.go();
      return;
    }
    actor.calls.push({ ...call, seq: actor.nextSeq() });
  }

  /** Everything that may happen next. The first one is the plain way. */
  choices(): Choice[] {
    const found: Choice[] = [];
    for (const actor of this.actors.values()) this.#steps(actor, found);
    const waiting = found.length > 0;
    if (this.#crashesLeft > 0) {
      for (const actor of this.actors.values()) {
        if (actor.calls.length === 0 || actor.isGhost) continue;
        found.push({ key: `${actor.name}:crash`, actor: actor.name, kind: 'crash', ...NOTHING, writes: CRASHES });
      }
    }
    if (waiting && this.#begun && this.#jumpsLeft > 0) {
      for (const ms of this.#scene.jumpsMs) {
        found.push({ key: `jump:${ms}`, actor: 'world', kind: 'jump', ...NOTHING, ms, writes: CLOCK });
      }
    }
    return found;
  }

  /** Of two runs that are mirror images of each other only the one is explored in which the first writes first. */
  mirrored(first: Actor, second: Actor): void {
    this.#twins = [first, second];
  }

  #waitsForTwin(actor: Actor): boolean {
    if (this.#twins?.[1] !== actor || actor.wrote) return false;
    const [first] = this.#twins;
    return !first.wrote && !first.crashed && !first.ended;
  }

  #steps(actor: Actor, found: Choice[]): void {
    const mayWrite = !this.#waitsForTwin(actor);
    for (const { seq, kind, ways } of actor.calls) {
      if (kind === 'write' && !mayWrite) continue;
      for (const { name, fault, reads, writes } of ways()) {
        if (fault && (this.#faultsLeft === 0 || (this.#scene.faultsAt === 'row' && !touchesRow(ways())))) continue;
        found.push({
          key: `${actor.name}:${seq}:${name}`,
          actor: actor.name,
          kind: 'step',
          seq,
          way: name,
          ms: 0,
          reads,
          writes: writes | (fault ? FAULTS : 0),
        });
      }
    }
  }

  fire(choice: Choice): void {
    this.#begun = true;
    this.sawClock = false;
    if (choice.kind === 'jump') {
      this.#jumpsLeft -= 1;
      this.nowMs += choice.ms;
      this.note(undefined, { kind: 'jump', ms: choice.ms });
      return;
    }
    const actor = this.actors.get(choice.actor);
    if (!actor) throw new Error(`nobody is called ${choice.actor}`);
    if (choice.kind === 'crash') {
      this.#crashesLeft -= 1;
      this.crash(actor);
      return;
    }
    const at = actor.calls.findIndex(({ seq }) => seq === choice.seq);
    const [call] = actor.calls.splice(at, at < 0 ? 0 : 1);
    const way = call?.ways().find(({ name }) => name === choice.way);
    if (!call || !way) throw new Error(`${choice.key} does not wait here`);
    if (way.fault) {
      this.#faultsLeft -= 1;
      if (call.kind === 'read') actor.calls.length = 0;
    }
    if (call.kind === 'write') actor.wrote = true;
    way.go();
  }

  crash(actor: Actor): void {
    actor.crashed = true;
    actor.calls.length = 0;
    this.note(actor, { kind: 'crash' });
  }
}

const touchesRow = (ways: readonly Way[]): boolean => ways.some(({ reads, writes }) => ((reads | writes) & ROW) !== 0);

const NOTHING = { seq: 0, way: '', ms: 0, reads: 0 } as const;

/** Lets everything run on that can run: all callbacks of promises come before the next turn of the loop. */
export const drain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
