/** Whether something goes wrong at a call, and what: decided by seed, step and number alone. */
import type { Draws } from './draws.ts';
import { FAULTS, type FaultName, type Site, type Stretch, stretchesOf } from './fault-classes.ts';
import type { Without } from './plan.ts';

/** A fault that has happened, as it is named when a history is shrunk: `answer-lost@write push delivery#3`. */
export const faultId = (fault: FaultName, step: string, n: number): string => `${fault}@${step}#${n}`;

const SITES: Readonly<Record<Site, readonly Stretch[]>> = {
  call: stretchesOf('call'),
  read: stretchesOf('read'),
  write: stretchesOf('write'),
  index: stretchesOf('index'),
  claim: stretchesOf('claim'),
  publish: stretchesOf('publish'),
  push: stretchesOf('push'),
  letters: stretchesOf('letters'),
  network: stretchesOf('network'),
  answer: stretchesOf('answer'),
  tick: stretchesOf('tick'),
  plan: [],
  none: [],
};

const USES: Readonly<Record<Site, number>> = {
  call: 1,
  read: 2,
  write: 3,
  index: 4,
  publish: 5,
  push: 6,
  letters: 7,
  network: 8,
  answer: 9,
  tick: 10,
  plan: 11,
  none: 12,
  claim: 13,
};

export class Fates {
  readonly fired = new Map<FaultName, number>();
  /** The faults of this history, in their order. */
  readonly ids: string[] = [];
  /** From here on nothing goes wrong. */
  quiet = false;
  readonly #draws: Draws;
  readonly #shares: ReadonlyMap<FaultName, number>;
  readonly #without: Without;
  readonly #note: (fault: FaultName, where: string) => void;
  readonly #sites = new Map<Site, readonly Stretch[]>();

  constructor(
    draws: Draws,
    shares: ReadonlyMap<FaultName, number>,
    without: Without,
    note: (fault: FaultName, where: string) => void,
  ) {
    this.#draws = draws;
    this.#shares = shares;
    this.#without = without;
    this.#note = note;
    for (const site of Object.keys(SITES) as Site[]) {
      const on = SITES[site].filter(({ name }) => shares.has(name));
      if (on.length > 0) this.#sites.set(site, on);
    }
  }

  /** What happens at the call number `n` of this step, if something does. */
  pick(site: Site, step: string, n: number): FaultName | undefined {
    const on = this.quiet ? undefined : this.#sites.get(site);
    if (on === undefined) return undefined;
    const draw = this.#draws.at(step, n, USES[site]);
    for (const { name, from } of on) {
      if (draw < from || draw >= from + (this.#shares.get(name) ?? 0)) continue;
      return this.happens(name, step, n) ? name : undefined;
    }
    return undefined;
  }

  /** For what is not drawn here: counts it and notes it, unless this history is to go without it. */
  happens(name: FaultName, step: string, n: number): boolean {
    const id = faultId(name, step, n);
    if (this.#without.has(id)) return false;
    this.count(name);
    this.ids.push(id);
    this.#note(name, `${step}#${n}`);
    return true;
  }

  count(name: FaultName): void {
    this.fired.set(name, (this.fired.get(name) ?? 0) + 1);
  }

  isOn(name: FaultName): boolean {
    return !this.quiet && this.#shares.has(name);
  }

  says(name: FaultName): string {
    return FAULTS[name].says;
  }
}
