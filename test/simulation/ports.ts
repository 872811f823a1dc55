/** The ports of one actor: the real interfaces of the product over the stage. */

import { createLedger } from '../../functions/adapters/ledger/ledger.ts';
import { createLedgerNotices } from '../../functions/adapters/notices.ts';
import { createLedgerSecrets } from '../../functions/adapters/secrets.ts';
import type { Item, ItemKind, ItemOf } from '../../functions/core/items.ts';
import { TICK_MS } from '../../functions/core/limits.ts';
import type { Found, Ledger, Page, RefOf, Written } from '../../functions/ports.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import type { Destinations } from './destinations.ts';
import { laterStore } from './later-code.ts';
import { PUSH } from './push-side.ts';
import type { SimulatedQueue } from './queue.ts';
import { nameOf } from './raw-store.ts';
import type { Actor, Stage } from './stage.ts';

export interface Surroundings {
  readonly stage: Stage;
  readonly queue: SimulatedQueue;
  readonly destinations: Destinations;
}

export const portsOf = ({ stage, queue, destinations }: Surroundings, actor: Actor): Receiver => {
  const ledger = ledgerOf(stage, actor);
  const clock = {
    nowMs: () => stage.clockOf(actor),
    sleep: (ms: number) => stage.call(actor, { what: 'sleep', site: 'none', perform: () => sleep(stage, actor, ms) }),
  };
  return {
    ledger,
    pages: pagesOf(stage, actor),
    pace: {
      take: async (destination, line, ...more) => {
        const perform = () => stage.store.pace.take(destination, line, ...more);
        const slotMs = await stage.call(actor, { what: 'take a slot', site: 'read', perform });
        stage.note(actor, { kind: 'slot', destination, line: line.kind, slotMs });
        return slotMs;
      },
    },
    queue: queue.portOf(actor),
    deadLetters: queue.lettersOf(actor),
    push: PUSH,
    sender: destinations.senderOf(actor),
    secrets: createLedgerSecrets(ledger, clock),
    // Where nobody is marked, nobody even asks: those histories go on as they always did.
    ...(isAnybodyMarked(stage) ? { notices: createLedgerNotices(ledger, clock) } : {}),
    telemetry: { line: () => undefined, count: () => undefined },
    clock,
    dice: {
      draw: () => stage.draws.next(`dice of a ${actor.role}`),
      id: () => actor.nextId(),
      bytes: (count) => new Uint8Array(count).fill(1 + (stage.draws.nth('bytes') % 250)),
    },
    tickMs: TICK_MS,
  };
};

const isAnybodyMarked = ({ plan }: Stage): boolean => plan.destinations.some(({ notices }) => notices === true);

const sleep = (stage: Stage, actor: Actor, ms: number): Promise<void> =>
  new Promise((resolve) => {
    stage.clockwork.at(stage.nowMs + ms, () => stage.resume(actor, resolve));
  });

const noted = <T>(value: T, note: (value: T) => void): T => {
  note(value);
  return value;
};

const ledgerOf = (stage: Stage, actor: Actor): Ledger => {
  const later = actor.code === 'next' && stage.twin !== undefined;
  const ledger = later ? createLedger(laterStore(stage.twin.store, stage.draws, stage.later)) : stage.store.ledger;
  const read = <T>(what: string, perform: () => Promise<T>, seen?: (value: T) => void): Promise<T> =>
    stage.call(actor, {
      what,
      site: 'read',
      perform: () => {
        const value = perform();
        return seen ? value.then((shown) => noted(shown, seen)) : value;
      },
    });
  const show = (found: Found<Item>): void => {
    if (found.kind === 'found' && found.item.item === 'delivery') stage.note(actor, { kind: 'read', row: found.item });
  };
  const write = <K extends ItemKind>(
    item: Item,
    perform: () => Promise<Written<ItemOf<K>>>,
  ): Promise<Written<ItemOf<K>>> =>
    stage.call(actor, {
      what: `write ${item.item}`,
      site: 'write',
      perform: () => {
        const name = nameOf(item);
        return perform().then((written) => {
          if (written.kind === 'written') {
            stage.wrote(actor, name, item);
            if (isFreshClaim(item)) strike(stage, actor);
          } else show(written.present);
          return written;
        });
      },
    });
  return {
    load: <K extends ItemKind>(ref: RefOf<K>) =>
      read<Found<ItemOf<K>>>(`load ${ref.item}`, () => ledger.load(ref), show),
    loadDestination: (id) =>
      read(
        'load gate',
        () => ledger.loadDestination(id),
        () => stage.note(actor, { kind: 'look', destination: id }),
      ),
    loadEvent: (id) => read('load event with all', () => ledger.loadEvent(id)),
    loadSlots: (id) => read('load places', () => ledger.loadSlots(id)),
    loadOperationMessages: (...query) => read('load messages', () => ledger.loadOperationMessages(...query)),
    create: (item) => write(item, () => ledger.create(item)),
    replace: (before, next) => write(next, () => ledger.replace(before, next)),
  };
};

const isFreshClaim = (item: Item): boolean =>
  item.item === 'delivery' && item.status === 'claimed' && item.sweeps === 0 && item.claim.sendingAtMs === undefined;

/** It dies, or stands still: long enough for a lease that is too short, or for somebody else's in its place. */
const strike = (stage: Stage, actor: Actor): void => {
  const n = stage.draws.nth('claim');
  const fault = stage.fates.pick('claim', 'claim', n);
  if (fault === 'crash-with-claim') stage.crash(actor);
  if (fault !== 'freeze-with-claim') return;
  stage.freeze(actor, Math.floor(5_000 + stage.draws.at('claim', n) * 60_000));
};

const pagesOf = (stage: Stage, actor: Actor): Receiver['pages'] => {
  const { pages } = stage.store;
  const isEmpty = (what: string): boolean => {
    stage.drawLag();
    return stage.fates.pick('index', what, stage.draws.nth(what)) === 'index-empty';
  };
  const page = <T>(what: string, perform: () => Promise<T>): Promise<T> =>
    stage.call(actor, { what, site: 'read', perform });
  return {
    due: (...query) => page('due rows', async () => (isEmpty('due page') ? [] : pages.due(...query))),
    list: (query) => page('list', async (): Promise<Page> => (isEmpty('list page') ? { refs: [] } : pages.list(query))),
    count: (...query) => page('count', () => pages.count(...query)),
  };
};
