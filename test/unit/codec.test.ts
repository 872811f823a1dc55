import { describe, expect, it } from 'vitest';
import { fromItem, keyIn, toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { keyOf, refOf, refOfKeys } from '../../functions/adapters/ledger/codec/item-keys.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { INDEXES, TTL_ATTRIBUTE } from '../../functions/adapters/ledger/schema.ts';
import { deliveryOf, eventOf } from '../../functions/core/acceptance.ts';
import type { Item } from '../../functions/core/items.ts';
import { verifyChain } from '../../functions/core/journal.ts';
import { DELIVERY_ITEM_BYTES_MAX, DYNAMO_ITEM_BYTES_MAX, PAYLOAD_BYTES_MAX } from '../../functions/core/limits.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { itemBytes } from '../support/item-bytes.ts';
import { claimInput, moved, settleInput } from '../support/moves.ts';
import { oneOfEach } from '../support/one-of-each.ts';
import {
  cancelledRow,
  claimedRow,
  claimIdOf,
  decisionItem,
  deliveredRow,
  destinationIdOf,
  destinationItem,
  eventIdOf,
  eventItem,
  fullRow,
  gateItem,
  heartbeatItem,
  operationItem,
  operationMessageItem,
  parkedRow,
  pendingRow,
  poisonItem,
  quarantinedRow,
  sha256Of,
  slotItem,
  T0_MS,
  writeIdOf,
} from '../support/rows.ts';

const found = (item: Item) => ({ kind: 'found', item });

describe('an item in the table', () => {
  it.each(oneOfEach().map((item) => [`${item.item} ${'status' in item ? item.status : ''}`, item] as const))(
    'comes back as it was: %s',
    (_name, item) => {
      expect(fromItem(toItem(item))).toStrictEqual(found(item));
    },
  );

  it('names its key, from which its reference can be read back', () => {
    for (const item of oneOfEach()) {
      expect(keyIn(toItem(item))).toStrictEqual(keyOf(refOf(item)));
      expect(refOfKeys(keyOf(refOf(item)))).toStrictEqual(refOf(item));
    }
  });

  it.each([
    ['', ''],
    ['event#', 'event'],
    ['event#a', 'delivery#'],
    ['event#a', 'delivery'],
    ['event#a', 'later#x'],
    ['destination#a', 'pace'],
    ['secret#a', 'config'],
    ['destination#a', 'secret'],
    ['heartbeat#x', 'heartbeat'],
    ['heartbeat#01', 'heartbeat'],
    ['heartbeat#1', 'event'],
    ['decision#r', 'plan'],
    ['decision#', 'decision'],
    ['decision#a b', 'decision'],
    ['operation#o', 'operation'],
    ['operation#o', 'message#1'],
    ['operation#o', 'message#0000000001'],
    ['operation#o', 'message#00000000x'],
    ['destination#a', 'slot'],
    ['destination#a', 'slot#'],
    ['destination#a', 'slot#01'],
    ['destination#a', 'slot#-1'],
    ['secret#a', 'slot#1'],
  ])('has no reference where none of ours can stand: %j / %j', (pk, sk) => {
    expect(refOfKeys({ pk, sk })).toBeUndefined();
  });

  it('bears a format and a version, and no number but whole or given ones', () => {
    for (const item of oneOfEach()) {
      expect(toItem(item)).toMatchObject({ f: { N: '1' }, v: { N: String(item.version) } });
    }
  });

  it('has one unit for every time, in its name: Ms for milliseconds, Sec for the table alone (C005)', () => {
    for (const item of oneOfEach()) {
      for (const [name, value] of Object.entries(toItem(item))) {
        const number = Number(value.N ?? 0);
        if (number > 100_000_000_000) expect(name).toMatch(/^[a-z]+Ms$/);
        else if (number > 1_000_000_000) expect(name).toBe(TTL_ATTRIBUTE);
      }
    }
  });

  it('holds hashes and heads as bytes, and the lines of a journal as the exact texts', () => {
    const row = deliveredRow();
    const record = toItem(row);
    expect(record['ph']).toStrictEqual({ B: new Uint8Array(Buffer.from(row.payloadHash, 'base64url')) });
    expect(record['jh']?.B).toHaveLength(32);
    expect(record['j']).toStrictEqual({ L: row.journal.lines.map(({ text }) => ({ S: text })) });
  });

  it('keeps the journal under its chain, which is bound to the hash of the payload (C113)', () => {
    const back = fromItem(toItem(deliveredRow()));
    if (back.kind !== 'found' || back.item.item !== 'delivery') throw new Error('it is not there');
    const { journal, payloadHash } = back.item;
    expect(verifyChain(back.item, payloadHash, journal)).toBe(true);
    expect(verifyChain(back.item, sha256Of('other bytes'), journal)).toBe(false);
  });

  it('keeps a line to which newer code has added something, byte for byte', () => {
    const row = pendingRow();
    const [line] = row.journal.lines;
    const text = `${line?.text.slice(0, -1)},"z":"new"}`;
    const record = { ...toItem(row), j: { L: [{ S: text }] } };
    const back = fromItem(record);
    if (back.kind !== 'found' || back.item.item !== 'delivery') throw new Error('it is not there');
    expect(back.item.journal.lines).toStrictEqual([{ text, entry: line?.entry }]);
    expect(toItem(back.item)['j']).toStrictEqual(record.j);
  });
});

describe('the place of an item in the indexes', () => {
  const entries = (item: Item) => {
    const record = toItem(item);
    const names = Object.values(INDEXES).filter(({ partition, sort }) => record[partition.name] && record[sort.name]);
    return names.map(({ name }) => name);
  };

  it.each<readonly [string, readonly string[], Item]>([
    ['pending', ['due', 'recent'], pendingRow()],
    ['parked', ['due', 'attention', 'recent'], parkedRow()],
    ['claimed', ['due', 'recent'], claimedRow()],
    ['delivered', ['recent'], deliveredRow()],
    ['cancelled', ['recent'], cancelledRow()],
    ['quarantined', ['attention', 'recent'], quarantinedRow()],
    ['a destination', ['recent'], destinationItem()],
    ['poison', ['attention'], poisonItem()],
    ['a decision', ['recent'], decisionItem()],
    ['an operation', ['recent'], operationItem()],
    ['a message of an operation', [], operationMessageItem()],
    ['an event', [], eventItem()],
    ['a gate', [], gateItem()],
    ['a slot', [], slotItem()],
    ['a heartbeat', [], heartbeatItem()],
  ])('%s: %j', (_name, indexes, item) => {
    expect(entries(item)).toStrictEqual(indexes);
  });

  it('comes from the item alone: what was stored there is neither read nor kept', () => {
    const record = {
      ...toItem(deliveredRow()),
      dp: { S: 'due#0' },
      ap: { S: 'x' },
      as: { S: 'y' },
      rp: { S: 'wrong' },
    };
    const back = fromItem(record);
    expect(back).toStrictEqual(found(deliveredRow()));
    expect(back.kind === 'found' && toItem(back.item)).toStrictEqual(toItem(deliveredRow()));
  });

  it('of a decision and of an operation never moves either', () => {
    const place = (item: Item) => {
      const { rp, bornMs } = toItem(item);
      return [rp, bornMs];
    };
    const decision = decisionItem();
    expect(place({ ...decision, version: 2, result: 'done' })).toStrictEqual(place(decision));
    const plan = operationItem();
    const run = { ...plan, version: 9, state: 'done', startedAtMs: T0_MS + 1, endedAtMs: T0_MS + 2 } as const;
    expect(place(run)).toStrictEqual(place(plan));
  });

  it('among the recent ones never moves: each write would cost two units', () => {
    const accepted = pendingRow();
    const claimed = moved(accepted, claimInput(), T0_MS + 86_400_000);
    const settled = moved(claimed, settleInput(), T0_MS + 86_400_500);
    const place = ({ rp, bornMs }: Stored) => [rp, bornMs];
    expect(place(toItem(claimed))).toStrictEqual(place(toItem(accepted)));
    expect(place(toItem(settled))).toStrictEqual(place(toItem(accepted)));
  });
});

describe('the size of an item', () => {
  /** Ids as long as the cost of a delivery is stated for, and causes as long as a queue's and an API's own ids make them. */
  const typical = (): Delivery => {
    const event = eventOf(
      {
        event: eventIdOf('e'.repeat(40)),
        payload: new Uint8Array(512),
        contentType: 'application/json',
        fingerprint: sha256Of('f'),
        destinations: [destinationIdOf('d'.repeat(16))],
      },
      'api',
      T0_MS,
      undefined,
    );
    const config = destinationItem({ destination: destinationIdOf('d'.repeat(16)) });
    return deliveryOf(event, config, writeIdOf('w'.repeat(11)), `i:${'r'.repeat(36)}`, T0_MS);
  };
  const recorded = { writeId: writeIdOf('w'.repeat(11)), cause: `p:${'m'.repeat(36)}` };
  const claim = { ...recorded, claimId: claimIdOf('c'.repeat(11)), holder: 'h'.repeat(36) };

  it('stays within one write unit through a first attempt that succeeds', () => {
    const pending = typical();
    const claimed = moved(pending, claimInput(claim), T0_MS + 1_500);
    const settled = moved(claimed, settleInput({ ...recorded, claimId: claim.claimId }), T0_MS + 21_500);
    const sizes = [pending, claimed, settled].map((row) => itemBytes(toItem(row)));
    expect(Math.max(...sizes), `bytes as pending, claimed, delivered: ${sizes.join(', ')}`).toBeLessThan(900);
  });

  it('stays under its bound with the longest ids, a full journal and full excerpts (C063)', () => {
    expect(itemBytes(toItem(fullRow()))).toBeLessThan(DELIVERY_ITEM_BYTES_MAX);
  });

  it('of an event with the largest payload and the longest names is stored with room to spare', () => {
    const destinations = Array.from({ length: 10 }, (_, n) => destinationIdOf(`${n}`.repeat(256)));
    const event = eventItem({
      event: eventIdOf('e'.repeat(256)),
      payload: new Uint8Array(PAYLOAD_BYTES_MAX),
      destinations,
    });
    expect(itemBytes(toItem(event))).toBeLessThan(DYNAMO_ITEM_BYTES_MAX - 64 * 1_024);
  });
});
