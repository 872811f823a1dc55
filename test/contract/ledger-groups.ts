/** What the port `Ledger` promises of items that are read together, and of names at their bounds. */
import { expect } from 'vitest';
import { keyOf, refOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { FORMAT } from '../../functions/core/model.ts';
import {
  claimIdOf,
  conflictItem,
  destinationIdOf,
  destinationItem,
  eventIdOf,
  eventItem,
  fullRow,
  gateItem,
  operationItem,
  operationMessageItem,
  pendingRow,
  secretItem,
  sha256Of,
  slotItem,
} from '../support/rows.ts';
import { changed, found, type LedgerCheck, WRITTEN } from './ledger-writes.ts';

const ABSENT = { kind: 'absent' };

const together: readonly LedgerCheck[] = [
  {
    name: 'reads settings and gate of a destination together, whichever of the two there are',
    run: async ({ ledger }) => {
      const config = destinationItem();
      const gate = gateItem({ closedUntilMs: 5, closedSinceMs: 4 });
      const id = config.destination;
      expect(await ledger.loadDestination(id)).toStrictEqual({ config: ABSENT, gate: ABSENT });
      await ledger.create(gate);
      expect(await ledger.loadDestination(id)).toStrictEqual({ config: ABSENT, gate: found(gate) });
      await ledger.create(config);
      await ledger.create(secretItem());
      await ledger.create(destinationItem({ destination: destinationIdOf(`${id}2`) }));
      expect(await ledger.loadDestination(id)).toStrictEqual({ config: found(config), gate: found(gate) });
    },
  },
  {
    name: 'reads nothing else of the partition of a destination: pace and slots may stand there',
    run: async (harness) => {
      const config = destinationItem();
      await harness.ledger.create(config);
      const { pk } = keyOf(refOf(config));
      for (const sk of ['pace', 'slot#0', 'd-later', 'a-later']) await harness.poke({ pk: { S: pk }, sk: { S: sk } });
      const both = await harness.ledger.loadDestination(config.destination);
      expect(both).toStrictEqual({ config: found(config), gate: ABSENT });
    },
  },
  {
    name: 'reads an event with all its deliveries and conflicts, and nothing of its neighbours',
    run: async ({ ledger }) => {
      const destinations = Array.from({ length: 10 }, (_, n) => destinationIdOf(`d${n}`));
      const event = eventItem({ destinations });
      const rows = destinations.map((destination) => pendingRow({ destination }));
      const conflicts = ['x', 'y'].map((text, n) => conflictItem({ n, fingerprint: sha256Of(text) }));
      for (const item of [event, ...rows, ...conflicts]) await ledger.create(item);
      await ledger.create(pendingRow({ event: eventIdOf(`${event.event}#delivery`) }));
      const items = await ledger.loadEvent(event.event);
      expect(items).toHaveLength(13);
      expect(items).toEqual(expect.arrayContaining([event, ...rows, ...conflicts]));
      expect(await ledger.loadEvent(eventIdOf('unknown'))).toStrictEqual([]);
    },
  },
  {
    name: 'reads it whole where it is larger than a page of the store, and leaves out what only later code knows',
    run: async (harness) => {
      const { ledger } = harness;
      const event = eventItem({ payload: new Uint8Array(262_144).fill(1) });
      const [known, later] = [pendingRow(), pendingRow({ destination: destinationIdOf('z') })];
      for (const item of [event, known, later]) await ledger.create(item);
      await changed(harness, later, { f: { N: String(FORMAT + 1) } });
      const { pk } = keyOf(refOf(event));
      for (const sk of ['b#1', 'b#2', 'b#3']) {
        await harness.poke({ pk: { S: pk }, sk: { S: sk }, big: { S: 'x'.repeat(390_000) } });
      }
      expect(await ledger.loadEvent(event.event)).toStrictEqual([known, event]);
    },
  },
];

const slots: readonly LedgerCheck[] = [
  {
    name: 'reads the slots of a destination in the order of their numbers, and nothing else that stands beside them',
    run: async (harness) => {
      const { ledger } = harness;
      const { destination } = slotItem();
      expect(await ledger.loadSlots(destination)).toStrictEqual([]);
      const taken = [10, 2, 0, 11, 1, 100].map((n) => slotItem({ n }));
      const beside = [destinationItem(), gateItem(), slotItem({ destination: destinationIdOf(`${destination}2`) })];
      for (const item of [...taken, ...beside]) await ledger.create(item);
      const { pk } = keyOf(refOf(slotItem()));
      for (const sk of ['pace', 'slot', 'slot#', 'slot#01', 'slot#1x', 'slot#x', 'slots#1', 'z']) {
        await harness.poke({ pk: { S: pk }, sk: { S: sk } });
      }
      expect(await ledger.loadSlots(destination)).toStrictEqual(taken.toSorted((a, b) => a.n - b.n));
    },
  },
  {
    name: 'shows a slot as it is taken and released, and leaves out one that only later code knows',
    run: async (harness) => {
      const { ledger } = harness;
      const [free, later] = [slotItem(), slotItem({ n: 1 })];
      for (const slot of [free, later]) await ledger.create(slot);
      const taken = { ...free, version: 2, holder: claimIdOf('claim-7') };
      expect(await ledger.replace(free, taken)).toStrictEqual(WRITTEN);
      expect(await ledger.loadSlots(free.destination)).toStrictEqual([taken, later]);
      await changed(harness, later, { f: { N: String(FORMAT + 1) } });
      const released = slotItem({ version: 3 });
      expect(await ledger.replace(taken, released)).toStrictEqual(WRITTEN);
      expect(await ledger.loadSlots(free.destination)).toStrictEqual([released]);
    },
  },
];

const messages: readonly LedgerCheck[] = [
  {
    name: 'reads the messages of an operation from a position on, in their order, and so many at most',
    run: async (harness) => {
      const { ledger } = harness;
      const { operation } = operationItem();
      const all = Array.from({ length: 25 }, (_, position) => operationMessageItem({ position }));
      const beside = [
        operationItem(),
        operationItem({ operation: `${operation}#message` }),
        operationMessageItem({ operation: `${operation}2` }),
      ];
      for (const item of [...all.toSorted((a, b) => (a.position % 7) - (b.position % 7)), ...beside]) {
        await ledger.create(item);
      }
      const { pk } = keyOf(refOf(operationItem()));
      for (const sk of ['message#', 'message#1', 'message#x', 'messages', 'z']) {
        await harness.poke({ pk: { S: pk }, sk: { S: sk } });
      }
      const read = (from: number, limit: number) => ledger.loadOperationMessages(operation, from, limit);
      expect(await read(0, 100)).toStrictEqual(all);
      expect(await read(0, 10)).toStrictEqual(all.slice(0, 10));
      expect(await read(9, 2)).toStrictEqual(all.slice(9, 11));
      expect(await read(20, 10)).toStrictEqual(all.slice(20));
      expect(await read(25, 10)).toStrictEqual([]);
      expect(await read(1_000_000_000, 10)).toStrictEqual([]);
      expect(await read(0, 0)).toStrictEqual([]);
      expect(await ledger.loadOperationMessages('unknown', 0, 10)).toStrictEqual([]);
    },
  },
  {
    name: 'reads as many of them where they are larger than a page of the store',
    run: async ({ ledger }) => {
      const all = Array.from({ length: 8 }, (_, position) =>
        operationMessageItem({ position, detail: `${position}`.repeat(300_000) }),
      );
      await Promise.all(all.map((message) => ledger.create(message)));
      const read = (limit: number) => ledger.loadOperationMessages('op-1', 0, limit);
      expect((await read(8)).map(({ position }) => position)).toStrictEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      expect((await read(6)).map(({ position }) => position)).toStrictEqual([0, 1, 2, 3, 4, 5]);
    },
  },
  {
    name: 'shows each message as it was recorded last, and leaves out one that only later code knows',
    run: async (harness) => {
      const { ledger } = harness;
      const [one, later] = [operationMessageItem(), operationMessageItem({ position: 1 })];
      for (const message of [one, later]) await ledger.create(message);
      await changed(harness, later, { f: { N: String(FORMAT + 1) } });
      const judged = { ...one, version: 2, result: 'delivered', judgedAtMs: 9 } as const;
      expect(await ledger.replace(one, judged)).toStrictEqual(WRITTEN);
      expect(await ledger.loadOperationMessages('op-1', 0, 10)).toStrictEqual([judged]);
    },
  },
];

const names: readonly LedgerCheck[] = [
  {
    name: 'holds the longest ids, and a row with a full journal',
    run: async ({ ledger }) => {
      const row = fullRow();
      expect(await ledger.create(row)).toStrictEqual(WRITTEN);
      expect(await ledger.load(refOf(row))).toStrictEqual(found(row));
      expect(await ledger.replace(row, { ...row, version: row.version + 1 })).toStrictEqual(WRITTEN);
    },
  },
  {
    name: 'keeps items apart whose ids look like each other put together',
    run: async ({ ledger }) => {
      const pairs = [
        ['a#b', 'c'],
        ['a', 'b#c'],
        ['a#delivery#b', 'c'],
        ['a', 'delivery#b'],
        ['a', 'b'],
        ['A', 'b'],
        ['é', 'b'],
        ['e\u0301', 'b'],
      ] as const;
      const rows = pairs.map(([event, destination], n) =>
        pendingRow({ event: eventIdOf(event), destination: destinationIdOf(destination), sweeps: n }),
      );
      for (const row of rows) expect(await ledger.create(row)).toStrictEqual(WRITTEN);
      for (const row of rows) expect(await ledger.load(refOf(row))).toStrictEqual(found(row));
    },
  },
];

export const GROUP_CHECKS: readonly LedgerCheck[] = [...together, ...slots, ...messages, ...names];
