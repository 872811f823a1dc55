/**
 * The ports of one worker, each call waiting at the gate of the stage. What can go wrong with a call is written here:
 *
 *   read     ok | fails
 *   write    ok | not applied, throws | applied, throws | applied, repeated by the client and refused | throws, applied later
 *   publish  ok | not taken | taken, but answered as failed
 */
import type { Item, ItemKind, ItemOf } from '../../functions/core/items.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { type Ledger, PortUnavailable, type Publication, type Published, type Written } from '../../functions/ports.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import type { Partner } from './partner.ts';
import {
  type Actor,
  GATE,
  GHOST,
  HEARTBEAT,
  PACE,
  PLACES,
  QUEUE,
  ROW,
  SETTINGS,
  type Stage,
  type Way,
} from './stage.ts';
import { nameOf, type Store } from './store.ts';

/** What workers share. */
export interface Shared {
  readonly stage: Stage;
  readonly store: Store;
  readonly partner: Partner;
  /** What stands there, item by item: the truth against which writes are judged. */
  readonly standing: Map<string, Item>;
  published(actor: Actor, publication: Publication, taken: boolean): void;
}

const OBJECTS: Readonly<Partial<Record<ItemKind, number>>> = {
  delivery: ROW,
  gate: GATE,
  heartbeat: HEARTBEAT,
  slot: PLACES,
};
const objectOf = (kind: ItemKind): number => OBJECTS[kind] ?? SETTINGS;

const unreachable = (): PortUnavailable => new PortUnavailable('ledger', 'the ledger is out of reach');

export const portsOf = (shared: Shared, actor: Actor): Receiver => ({
  ledger: ledgerOf(shared, actor),
  pages: {
    // One row is all there is: behind it lies nothing, and to look there is no step of its own.
    due: async (shard, untilMs, limit, after) =>
      after === undefined ? read(shared, actor, 'due rows', ROW, () => shared.store.due(shard, untilMs, limit)) : [],
    list: (query) => read(shared, actor, 'list', ROW, () => shared.store.list(query)),
    count: async () => 0,
  },
  pace: { take: (...slot) => takeSlot(shared, actor, () => shared.store.pace.take(...slot)) },
  deadLetters: NO_DEAD_LETTERS,
  queue: {
    limits: { delayMsMax: 604_800_000, messageBytesMax: 262_144 },
    publish: (publication) => publish(shared, actor, publication),
  },
  push: { verify: () => ({ kind: 'authentic' }), unwrap: () => ({ kind: 'senseless', reason: 'not used here' }) },
  sender: shared.partner.senderOf(actor),
  secrets: { signing: () => read(shared, actor, 'secrets', SETTINGS, async () => [SECRET]) },
  telemetry: { line: () => undefined, count: () => undefined },
  clock: {
    nowMs: () => shared.stage.clockOf(actor),
    // Some hundred milliseconds; no bound of the protocol is that short, so time itself stands still.
    sleep: () => plain(shared, actor, 'a short sleep'),
  },
  dice: { draw: () => 0, id: () => actor.nextId(), bytes: (count) => new Uint8Array(count) },
  tickMs: 60_000,
});

const NONE = { kind: 'failed', code: 'unused', detail: 'no dead letters here' } as const;
const NO_DEAD_LETTERS: Receiver['deadLetters'] = {
  traits: { reachesById: true, countsExactly: true },
  stats: async () => NONE,
  read: async () => NONE,
  redrive: async () => NONE,
  discard: async () => NONE,
  release: async () => undefined,
};

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

const plain = (shared: Shared, actor: Actor, what: string): Promise<void> =>
  new Promise((resolve) => {
    shared.stage.wait(actor, {
      what,
      kind: 'other',
      ways: () => [{ name: 'ok', fault: false, reads: 0, writes: 0, go: resolve }],
    });
  });

const read = <T>(
  shared: Shared,
  actor: Actor,
  what: string,
  object: number,
  perform: () => Promise<T>,
  observe?: (value: T) => void,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const ways: readonly Way[] = [
      {
        name: 'ok',
        fault: false,
        reads: object,
        writes: 0,
        go: () => {
          perform().then((value) => {
            observe?.(value);
            resolve(value);
          }, reject);
        },
      },
      { name: 'fails', fault: true, reads: 0, writes: 0, go: () => reject(unreachable()) },
    ];
    shared.stage.wait(actor, { what, kind: 'read', ways: () => ways });
  });

const takeSlot = (shared: Shared, actor: Actor, perform: () => Promise<number>): Promise<number> =>
  new Promise((resolve, reject) => {
    const ways: readonly Way[] = [
      { name: 'ok', fault: false, reads: 0, writes: PACE, go: () => void perform().then(resolve, reject) },
      { name: 'fails', fault: true, reads: 0, writes: 0, go: () => reject(unreachable()) },
    ];
    shared.stage.wait(actor, { what: 'take a slot', kind: 'other', ways: () => ways });
  });

