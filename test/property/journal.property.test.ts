import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { append, causeOf, emptyJournal, readLine, verifyChain } from '../../functions/core/journal.ts';
import { ATTEMPTS_MAX } from '../../functions/core/limits.ts';
import type { Entry, Journal, JournalLine } from '../../functions/core/model.ts';
import { destinationIdOf, eventIdOf, START_MS, writeIdOf } from '../support/machine.ts';

const REF = { event: eventIdOf('order-17'), destination: destinationIdOf('partner') };
const HASH = 'payload-hash';
const OTHER = { ...REF, event: eventIdOf('order-18') };

const base = fc.record({
  atMs: fc.integer({ min: START_MS, max: START_MS + 10 ** 11 }),
  writeId: fc.stringMatching(/^[\w-]{1,11}$/).map(writeIdOf),
  cause: fc.string({ maxLength: 40 }).map((id) => causeOf('push', id).slice(0, 22)),
});
const attempt = fc.integer({ min: 1, max: ATTEMPTS_MAX });
const detail = fc.constantFrom('dns', 'timeout', 'connect-timeout', 'header-overflow');
const outcomeClass = fc.constantFrom('delivered', 'failed', 'throttled', 'in-doubt', 'withheld', 'not-sent' as const);

const entry: fc.Arbitrary<Entry> = fc.oneof(
  base.map((given): Entry => ({ kind: 'accepted', ...given })),
  fc
    .tuple(base, attempt, fc.option(fc.integer({ min: 1, max: 99_999 }), { nil: undefined }))
    .map(([given, number, count]): Entry => {
      const waits = { count: count ?? 0, sinceMs: given.atMs, reason: 'rate' as const };
      return { kind: 'claimed', ...given, attempt: number, ...(count === undefined ? {} : { waits }) };
    }),
  fc.tuple(base, attempt, outcomeClass, detail, fc.integer({ min: 0, max: 20_000 })).map(
    ([given, number, is, what, durationMs]): Entry => ({
      ...{ kind: 'outcome', ...given, attempt: number, class: is, detail: what, durationMs },
      nextAtMs: given.atMs + durationMs,
    }),
  ),
  base.map((given): Entry => ({ kind: 'redriven', ...given, grant: 10, secondEffect: true })),
  base.map((given): Entry => ({ kind: 'decision', ...given, decision: 'refuse', detail: 'payload-changed' })),
);
const entries = fc.array(entry, { minLength: 1, maxLength: 30 });
const written = (all: readonly Entry[]): Journal => append(emptyJournal(REF, HASH), ...all);

describe('every journal', () => {
  it('reads as it was written, line by line, and its chain leads to its head [M17]', () => {
    fc.assert(
      fc.property(entries, (all) => {
        const journal = written(all);
        expect(journal.lines.map((line) => line.entry)).toEqual(all);
        for (const line of journal.lines) expect(readLine(line.text)).toEqual(line);
        expect(verifyChain(REF, HASH, journal)).toBe(true);
        expect(verifyChain(OTHER, HASH, journal)).toBe(false);
      }),
    );
  });

  it('is the same, however its entries were put together', () => {
    fc.assert(
      fc.property(entries, fc.nat(), (all, at) => {
        const cut = at % all.length;
        const parts = append(written(all.slice(0, cut)), ...all.slice(cut));
        expect(parts).toEqual(written(all));
      }),
    );
  });

  type Damage = (lines: readonly JournalLine[], at: number, by: number) => readonly JournalLine[];
  const damages: readonly (readonly [string, Damage])[] = [
    ['removed', (lines, at) => lines.filter((_line, index) => index !== at)],
    ['repeated', (lines, at) => lines.flatMap((line, index) => (index === at ? [line, line] : [line]))],
    ['changed', (lines, at, by) => lines.map((line, index) => (index === at ? bent(line, by) : line))],
    ['cut off behind it', (lines, at) => lines.slice(0, at)],
  ];
  const bent = (line: JournalLine, by: number): JournalLine => {
    const at = by % line.text.length;
    const other = line.text[at] === 'x' ? 'y' : 'x';
    return { ...line, text: line.text.slice(0, at) + other + line.text.slice(at + 1) };
  };

  it.each(damages)('shows that a line was %s [M17]', (_name, damage) => {
    fc.assert(
      fc.property(entries, fc.nat(), fc.nat(), (all, at, by) => {
        const journal = written(all);
        const lines = damage(journal.lines, at % all.length, by);
        expect(verifyChain(REF, HASH, { ...journal, lines })).toBe(false);
      }),
    );
  });

  it('shows that two lines were swapped, unless they are the same', () => {
    fc.assert(
      fc.property(entries, fc.nat(), fc.nat(), (all, a, b) => {
        const { lines, head } = written(all);
        const [one, two] = [lines[a % all.length], lines[b % all.length]];
        fc.pre(one !== undefined && two !== undefined && one.text !== two.text);
        const swapped = lines.map((line) => (line === one ? two : line === two ? one : line));
        expect(verifyChain(REF, HASH, { head, lines: swapped })).toBe(false);
      }),
    );
  });
});

describe('every cause', () => {
  it('is short, plain, the same each time, and another one for another id', () => {
    const id = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ maxLength: 300 }), fc.uuid());
    fc.assert(
      fc.property(id, id, (one, two) => {
        const cause = causeOf('push', one);
        expect(cause).toMatch(/^p[:#][!-~]{0,38}$/);
        expect(JSON.stringify(cause)).toHaveLength(cause.length + 2);
        expect(causeOf('push', one)).toBe(cause);
        expect(causeOf('push', two) === cause).toBe(one === two);
      }),
      { numRuns: 1_000 },
    );
  });
});
