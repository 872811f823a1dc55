/** What the port `Pace` promises: slots that are handed out once each, one step apart, and none saved up. */
import { expect } from 'vitest';
import { keyOf, refOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { paceKey } from '../../functions/adapters/ledger/pace.ts';
import { FORMAT } from '../../functions/core/model.ts';
import type { PaceLine } from '../../functions/ports.ts';
import { destinationIdOf, destinationItem, gateItem, T0_MS } from '../support/rows.ts';
import type { LedgerHarness } from './ledger-harness.ts';
import { found, type LedgerCheck } from './ledger-writes.ts';

const PARTNER = destinationIdOf('partner');

/** The line in which deliveries wait to be sent. */
const LINE: PaceLine = { kind: 'rate', number: 3 };
const NEXT_LINE: PaceLine = { ...LINE, number: 4 };
const PLACES: PaceLine = { kind: 'places', number: 0 };

/** As many takes at once, each of them asking from its own present. */
const takes = ({ pace }: LedgerHarness, count: number, stepMs: number, fromMs = (_n: number) => T0_MS) =>
  Promise.all(Array.from({ length: count }, (_, n) => pace.take(PARTNER, LINE, fromMs(n), stepMs)));

const ascending = (slots: readonly number[]): readonly number[] => slots.toSorted((a, b) => a - b);

const stepsFrom = (fromMs: number, count: number, stepMs: number): readonly number[] =>
  Array.from({ length: count }, (_, n) => fromMs + n * stepMs);

const slots: readonly LedgerCheck[] = [
  {
    name: 'hands out 100 slots to 100 who ask at once: distinct, the first right away, exactly a step apart',
    run: async (harness) => {
      expect(ascending(await takes(harness, 100, 200))).toStrictEqual(stepsFrom(T0_MS, 100, 200));
      expect(ascending(await takes(harness, 100, 200))).toStrictEqual(stepsFrom(T0_MS + 20_000, 100, 200));
    },
  },
  {
    name: 'does so whatever the clocks of those who ask say, and gives nobody a slot in its past',
    run: async (harness) => {
      const fromMs = (n: number) => T0_MS + ((n * 37) % 50);
      const given = await takes(harness, 50, 200, fromMs);
      const sorted = ascending(given);
      expect(sorted).toStrictEqual(stepsFrom(sorted[0] ?? 0, 50, 200));
      expect(given.filter((slot, n) => slot < fromMs(n))).toStrictEqual([]);
      expect(Math.max(...given)).toBeLessThan(T0_MS + 50 + 50 * 200);
    },
  },
  {
    name: 'saves no idle time up: after a pause it begins at the present, and does not catch up',
    run: async ({ pace }) => {
      expect(await pace.take(PARTNER, LINE, T0_MS, 200)).toBe(T0_MS);
      const laterMs = T0_MS + 3_600_000;
      expect(await pace.take(PARTNER, LINE, laterMs, 200)).toBe(laterMs);
      expect(await pace.take(PARTNER, LINE, laterMs, 200)).toBe(laterMs + 200);
    },
  },
  {
    name: 'is free again exactly a step behind the latest slot, and not a millisecond before',
    run: async ({ pace }) => {
      await pace.take(PARTNER, LINE, T0_MS, 200);
      expect(await pace.take(PARTNER, LINE, T0_MS + 199, 200)).toBe(T0_MS + 200);
      expect(await pace.take(PARTNER, LINE, T0_MS + 400, 200)).toBe(T0_MS + 400);
      expect(await pace.take(PARTNER, LINE, T0_MS + 601, 200)).toBe(T0_MS + 601);
    },
  },
  {
    name: 'gives all who stand in one line slots behind each other, at whatever step and from whatever time they ask',
    run: async ({ pace }) => {
      expect(await pace.take(PARTNER, LINE, T0_MS + 60_000, 1_000)).toBe(T0_MS + 60_000);
      expect(await pace.take(PARTNER, LINE, T0_MS + 60_500, 100)).toBe(T0_MS + 61_000);
      expect(await pace.take(PARTNER, LINE, T0_MS, 100)).toBe(T0_MS + 61_100);
    },
  },
  {
    name: 'begins a later line at once, and not behind the slots that were given out in an earlier one',
    run: async ({ pace }) => {
      for (let n = 0; n < 3; n += 1) await pace.take(PARTNER, LINE, T0_MS, 1_000_000);
      expect(await pace.take(PARTNER, NEXT_LINE, T0_MS, 10)).toBe(T0_MS);
      expect(await pace.take(PARTNER, NEXT_LINE, T0_MS, 10)).toBe(T0_MS + 10);
    },
  },
  {
    name: 'lets who has not heard of the later line into that one: it does not begin again',
    run: async ({ pace }) => {
      await pace.take(PARTNER, NEXT_LINE, T0_MS, 1_000);
      expect(await pace.take(PARTNER, LINE, T0_MS, 100)).toBe(T0_MS + 1_000);
      expect(await pace.take(PARTNER, NEXT_LINE, T0_MS, 1_000)).toBe(T0_MS + 1_100);
    },
  },
  {
    name: 'keeps who asks for a place out of the line of those who are sent',
    run: async ({ pace }) => {
      for (let n = 0; n < 3; n += 1) await pace.take(PARTNER, LINE, T0_MS + 840_000, 200);
      expect(await pace.take(PARTNER, PLACES, T0_MS, 200)).toBe(T0_MS);
      expect(await pace.take(PARTNER, LINE, T0_MS, 200)).toBe(T0_MS + 840_600);
    },
  },
  {
    name: 'keeps two items a destination, however many closings and settings it has seen',
    run: async ({ pace, peek }) => {
      for (let number = 0; number < 5; number += 1) {
        await pace.take(PARTNER, { ...LINE, number }, T0_MS + number, 100 + number);
        await pace.take(PARTNER, PLACES, T0_MS + number, 100 + number);
      }
      const kept = await Promise.all([peek(paceKey(PARTNER, 'rate')), peek(paceKey(PARTNER, 'places'))]);
      expect(kept.map((record) => [record?.['line'], record?.['nextMs']])).toStrictEqual([
        [{ N: '4' }, { N: String(T0_MS + 108) }],
        [{ N: '0' }, { N: String(T0_MS + 510) }],
      ]);
    },
  },
  {
    name: 'keeps a pace for each destination by itself',
    run: async ({ pace }) => {
      const names = ['partner', 'partner2', 'partner#pace', 'Partner'].map(destinationIdOf);
      for (const name of names) expect(await pace.take(name, LINE, T0_MS, 500)).toBe(T0_MS);
      for (const name of names) expect(await pace.take(name, LINE, T0_MS, 500)).toBe(T0_MS + 500);
    },
  },
  {
    name: 'keeps fractions of a step: at 3 a second, 1,000 slots drift by less than a millisecond',
    run: async (harness) => {
      const given: number[] = [];
      for (let batch = 0; batch < 10; batch += 1) given.push(...(await takes(harness, 100, 1_000 / 3)));
      const sorted = ascending(given);
      const wanted = stepsFrom(T0_MS, 1_000, 1_000 / 3);
      const drifts = sorted.map((slot, n) => slot - (wanted[n] ?? 0));
      expect(sorted.every(Number.isInteger)).toBe(true);
      // Rounded up: a slot is never before its time, and less than a millisecond behind it.
      expect(Math.min(...drifts)).toBeGreaterThan(-0.001);
      expect(Math.max(...drifts)).toBeLessThan(1);
      expect(await harness.pace.take(PARTNER, LINE, T0_MS, 1_000 / 3)).toBe(T0_MS + 333_334);
    },
  },
  {
    name: 'takes a time or a step that is none for a bug, and gives nothing',
    run: async (harness) => {
      const strange = [
        [T0_MS, 0],
        [T0_MS, -1],
        [T0_MS, Number.NaN],
        [T0_MS, Number.POSITIVE_INFINITY],
        [T0_MS, 1e-9],
        [T0_MS + 0.5, 100],
        [Number.NaN, 100],
        [-1, 100],
      ] as const;
      for (const [fromMs, stepMs] of strange) {
        await expect(harness.pace.take(PARTNER, LINE, fromMs, stepMs)).rejects.toThrow(RangeError);
      }
      expect(await harness.peek(paceKey(PARTNER, 'rate'))).toBeUndefined();
    },
  },
];

const neighbours: readonly LedgerCheck[] = [
  {
    name: 'stands beside the settings and the gate of a destination, and touches neither',
    run: async ({ ledger, pace }) => {
      const [config, gate] = [destinationItem(), gateItem({ closedUntilMs: 5, closedSinceMs: 4 })];
      await ledger.create(config);
      await ledger.create(gate);
      await pace.take(PARTNER, LINE, T0_MS, 200);
      await pace.take(PARTNER, LINE, T0_MS, 200);
      expect(await ledger.loadDestination(PARTNER)).toStrictEqual({ config: found(config), gate: found(gate) });
      expect(await ledger.loadSlots(PARTNER)).toStrictEqual([]);
      const next = { ...gate, version: 2, closedUntilMs: 6 };
      expect(await ledger.replace(gate, next)).toStrictEqual({ kind: 'written' });
      expect(await pace.take(PARTNER, LINE, T0_MS, 200)).toBe(T0_MS + 400);
    },
  },
  {
    name: 'has given away a slot whose answer was lost, and gives it to nobody else',
    run: async (harness) => {
      harness.loseNextAnswer();
      const unavailable = { name: 'PortUnavailable', port: 'ledger' };
      await expect(harness.pace.take(PARTNER, LINE, T0_MS, 200)).rejects.toMatchObject(unavailable);
      expect(await harness.pace.take(PARTNER, LINE, T0_MS, 200)).toBe(T0_MS + 200);
    },
  },
  {
    name: 'gives no slot by an item that is broken or of a later format, and leaves it as it is',
    run: async (harness) => {
      const { pk, sk } = keyOf(refOf(gateItem()));
      expect(sk).not.toBe(paceKey(PARTNER, 'rate').sk);
      const key = { pk: { S: pk }, sk: { S: paceKey(PARTNER, 'rate').sk } };
      const records = [
        { ...key, f: { N: String(FORMAT + 1) }, line: { N: '3' }, nextMs: { N: String(T0_MS + 500) } },
        { ...key, f: { N: String(FORMAT + 1) }, line: { N: '3' }, nextMs: { N: '0' } },
        { ...key, f: { N: String(FORMAT) }, line: { N: '3' }, nextMs: { S: 'soon' } },
        { ...key, f: { N: String(FORMAT) }, nextMs: { N: String(T0_MS + 500) } },
      ];
      for (const record of records) {
        await harness.poke(record);
        const unavailable = { name: 'PortUnavailable', message: expect.stringContaining('"pace#rate"') };
        await expect(harness.pace.take(PARTNER, LINE, T0_MS, 200)).rejects.toMatchObject(unavailable);
        expect(await harness.peek(paceKey(PARTNER, 'rate'))).toStrictEqual(record);
      }
    },
  },
];

export const PACE_CHECKS: readonly LedgerCheck[] = [...slots, ...neighbours];
