/** Brings the delivery of `order-17` to `partner` into a state, by the way on which it gets there in life. */
import { keyOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { FORMAT_ATTRIBUTE } from '../../functions/adapters/ledger/schema.ts';
import { parseWriteId, type WriteId } from '../../functions/core/ids.ts';
import { FORMAT } from '../../functions/core/model.ts';
import type { Ref } from '../../functions/ports.ts';
import { transition } from '../../functions/steps/transition.ts';
import { destinationId, eventId, type TestWorld } from './world.ts';
import { answered, type HeldSend, unanswered } from './world-ports.ts';

export const EVENT = 'order-17';
export const PARTNER = 'partner';
export const ROW: Ref = { item: 'delivery', event: eventId(EVENT), destination: destinationId(PARTNER) };

export const writeId = (text: string): WriteId => {
  const parsed = parseWriteId(text);
  if (parsed.kind === 'bad') throw new TypeError(`write id ${parsed.reason}`);
  return parsed.id;
};

/** Past all code of ours: what newer code, a repair by hand or a fault leaves in the table. */
export const alter = (world: TestWorld, ref: Ref, change: (record: Stored) => Stored): void => {
  const record = world.store.peek(keyOf(ref));
  if (record === undefined) throw new Error(`nothing stands under ${JSON.stringify(ref)}`);
  world.store.poke(change(record));
};

export const toLaterFormat = (world: TestWorld, ref: Ref): void =>
  alter(world, ref, (record) => ({ ...record, [FORMAT_ATTRIBUTE]: { N: String(FORMAT + 1) } }));

export const pause = async (world: TestWorld, destination = PARTNER): Promise<void> => {
  const gate = { item: 'gate', destination: destinationId(destination), carried: {} } as const;
  const by = { by: 'holder-of-pause', reason: 'maintenance', sinceMs: world.clock.nowMs() };
  const found = await world.records.load({ item: 'gate', destination: gate.destination });
  if (found.kind === 'found') {
    await world.records.replace(found.item, { ...found.item, version: found.item.version + 1, pause: by });
  } else await world.records.create({ ...gate, version: 1, pause: by });
};

export const resume = async (world: TestWorld, destination = PARTNER): Promise<void> => {
  const found = await world.records.load({ item: 'gate', destination: destinationId(destination) });
  if (found.kind !== 'found') return;
  const { pause: _over, ...rest } = found.item;
  await world.records.replace(found.item, { ...rest, version: rest.version + 1 });
};

export const opened = async (world: TestWorld, settings?: Readonly<Record<string, unknown>>): Promise<TestWorld> => {
  await world.destination(PARTNER, settings);
  await world.accepted(EVENT, PARTNER);
  return world;
};

/** A worker that has claimed and sent, and gets no answer yet. Its push goes on in the background. */
export const sending = async (world: TestWorld): Promise<HeldSend & { readonly push: Promise<unknown> }> => {
  const held = world.sender.hold();
  const push = world.deliver(EVENT, PARTNER);
  await held.left;
  return { ...held, push };
};

/** A worker that was killed behind its claim: nothing of it will ever be heard again. */
export const killedWhileSending = async (world: TestWorld): Promise<void> => {
  const { push } = await sending(world);
  push.catch(() => {});
};

const cancel = async (world: TestWorld): Promise<void> => {
  const input = { kind: 'cancel', writeId: writeId('w-cancel'), cause: 'a:cancel' } as const;
  await transition(world.ports, await world.row(EVENT, PARTNER), input);
};

/** In each of them a push must be acknowledged without writing a thing. */
export const RESTING: Readonly<Record<string, (world: TestWorld) => Promise<unknown>>> = {
  delivered: async (world) => {
    await opened(world);
    await world.deliver(EVENT, PARTNER);
  },
  cancelled: async (world) => {
    await opened(world);
    await cancel(world);
  },
  'cancelled as a shadow': async (world) => {
    await opened(world, { mode: 'shadow' });
    await world.deliver(EVENT, PARTNER);
  },
  'quarantined as rejected': async (world) => {
    await opened(world);
    world.sender.script(answered(422));
    await world.deliver(EVENT, PARTNER);
  },
  'quarantined as gone': async (world) => {
    await opened(world);
    world.sender.script(answered(410));
    await world.deliver(EVENT, PARTNER);
  },
  'quarantined in doubt': async (world) => {
    await opened(world, { repeatSafe: false });
    world.sender.script(unanswered('timeout'));
    await world.deliver(EVENT, PARTNER);
  },
  'claimed and live': async (world) => {
    await opened(world);
    await killedWhileSending(world);
  },
  'waiting for its retry': async (world) => {
    await opened(world);
    world.sender.script(answered(500));
    await world.deliver(EVENT, PARTNER);
  },
  'early: wanted later': async (world) => {
    await world.destination(PARTNER);
    await world.submit({ id: EVENT, payload: 1, destinations: [PARTNER], deliverAt: world.clock.nowMs() + 3_600_000 });
  },
  'parked at a paused destination': async (world) => {
    await opened(world);
    await pause(world);
    await world.deliver(EVENT, PARTNER);
  },
  'deferred until a closed destination opens': async (world) => {
    await opened(world);
    await world.submit({ id: 'other', payload: 1, destinations: [PARTNER] });
    world.sender.script(answered(429, { retryAfter: ['60'] }));
    await world.deliver('other', PARTNER);
    await world.deliver(EVENT, PARTNER);
  },
  'parked at a destination that is closed for long': async (world) => {
    await opened(world);
    await world.submit({ id: 'other', payload: 1, destinations: [PARTNER] });
    world.sender.script(answered(503, { retryAfter: ['3600'] }));
    await world.deliver('other', PARTNER);
    await world.deliver(EVENT, PARTNER);
  },
};
