import { describe, expect, it } from 'vitest';
import { fromItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { refOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { createTwin, type Operation } from '../../functions/adapters/ledger/twin.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { claimedRow, pendingRow, T0_MS } from '../support/rows.ts';

const clock = { nowMs: () => T0_MS };
const row = pendingRow();
const next = claimedRow({ version: 2 });
const outage = () => {
  throw new PortUnavailable('ledger', 'out of reach');
};

describe('the twin of the ledger', () => {
  it('has done nothing where the call was stopped before it', async () => {
    const { ledger, store } = createTwin({ clock, intercept: outage });
    await expect(ledger.create(row)).rejects.toThrow(PortUnavailable);
    expect(store.writes).toStrictEqual([]);
  });

  it('has done it where only the answer was lost', async () => {
    const { ledger, store } = createTwin({ clock, after: outage });
    await expect(ledger.create(row)).rejects.toThrow(PortUnavailable);
    expect(store.writes).toHaveLength(1);
  });

  it('says of each call what it is and which item it is about', async () => {
    const asked: Operation[] = [];
    const { ledger, pages } = createTwin({ clock, intercept: (operation) => void asked.push(operation) });
    const ref = refOf(row);
    await ledger.load(ref);
    await ledger.loadDestination(row.destination);
    await ledger.loadEvent(row.event);
    await ledger.create(row);
    await ledger.replace(row, next);
    await pages.due(0, T0_MS, 1);
    await pages.list({ list: 'open', limit: 1 });
    expect(asked).toStrictEqual([
      { kind: 'load', ref },
      { kind: 'loadDestination' },
      { kind: 'loadEvent' },
      { kind: 'create', ref },
      { kind: 'replace', ref },
      { kind: 'due' },
      { kind: 'list' },
    ]);
  });

  it('lets calls wait for each other in any order, and takes each of them in one step', async () => {
    const held = Promise.withResolvers<void>();
    let writes = 0;
    const { ledger, store } = createTwin({
      clock,
      intercept: ({ kind }) => {
        if (kind !== 'replace') return undefined;
        writes += 1;
        return writes === 1 ? held.promise : undefined;
      },
    });
    await ledger.create(row);
    const slow = ledger.replace(row, { ...row, version: 2, sweeps: 1 });
    expect(await ledger.replace(row, next)).toStrictEqual({ kind: 'written' });
    held.resolve();
    expect(await slow).toStrictEqual({ kind: 'refused', present: { kind: 'found', item: next } });
    expect(store.writes).toHaveLength(2);
  });

  it('keeps every write that took effect, in order, with what stood there before', async () => {
    const { ledger, store } = createTwin({ clock });
    await ledger.create(row);
    await ledger.create(row);
    await ledger.replace(row, next);
    await ledger.replace(row, next);
    const history = store.writes.map(({ order, ref, before, after }) => ({
      order,
      ref,
      before: before && fromItem(before),
      after: after && fromItem(after),
    }));
    const ref = refOf(row);
    expect(history).toStrictEqual([
      { order: 1, ref, before: undefined, after: { kind: 'found', item: row } },
      { order: 2, ref, before: { kind: 'found', item: row }, after: { kind: 'found', item: next } },
    ]);
  });
});
