/** What the port `Ledger` promises of items that are read together, and of names at their bounds. */
import { expect } from 'vitest';
import { keyOf, refOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { FORMAT } from '../../functions/core/model.ts';
import {
  conflictItem,
  destinationIdOf,
  destinationItem,
  eventIdOf,
  eventItem,
  fullRow,
  gateItem,
  pendingRow,
  secretItem,
  sha256Of,
} from '../support/rows.ts';
import { changed, found, type LedgerCheck, WRITTEN } from './ledger-writes.ts';

const ABSENT = { kind: 'absent' };

export const GROUP_CHECKS: readonly LedgerCheck[] = [
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
      const conflicts = ['x', 'y'].map((text) => conflictItem({ fingerprint: sha256Of(text) }));
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
