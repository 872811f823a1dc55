/**
 * All orders in which the requests of several actors can take effect, one after the other.
 *
 *   scene --> each actor waits before each request --> one is let go --> ... --> all done: judge --> the next order
 */
import type { Receiver } from '../../functions/receiver/run.ts';

export type Turn = () => Promise<void>;

export interface Scene {
  readonly actors: readonly (() => Promise<unknown>)[];
  judge(): Promise<void>;
}

/** Ports of one actor, who waits for its turn before each request to the ledger. */
export const inTurns = <P extends Pick<Receiver, 'ledger' | 'pages'>>(ports: P, turn: Turn): P => {
  const { ledger, pages } = ports;
  return {
    ...ports,
    ledger: {
      ...ledger,
      load: (ref) => turn().then(() => ledger.load(ref)),
      loadDestination: (id) => turn().then(() => ledger.loadDestination(id)),
      create: (item) => turn().then(() => ledger.create(item)),
      replace: (read, next) => turn().then(() => ledger.replace(read, next)),
    },
    pages: { ...pages, list: (query) => turn().then(() => pages.list(query)) },
  };
};

/**
 * Plays a scene once for every order in which the requests of its actors can take effect, and judges each. Gives the
 * number of orders.
 */
export const inEveryOrder = async (scene: (turnOf: (actor: number) => Turn) => Promise<Scene>): Promise<number> => {
  let path: readonly number[] = [];
  for (let plays = 1; ; plays += 1) {
    const taken = await playOnce(scene, path);
    while (taken.length > 0 && isLast(taken.at(-1))) taken.pop();
    const branch = taken.pop();
    if (branch === undefined) return plays;
    path = [...taken.map(({ choice }) => choice), branch.choice + 1];
  }
};

interface Choice {
  readonly choice: number;
  readonly of: number;
}

const isLast = (at: Choice | undefined): boolean => at === undefined || at.choice + 1 >= at.of;

const playOnce = async (
  scene: (turnOf: (actor: number) => Turn) => Promise<Scene>,
  path: readonly number[],
): Promise<Choice[]> => {
  const waiting: { readonly actor: number; readonly go: () => void }[] = [];
  const taken: Choice[] = [];
  const { actors, judge } = await scene((actor) => () => new Promise((go) => waiting.push({ actor, go })));
  const live = new Set(actors.keys());
  const work = actors.map((act, actor) => act().finally(() => live.delete(actor)));
  while (live.size > 0) {
    await new Promise((resolve) => setImmediate(resolve));
    const blocked = new Set(waiting.map(({ actor }) => actor));
    if ([...live].some((actor) => !blocked.has(actor)) || waiting.length === 0) continue;
    waiting.sort((a, b) => a.actor - b.actor);
    const choice = path[taken.length] ?? 0;
    taken.push({ choice, of: waiting.length });
    const [next] = waiting.splice(choice, 1);
    next?.go();
  }
  await Promise.all(work);
  await judge();
  return taken;
};