const ledgerOf = (shared: Shared, actor: Actor): Ledger => {
  const { ledger } = shared.store;
  return {
    load: (ref) =>
      read(
        shared,
        actor,
        `load ${ref.item}`,
        objectOf(ref.item),
        () => ledger.load(ref),
        (found) => {
          if (found.kind === 'found') noteRead(shared, actor, found.item);
        },
      ),
    loadDestination: (id) =>
      read(
        shared,
        actor,
        'load destination',
        GATE | SETTINGS,
        () => ledger.loadDestination(id),
        ({ gate }) => {
          shared.stage.note(actor, { kind: 'gate', paused: gate.kind === 'found' && gate.item.pause !== undefined });
        },
      ),
    loadEvent: (id) => read(shared, actor, 'load event', SETTINGS, () => ledger.loadEvent(id)),
    loadSlots: (id) => read(shared, actor, 'load places', PLACES, () => ledger.loadSlots(id)),
    loadOperationMessages: (...query) => ledger.loadOperationMessages(...query),
    create: (item) => write(shared, actor, item, undefined, () => ledger.create(item)),
    replace: (before, next) => write(shared, actor, next, before, () => ledger.replace(before, next)),
  };
};

const write = <K extends ItemKind>(
  shared: Shared,
  actor: Actor,
  item: Item,
  before: Item | undefined,
  perform: () => Promise<Written<ItemOf<K>>>,
): Promise<Written<ItemOf<K>>> => {
  const object = objectOf(item.item);
  const apply = async (by: Actor): Promise<Written<ItemOf<K>>> => {
    const written = await perform();
    if (written.kind === 'written') noteWrite(shared, by, item);
    else if (written.present.kind === 'found') noteRead(shared, by, written.present.item);
    return written;
  };
  return new Promise((resolve, reject) => {
    const fail = () => reject(unreachable());
    const open = () => shared.standing.get(nameOf(item))?.version === before?.version;
    const way = (name: string, writes: number, go: () => void): Way => ({
      name,
      fault: name !== 'ok',
      reads: name === 'missed' || name === 'late' ? 0 : object,
      writes,
      go,
    });
    const ok = () => void apply(actor).then(resolve, reject);
    // Versions only grow: what is refused now is refused for ever, and then a lost answer is as good as a missed write.
    const refused = [way('ok', 0, ok), way('missed', 0, fail)];
    const standing = [
      way('ok', object, ok),
      way('missed', 0, fail),
      way('lost', object, () => void apply(actor).then(fail, reject)),
      way('echoed', object, () => void apply(actor).then(() => repeat(shared, actor, object, ok), reject)),
      way('late', 0, () => {
        applyLater(shared, actor, () => (open() ? object : 0), apply);
        fail();
      }),
    ];
    shared.stage.wait(actor, {
      what: `${before ? 'replace' : 'create'} ${item.item}`,
      kind: 'write',
      ways: () => (open() ? standing : refused),
    });
  });
};

/** The client repeats a write whose answer was lost on the way: now it is refused, with whatever stands there by then. */
const repeat = (shared: Shared, actor: Actor, object: number, go: () => void): void =>
  shared.stage.wait(actor, {
    what: 'the repeated write',
    kind: 'other',
    ways: () => [{ name: 'ok', fault: false, reads: object, writes: 0, go }],
  });

/** The write is still on its way after its worker has given it up; it may come at any time, or never (`missed`). */
const applyLater = (
  shared: Shared,
  actor: Actor,
  object: () => number,
  apply: (by: Actor) => Promise<unknown>,
): void => {
  const ghost = shared.stage.actor(`${actor.name}${GHOST}${actor.nextSeq()}`, actor.skewMs);
  shared.stage.wait(ghost, {
    what: 'the late write',
    kind: 'other',
    ways: () => [{ name: 'ok', fault: false, reads: 0, writes: object(), go: () => void apply(ghost) }],
  });
};

const noteWrite = (shared: Shared, actor: Actor, item: Item): void => {
  const before = shared.standing.get(nameOf(item));
  shared.standing.set(nameOf(item), item);
  if (item.item === 'delivery' && before?.item === 'delivery') {
    shared.stage.note(actor, { kind: 'write', before, row: item });
  } else {
    shared.stage.note(actor, { kind: 'other-write', before, item });
  }
};

const noteRead = (shared: Shared, actor: Actor, item: Item): void => {
  const isRow = (found: Item): found is Delivery => found.item === 'delivery';
  if (isRow(item)) shared.stage.note(actor, { kind: 'read', row: item });
};

const publish = (shared: Shared, actor: Actor, publication: Publication): Promise<Published> =>
  new Promise((resolve) => {
    const way = (name: string, taken: boolean, published: Published): Way => ({
      name,
      fault: name !== 'ok',
      reads: 0,
      writes: taken ? QUEUE : 0,
      go: () => {
        shared.published(actor, publication, taken);
        resolve(published);
      },
    });
    const failed: Published = { kind: 'failed', code: 'timeout', detail: 'no answer' };
    const ways = [
      way('ok', true, { kind: 'published', messageId: `m-${publication.key}` }),
      way('not-taken', false, failed),
      way('lost', true, failed),
    ];
    shared.stage.wait(actor, { what: 'publish', kind: 'other', ways: () => ways });
  });
