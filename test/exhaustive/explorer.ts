/**
 * Every order of the choices of a scene, by depth-first search with re-execution.
 *
 * Orders that differ only in two neighbours which touch nothing in common are one schedule: of those a single one is
 * run (sleep sets: what has been explored first at a node need not be explored behind a choice that is independent of
 * it). A run that finds only such choices is cut short and counted apart.
 */
import { judge, type OracleName, type Verdict } from './oracles.ts';
import { type Ended, Run } from './run.ts';
import type { Scene } from './scene.ts';
import { type Choice, drain, independent, type Made } from './stage.ts';
import type { Store } from './store.ts';

interface Node {
  readonly choices: readonly Choice[];
  /** Need not be explored here: where it was explored, everything that can follow here has followed it. */
  readonly sleep: Asleep;
  /** Explored here. */
  readonly done: Map<string, Made>;
  chosen: Choice;
  sawClock: boolean;
}

type Asleep = ReadonlyMap<string, Made>;

export interface Failure {
  readonly scene: Scene;
  readonly path: readonly string[];
  readonly verdicts: readonly Verdict[];
}

export interface Explored {
  readonly schedules: number;
  /** Runs that were cut short, since all that was left had been explored in another order. */
  readonly cut: number;
  readonly choices: number;
  readonly longest: number;
  /** How many schedules hold a choice of this kind: a crash, a jump, a way for a call to fail. */
  readonly kinds: Readonly<Record<string, number>>;
  /** How many schedules end in this state. */
  readonly ends: Readonly<Record<string, number>>;
  readonly failure?: Failure;
}

export interface Options {
  /** False: every order is run, also of choices that have nothing to do with each other. */
  readonly reduce?: boolean;
  readonly schedulesMax?: number;
  /** Goes on until this judge is not content, whatever the others say. */
  readonly until?: OracleName;
  readonly seen?: (ended: Ended, path: readonly string[]) => void;
}

export const explore = async (scene: Scene, options: Options = {}): Promise<Explored> => {
  const stack: Node[] = [];
  const count = { schedules: 0, cut: 0, choices: 0, longest: 0 };
  const kinds: Record<string, number> = {};
  const ends: Record<string, number> = {};
  do {
    const run = await runAlong(scene, stack, options.reduce ?? true);
    count.choices += stack.length;
    if (run === undefined) {
      count.cut += 1;
      continue;
    }
    count.schedules += 1;
    count.longest = Math.max(count.longest, stack.length);
    await run.quietPhase();
    const ended = await run.ended();
    for (const kind of new Set(stack.map(({ chosen }) => kindOf(chosen)))) add(kinds, kind);
    add(ends, endOf(ended));
    const path = stack.map(({ chosen }) => chosen.key);
    options.seen?.(ended, path);
    const verdicts = judge(ended).filter(({ oracle }) => options.until === undefined || oracle === options.until);
    if (verdicts.length > 0) return { ...count, kinds, ends, failure: { verdicts, scene, path } };
  } while (backtrack(stack) && count.schedules < (options.schedulesMax ?? Number.POSITIVE_INFINITY));
  return { ...count, kinds, ends };
};

const add = (counts: Record<string, number>, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};

const kindOf = ({ kind, way, ms }: Choice): string =>
  kind === 'step' ? way : kind === 'jump' ? `jump ${ms}` : 'crash';

const endOf = ({ row }: Ended): string => {
  switch (row.status) {
    case 'delivered':
      return `delivered by ${row.by}`;
    case 'cancelled':
    case 'quarantined':
      return `${row.status}: ${row.reason}`;
    case 'pending':
    case 'claimed':
      return row.status;
  }
};

/** Repeats the choices on the stack, then goes on with the first that is left at each node. */
const runAlong = async (scene: Scene, stack: Node[], reduce: boolean): Promise<Run | undefined> => {
  const run = new Run(scene);
  for (let depth = 0; ; depth += 1) {
    let node = stack[depth];
    if (!node) {
      const choices = run.stage.choices();
      if (choices.length === 0) return run;
      const sleep = reduce ? sleepBelow(stack[depth - 1], choices) : NOBODY;
      const chosen = choices.find(({ key }) => !sleep.has(key));
      if (!chosen) return undefined;
      node = { choices, sleep, done: new Map(), chosen, sawClock: false };
      stack.push(node);
    }
    run.stage.fire(node.chosen);
    await drain();
    node.sawClock = run.stage.sawClock;
  }
};

const NOBODY: Asleep = new Map();

const sleepBelow = (parent: Node | undefined, choices: readonly Choice[]): Asleep => {
  if (!parent || parent.sleep.size + parent.done.size === 0) return NOBODY;
  const chosen: Made = { choice: parent.chosen, sawClock: parent.sawClock };
  const sleep = new Map<string, Made>();
  for (const choice of choices) {
    const made = parent.done.get(choice.key) ?? parent.sleep.get(choice.key);
    // What it touches is asked anew at each node: a write may have become one that is refused for ever.
    if (made && independent(made, chosen)) sleep.set(choice.key, { choice, sawClock: made.sawClock });
  }
  return sleep;
};

const backtrack = (stack: Node[]): boolean => {
  for (let node = stack.at(-1); node; node = stack.at(-1)) {
    const { done, sleep, choices } = node;
    done.set(node.chosen.key, { choice: node.chosen, sawClock: node.sawClock });
    const next = choices.find(({ key }) => !done.has(key) && !sleep.has(key));
    if (next) {
      node.chosen = next;
      return true;
    }
    stack.pop();
  }
  return false;
};

/** One run along a path, as a failure prints it. The store may be another than the short cut that is used for speed. */
export const replay = async (scene: Scene, path: readonly string[], store?: Store): Promise<Ended> => {
  const run = new Run(scene, store);
  for (const key of path) {
    const choice = run.stage.choices().find((one) => one.key === key);
    if (!choice) throw new Error(`the path does not fit: ${key} cannot be chosen here`);
    run.stage.fire(choice);
    await drain();
  }
  await run.quietPhase();
  return run.ended();
};
