/** What the port `Ledger` promises of single items: reads, creates, replaces, races, lost answers. */
import { expect } from 'vitest';
import { type ItemKey, keyOf, refOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import type { Item } from '../../functions/core/items.ts';
import { isOurs } from '../../functions/core/machine.ts';
import { FORMAT } from '../../functions/core/model.ts';
import { claimInput, moved, settleInput } from '../support/moves.ts';
import { oneOfEach } from '../support/one-of-each.ts';
import {
  claimedRow,
  claimIdOf,
  eventIdOf,
  eventItem,
  gateItem,
  pendingRow,
  T0_MS,
  writeIdOf,
} from '../support/rows.ts';
import type { LedgerHarness } from './ledger-harness.ts';

export interface LedgerCheck {
  readonly name: string;
  readonly run: (harness: LedgerHarness) => Promise<void>;
}

export const WRITTEN = { kind: 'written' };
export const found = (item: Item) => ({ kind: 'found', item });
const refused = (present: object) => ({ kind: 'refused', present });
const keyOfItem = (item: Item): ItemKey => keyOf(refOf(item));

/** The stored record of an item, after `change` was made behind the port's back. */
export const changed = async (harness: LedgerHarness, item: Item, change: Stored): Promise<Stored> => {
  const record = { ...(await harness.peek(keyOfItem(item))), ...change };
  await harness.poke(record);
  return record;
};

/** Attributes of every type that DynamoDB has, one of them a number that no double can hold. */
export const UNKNOWN: Stored = {
  zText: { S: 'é' },
  zNumber: { N: '12345678901234567890123456789012345678' },
  zBytes: { B: new Uint8Array([0, 255]) },
  zTexts: { SS: ['a', 'b'] },
  zNumbers: { NS: ['12345678901234567890123456789012345678'] },
  zManyBytes: { BS: [new Uint8Array([7])] },
  zMap: { M: { inner: { L: [{ BOOL: true }, { NULL: true }, { N: '1' }] } } },
};

const single: readonly LedgerCheck[] = [
  {
    name: 'brings back every kind of item exactly as it was written',
    run: async ({ ledger }) => {
      for (const item of oneOfEach()) {
        expect(await ledger.create(item)).toStrictEqual(WRITTEN);
        expect(await ledger.load(refOf(item))).toStrictEqual(found(item));
      }
    },
  },
  {
    name: 'keeps the bytes of a payload: all values, none at all, and 256 KB',
    run: async ({ ledger }) => {
      const payloads = [
        Uint8Array.from({ length: 256 }, (_, at) => at),
        new Uint8Array(),
        new Uint8Array(262_144).fill(9),
      ];
      for (const [at, payload] of payloads.entries()) {
        const item = eventItem({ event: eventIdOf(`e${at}`), payload });
        await ledger.create(item);
        expect(await ledger.load(refOf(item))).toStrictEqual(found(item));
      }
    },
  },
  {
    name: 'shares nothing with the caller: later changes to the bytes that were given or taken do not reach the ledger',
    run: async ({ ledger }) => {
      const payload = new Uint8Array([1, 2, 3]);
      const item = eventItem({ payload });
      await ledger.create(item);
      payload[0] = 99;
      const first = await ledger.load({ item: 'event', event: item.event });
      if (first.kind === 'found') first.item.payload[1] = 99;
      const second = await ledger.load({ item: 'event', event: item.event });
      expect(second).toStrictEqual(found({ ...item, payload: new Uint8Array([1, 2, 3]) }));
    },
  },
  {
    name: 'says of every kind of item that is not there that it is absent',
    run: async ({ ledger }) => {
      for (const item of oneOfEach()) expect(await ledger.load(refOf(item))).toStrictEqual({ kind: 'absent' });
    },
  },
  {
    name: 'refuses a create where something stands, brings it along and leaves it alone',
    run: async ({ ledger }) => {
      const first = pendingRow();
      const second = pendingRow({ budget: 3, version: 7 });
      await ledger.create(first);
      expect(await ledger.create(second)).toStrictEqual(refused(found(first)));
      expect(await ledger.load(refOf(first))).toStrictEqual(found(first));
    },
  },
  {
    name: 'writes a replace of the version that stands, and shows it to the next read',
    run: async ({ ledger }) => {
      const row = pendingRow();
      await ledger.create(row);
      const next = { ...row, version: 2, sweeps: 1 };
      expect(await ledger.replace(row, next)).toStrictEqual(WRITTEN);
      expect(await ledger.load(refOf(row))).toStrictEqual(found(next));
    },
  },
  {
    name: 'refuses a replace of a version that has passed, and brings along what stands',
    run: async ({ ledger }) => {
      const row = pendingRow();
      const rival = claimedRow({ version: 2 });
      await ledger.create(row);
      await ledger.replace(row, rival);
      expect(await ledger.replace(row, { ...row, version: 2, sweeps: 5 })).toStrictEqual(refused(found(rival)));
      expect(await ledger.load(refOf(row))).toStrictEqual(found(rival));
    },
  },
  {
    name: 'refuses a replace of an item that has vanished, and writes nothing',
    run: async (harness) => {
      const row = pendingRow();
      await harness.ledger.create(row);
      await harness.remove(keyOfItem(row));
      const result = await harness.ledger.replace(row, { ...row, version: 2 });
      expect(result).toStrictEqual(refused({ kind: 'absent' }));
      expect(await harness.peek(keyOfItem(row))).toBeUndefined();
    },
  },
  {
    name: 'takes a skipped version or another identity for a bug, and writes nothing',
    run: async ({ ledger }) => {
      const row = pendingRow();
      await ledger.create(row);
      await expect(ledger.replace(row, { ...row, version: 3 })).rejects.toThrow(RangeError);
      await expect(ledger.replace(row, pendingRow({ event: eventIdOf('other'), version: 2 }))).rejects.toThrow(
        TypeError,
      );
      expect(await ledger.load(refOf(row))).toStrictEqual(found(row));
    },
  },
];

const laterCode: readonly LedgerCheck[] = [
  {
    name: 'reports an item of a later format, and never overwrites it',
    run: async (harness) => {
      const { ledger } = harness;
      for (const item of oneOfEach()) {
        await ledger.create(item);
        const record = await changed(harness, item, { f: { N: String(FORMAT + 1) }, new: { S: 'meaning' } });
        const later = { kind: 'later', format: FORMAT + 1 };
        expect(await ledger.load(refOf(item))).toStrictEqual(later);
        expect(await ledger.create(item)).toStrictEqual(refused(later));
        expect(await ledger.replace(item, { ...item, version: item.version + 1 })).toStrictEqual(refused(later));
        expect(await harness.peek(keyOfItem(item))).toStrictEqual(record);
      }
    },
  },
  {
    name: 'carries attributes that this code does not know through a replace, untouched',
    run: async (harness) => {
      const { ledger } = harness;
      for (const item of oneOfEach()) {
        await ledger.create(item);
        await changed(harness, item, UNKNOWN);
        const read = await ledger.load(refOf(item));
        if (read.kind !== 'found') throw new Error(`it is ${read.kind}`);
        expect(await ledger.replace(read.item, { ...read.item, version: item.version + 1 })).toStrictEqual(WRITTEN);
        expect(await harness.peek(keyOfItem(item))).toMatchObject(UNKNOWN);
      }
    },
  },
  {
    name: 'carries them through the moves of the machine, from pending to delivered',
    run: async (harness) => {
      const { ledger } = harness;
      const row = pendingRow();
      await ledger.create(row);
      await changed(harness, row, UNKNOWN);
      for (const input of [claimInput(), settleInput()]) {
        const read = await ledger.load(refOf(row));
        if (read.kind !== 'found' || read.item.item !== 'delivery') throw new Error('the row is gone');
        await ledger.replace(read.item, moved(read.item, input, T0_MS + 1_000));
      }
      expect(await harness.peek(keyOfItem(row))).toMatchObject({ ...UNKNOWN, st: { S: 'delivered' } });
    },
  },
];

/** What must never be taken for a claim that is free: the claimed row with one thing wrong. */
const BROKEN_CLAIMS: Readonly<Record<string, Stored>> = {
  'without a lease': { leaMs: { S: '' } },
  'with a lease that is no number': { leaMs: { S: '1' } },
  'with a lease in fractions': { leaMs: { N: '1.5' } },
  'without a claim id': { cid: { S: '' } },
  'with a status of nobody': { st: { S: 'in-flight' } },
  'with a due time as if it were pending': { dueMs: { N: '1' } },
  'with a head of the wrong length': { jh: { B: new Uint8Array(31) } },
  'with a line that cannot be read': { j: { L: [{ S: '{' }] } },
};

const broken: readonly LedgerCheck[] = [
  {
    name: 'throws on broken data instead of guessing: a claim without a lease is not free (C002)',
    run: async (harness) => {
      const { ledger } = harness;
      const row = claimedRow();
      await ledger.create(row);
      const sound = (await harness.peek(keyOfItem(row))) ?? {};
      const { leaMs: _lease, ...leaseless } = sound;
      const records = [leaseless, ...Object.values(BROKEN_CLAIMS).map((change) => ({ ...sound, ...change }))];
      for (const record of records) {
        await harness.poke(record);
        const corrupt = { name: 'LedgerCorrupt', message: expect.stringContaining('delivery#partner') };
        await expect(ledger.load(refOf(row))).rejects.toMatchObject(corrupt);
        await expect(ledger.create(row)).rejects.toMatchObject(corrupt);
        const stale = { ...row, version: row.version - 1 };
        await expect(ledger.replace(stale, row)).rejects.toMatchObject(corrupt);
        expect(await harness.peek(keyOfItem(row))).toStrictEqual(record);
      }
    },
  },
];

/** The rounds of a race; a slower tier runs more of them. */
export const races = (rounds: number): readonly LedgerCheck[] => [
  {
    name: `lets exactly one of 100 rivals replace a version, and shows the winner to all others (${rounds} rounds)`,
    run: async ({ ledger }) => {
      let row = pendingRow();
      await ledger.create(row);
      for (let round = 0; round < rounds; round += 1) {
        const read = row;
        const rivals = Array.from({ length: 100 }, (_, n) => ({ ...read, version: read.version + 1, sweeps: n }));
        const results = await Promise.all(rivals.map((next) => ledger.replace(read, next)));
        const winners = rivals.filter((_, n) => results[n]?.kind === 'written');
        expect(winners).toHaveLength(1);
        row = winners[0] ?? row;
        const losers = results.filter(({ kind }) => kind === 'refused');
        expect(losers).toStrictEqual(Array.from({ length: 99 }, () => refused(found(row))));
      }
    },
  },
  {
    name: `lets exactly one of 100 rivals create an item, and shows it to all others (${rounds} rounds)`,
    run: async ({ ledger }) => {
      for (let round = 0; round < rounds; round += 1) {
        const event = eventIdOf(`contested-${round}`);
        const rivals = Array.from({ length: 100 }, (_, n) => pendingRow({ event, sweeps: n }));
        const results = await Promise.all(rivals.map((row) => ledger.create(row)));
        const winners = rivals.filter((_, n) => results[n]?.kind === 'written');
        expect(winners).toHaveLength(1);
        const present = winners[0] ? found(winners[0]) : {};
        const losers = results.filter(({ kind }) => kind === 'refused');
        expect(losers).toStrictEqual(Array.from({ length: 99 }, () => refused(present)));
      }
    },
  },
];

const PORT_UNAVAILABLE = { name: 'PortUnavailable', port: 'ledger' };

const lostAnswers: readonly LedgerCheck[] = [
  {
    name: 'has applied a write whose answer was lost: the repeat is refused, and the row shows whose it is',
    run: async (harness) => {
      const { ledger } = harness;
      const row = pendingRow();
      await ledger.create(row);
      const input = claimInput();
      const next = moved(row, input, T0_MS + 1_000);
      harness.loseNextAnswer();
      await expect(ledger.replace(row, next)).rejects.toMatchObject(PORT_UNAVAILABLE);
      const repeat = await ledger.replace(row, next);
      expect(repeat).toStrictEqual(refused(found(next)));
      expect(isOurs(next, input)).toBe(true);
      expect(isOurs(next, claimInput({ claimId: claimIdOf('rival'), writeId: writeIdOf('w-rival') }))).toBe(false);
    },
  },
  {
    name: 'shows it even when a rival has written behind it',
    run: async (harness) => {
      const { ledger } = harness;
      const row = pendingRow();
      await ledger.create(row);
      const input = claimInput();
      const next = moved(row, input, T0_MS + 1_000);
      harness.loseNextAnswer();
      await expect(ledger.replace(row, next)).rejects.toMatchObject(PORT_UNAVAILABLE);
      const lapsedAtMs = T0_MS + 120_000;
      const rival = claimInput({ claimId: claimIdOf('rival'), writeId: writeIdOf('w-rival'), cause: 'p:message-2' });
      const behind = moved(next, rival, lapsedAtMs);
      expect(await ledger.replace(next, behind)).toStrictEqual(WRITTEN);
      const repeat = await ledger.replace(row, next);
      expect(repeat).toStrictEqual(refused(found(behind)));
      expect(isOurs(behind, input)).toBe(true);
    },
  },
  {
    name: 'has created an item whose answer was lost: the repeat is refused, and brings the same item',
    run: async (harness) => {
      const gate = gateItem();
      harness.loseNextAnswer();
      await expect(harness.ledger.create(gate)).rejects.toMatchObject(PORT_UNAVAILABLE);
      expect(await harness.ledger.create(gate)).toStrictEqual(refused(found(gate)));
    },
  },
];

export const WRITE_CHECKS: readonly LedgerCheck[] = [...single, ...laterCode, ...broken, ...lostAnswers];
