/**
 * The ledger in memory: the promises of the table, for tests and simulation. Items go through the codec like any others:
 * what comes out has been stored, and shares nothing with what was put in.
 *
 *   call ──► intercept: may throw, nothing has happened ──► the work, in one step ──► after: may throw, it has happened
 *
 * Calls that wait in `intercept` are the rivals of each other. A throw of `after` is a lost answer.
 */
import type { Clock, Ledger, Pace, Pages, Ref } from '../../ports.ts';
import { refOf } from './codec/item-keys.ts';
import { createLedger } from './ledger.ts';
import { createPages } from './lists.ts';
import { createMemoryPace } from './memory-pace.ts';
import { createMemoryStore, type MemoryStore } from './memory-store.ts';

export interface Operation {
  readonly kind: keyof Ledger | keyof Pages | keyof Pace;
  /** What is read or written, where that is one item. */
  readonly ref?: Ref;
}

export interface TwinOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly intercept?: (operation: Operation) => void | Promise<void>;
  readonly after?: (operation: Operation) => void | Promise<void>;
  /** How many of the latest writes the indexes do not show yet; without it they show them all. */
  readonly indexLag?: () => number;
  /** False: what has been written over is forgotten. */
  readonly keepsHistory?: boolean;
}

export interface Twin {
  readonly ledger: Ledger;
  readonly pages: Pages;
  readonly pace: Pace;
  /** The records themselves and the history of all writes; not counted as calls. */
  readonly store: MemoryStore;
}

export const createTwin = ({ clock, intercept, after, indexLag, keepsHistory }: TwinOptions): Twin => {
  const store = createMemoryStore(indexLag, keepsHistory);
  const ledger = createLedger(store);
  const pages = createPages(store, clock);
  const pace = createMemoryPace(store);
  const around = async <Result>(operation: Operation, work: () => Promise<Result>): Promise<Result> => {
    await intercept?.(operation);
    const result = await work();
    await after?.(operation);
    return result;
  };
  return {
    store,
    ledger: {
      load: (ref) => around({ kind: 'load', ref }, () => ledger.load(ref)),
      loadDestination: (id) => around({ kind: 'loadDestination' }, () => ledger.loadDestination(id)),
      loadEvent: (id) => around({ kind: 'loadEvent' }, () => ledger.loadEvent(id)),
      loadSlots: (id) => around({ kind: 'loadSlots' }, () => ledger.loadSlots(id)),
      loadOperationMessages: (...query) =>
        around({ kind: 'loadOperationMessages' }, () => ledger.loadOperationMessages(...query)),
      create: (item) => around({ kind: 'create', ref: refOf(item) }, () => ledger.create(item)),
      replace: (read, next) => around({ kind: 'replace', ref: refOf(read) }, () => ledger.replace(read, next)),
    },
    pages: {
      due: (...query) => around({ kind: 'due' }, () => pages.due(...query)),
      list: (query) => around({ kind: 'list' }, () => pages.list(query)),
      count: (...query) => around({ kind: 'count' }, () => pages.count(...query)),
    },
    pace: {
      take: (...slot) => around({ kind: 'take' }, () => pace.take(...slot)),
    },
  };
};
