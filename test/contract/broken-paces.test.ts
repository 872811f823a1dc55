/** The contract of the pace can fail: each spoiled one breaks one promise, and the check of that promise finds it. */
import { describe } from 'vitest';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { createMemoryPace } from '../../functions/adapters/ledger/memory-pace.ts';
import type { Pace } from '../../functions/ports.ts';
import { destinationIdOf, T0_MS } from '../support/rows.ts';
import { type MakeHarness, spoiledHarness } from './ledger-harness.ts';
import { eachIsFound, type SpoiledCase } from './ledger-spoiled.ts';

const pace = (spoil: (sound: Pace) => Pace): MakeHarness => spoiledHarness(() => ({ pace: spoil }));

const sane = (record: Stored | undefined): Stored | undefined =>
  record && { ...record, f: { N: '1' }, nextMs: { N: record['nextMs']?.N ?? '0' } };

const SPOILED: readonly SpoiledCase[] = [
  {
    ledger: 'saves idle time up',
    make: pace(({ take }) => ({
      take: (destination, line, _fromMs, stepMs) => take(destination, line, T0_MS, stepMs),
    })),
    foundBy: /^saves no idle time up/,
  },
  {
    ledger: 'looks at the pace in one moment and moves it in another',
    make: pace(() => {
      const next = new Map<string, number>();
      return {
        take: async (destination, _line, fromMs, stepMs) => {
          const slot = Math.max(next.get(destination) ?? fromMs, fromMs);
          await undefined;
          next.set(destination, slot + stepMs);
          return slot;
        },
      };
    }),
    foundBy: /^hands out 100 slots to 100 who ask at once/,
  },
  {
    ledger: 'rounds each step of the pace',
    make: pace(({ take }) => ({
      take: (destination, line, fromMs, stepMs) =>
        take(destination, line, fromMs, stepMs > 1 ? Math.round(stepMs) : stepMs),
    })),
    foundBy: /^keeps fractions of a step/,
  },
  {
    ledger: 'gives slots in fractions of a millisecond',
    make: pace(({ take }) => ({ take: async (...slot) => (await take(...slot)) + (slot[3] % 1) })),
    foundBy: /^keeps fractions of a step/,
  },
  {
    ledger: 'has one pace for all destinations',
    make: pace(({ take }) => ({ take: (_destination, ...slot) => take(destinationIdOf('partner'), ...slot) })),
    foundBy: /^keeps a pace for each destination by itself/,
  },
  {
    ledger: 'paces a destination whatever stands there',
    make: spoiledHarness((sound) => ({
      pace: () => createMemoryPace({ peek: (key) => sane(sound.peek(key)), poke: sound.poke }),
    })),
    foundBy: /^gives no slot by an item that is broken or of a later format/,
  },
];

describe('the contract of the pace', () => {
  eachIsFound(SPOILED);
});
