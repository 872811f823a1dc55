import { describe, expect, it } from 'vitest';
import { fromItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { keyOf, refOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { createTwin, type Operation } from '../../functions/adapters/ledger/twin.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { claimedRow, deliveredRow, eventIdOf, pendingRow, T0_MS } from '../support/rows.ts';

const LINE = { kind: 'rate', number: 1 } as const;

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
    const { ledger, pages, pace } = createTwin({ clock, intercept: (operation) => void asked.push(operation) });
    const ref = refOf(row);
    await ledger.load(ref);
    await ledger.loadDestination(row.destination);
    await ledger.loadEvent(row.event);
    await ledger.loadSlots(row.destination);
    await ledger.loadOperationMessages('op-1', 0, 10);
    await ledger.create(row);
    await ledger.replace(row, next);
    await pages.due(0, T0_MS, 1);
    await pages.list({ list: 'open', limit: 1 });
    await pages.count({ list: 'open' }, 1);
    await pace.take(row.destination, LINE, T0_MS, 100);
    expect(asked).toStrictEqual([
      { kind: 'load', ref },
      { kind: 'loadDestination' },
      { kind: 'loadEvent' },
      { kind: 'loadSlots' },
      { kind: 'loadOperationMessages' },
      { kind: 'create', ref },
      { kind: 'replace', ref },
      { kind: 'due' },
      { kind: 'list' },
      { kind: 'count' },
      { kind: 'take' },
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

  it('has given no slot where the call was stopped before it, and one where only the answer was lost', async () => {
    const stopped = createTwin({ clock, intercept: outage });
    await expect(stopped.pace.take(row.destination, LINE, T0_MS, 100)).rejects.toThrow(PortUnavailable);
    expect(stopped.store.writes).toStrictEqual([]);
    const lost = createTwin({ clock, after: outage });
    await expect(lost.pace.take(row.destination, LINE, T0_MS, 100)).rejects.toThrow(PortUnavailable);
    expect(lost.store.writes).toHaveLength(1);
  });
});

describe('the twin without a history', () => {
  it('shows the same items and lists, and keeps nothing of what was written over or removed', async () => {
    const twins = [createTwin({ clock }), createTwin({ clock, keepsHistory: false })];
    const seen = await Promise.all(
      twins.map(async ({ ledger, pages, store }) => {
        await ledger.create(row);
        await ledger.replace(row, next);
        const open = await pages.list({ list: 'open', limit: 10 });
        const found = await ledger.load(refOf(next) as Parameters<typeof ledger.load<'delivery'>>[0]);
        store.remove(keyOf(refOf(row)));
        return { open, found, after: await pages.list({ list: 'open', limit: 10 }), writes: store.writes.length };
      }),
    );
    expect(seen[1]).toStrictEqual({ ...seen[0], writes: 0 });
    expect(seen[0]).toMatchObject({ writes: 3, open: { refs: [refOf(row)] }, after: { refs: [] } });
  });
});

describe('the indexes of the twin, when they lag', () => {
  const events = ['e0', 'e1', 'e2'].map(eventIdOf);
  const lagging = (writes: number) => {
    const lag = { writes };
    const twin = createTwin({ clock, indexLag: () => lag.writes });
    const open = async () => {
      const { refs } = await twin.pages.list({ list: 'open', limit: 10 });
      return refs.map((ref) => ('event' in ref ? ref.event : ''));
    };
    return { ...twin, lag, open };
  };

  it('do not show the latest writes, while the rows themselves do', async () => {
    const { ledger, open, pages } = lagging(1);
    for (const event of events) await ledger.create(pendingRow({ event }));
    expect((await open()).toSorted()).toStrictEqual(['e0', 'e1']);
    expect(await pages.count({ list: 'open' }, 10)).toBe(2);
    const last = await ledger.load({ item: 'delivery', event: eventIdOf('e2'), destination: row.destination });
    expect(last.kind).toBe('found');
  });

  it('still show a row where it stood before: an entry that disagrees with its row', async () => {
    const { ledger, pages, lag, open } = lagging(0);
    await ledger.create(row);
    expect(await open()).toHaveLength(1);
    lag.writes = 1;
    const delivered = deliveredRow({ version: 2 });
    await ledger.replace(row, delivered);
    expect(await open()).toHaveLength(1);
    expect(await pages.count({ list: 'open' }, 10)).toBe(1);
    lag.writes = 0;
    expect(await open()).toStrictEqual([]);
  });

  it('never go back: what they have shown once stays shown when the lag grows', async () => {
    const { ledger, lag, open } = lagging(0);
    for (const event of events) await ledger.create(pendingRow({ event }));
    expect(await open()).toHaveLength(3);
    lag.writes = 3;
    expect(await open()).toHaveLength(3);
  });

  it('show nothing at all behind a lag that is longer than the history, and all of it in the end', async () => {
    const { ledger, lag, open } = lagging(1_000);
    for (const event of events) await ledger.create(pendingRow({ event }));
    expect(await open()).toStrictEqual([]);
    lag.writes = 0;
    expect(await open()).toHaveLength(3);
  });
});
