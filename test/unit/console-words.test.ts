/** Times, counts and texts as the console writes them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pickOf, readPick } from '../../functions/operator/console/changes/picks.ts';
import { deliveryPath, withQuery } from '../../functions/operator/console/links.ts';
import { cappedNumber, clipped, counted, shown } from '../../functions/operator/console/text.ts';
import { away, clockText, spanOf } from '../../functions/operator/console/times.ts';
import { unescaped } from '../support/console.ts';
import { destinationId, eventId } from '../support/world.ts';

const NOW = Date.UTC(2026, 5, 15, 12, 0, 0);

describe('a span', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_500, '1.5 s'],
    [2_000, '2 s'],
    [59_400, '59 s'],
    [200_000, '3 min 20 s'],
    [7_500_000, '2 h 5 min'],
    [356_400_000, '4 d 3 h'],
    [86_400_000, '1 d'],
  ])('of %i ms is "%s"', (ms, text) => expect(spanOf(ms)).toBe(text));
});

describe('an instant', () => {
  it.each([
    [NOW, 'now'],
    [NOW - 5_000, '5 s ago'],
    [NOW + 7_200_000, 'in 2 h'],
    [NOW - 172_800_000, '2 d ago'],
  ])('%i is "%s" away', (ms, text) => expect(away(ms, NOW)).toBe(text));

  it('is written in UTC, with its year where that is another one', () => {
    expect(clockText(NOW, NOW)).toBe('15 Jun 12:00:00');
    expect(clockText(Date.UTC(2025, 11, 31, 23, 59, 59), NOW)).toBe('31 Dec 2025 23:59:59');
  });
});

describe('a count', () => {
  it('agrees with its noun, and says where nobody counted on', () => {
    expect([counted(1, 'delivery', 'deliveries'), counted(1_200, 'delivery', 'deliveries')]).toEqual([
      '1 delivery',
      '1,200 deliveries',
    ]);
    expect([cappedNumber(999, 1_000), cappedNumber(1_000, 1_000)]).toEqual(['999', '1,000+']);
  });
});

const anyText = fc
  .string({ unit: 'binary', maxLength: 300 })
  .filter((text) => !text.includes('\\u{') && !text.includes('\ufffd'));

describe('a text', () => {
  it('is all there, with its hidden characters shown, and is markup nowhere', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const page = String(shown(text));
        const inside = page
          .replace(/^<bdi>|<\/bdi>$/g, '')
          .replace(/<span class="hid">(\\u\{[0-9a-f]+\})<\/span>/g, '$1');
        expect(inside).not.toMatch(/[<>"']/);
        expect(page).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
        const back = unescaped(inside).replace(/\\u\{([0-9a-f]+)\}/g, (_, hex: string) =>
          String.fromCodePoint(Number.parseInt(hex, 16)),
        );
        expect(back).toBe(text);
      }),
    );
  });

  it('is cut to its place in a table, and never through a character', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, characters) => {
        expect(String(clipped(text, characters))).not.toContain('\ufffd');
      }),
    );
  });
});

const anyId = anyText.filter((text) => {
  try {
    return String(eventId(text)) === String(destinationId(text));
  } catch {
    return false;
  }
});

describe('an address', () => {
  it('leads to the ids that it was made of, and to no others', () => {
    fc.assert(
      fc.property(anyId, anyId, (event, destination) => {
        const path = deliveryPath({ event, destination });
        expect(new URL(path, 'https://ops.example').pathname).toBe(path);
        expect(path.split('/').map(decodeURIComponent)).toEqual([
          '',
          'console',
          'events',
          event,
          'deliveries',
          destination,
        ]);
        expect(readPick(pickOf({ event: eventId(event), destination: destinationId(destination) }))).toEqual({
          event,
          destination,
        });
        const query = withQuery('/console/quarantine', { destination, cursor: undefined });
        expect([...new URL(query, 'https://ops.example').searchParams]).toEqual([['destination', destination]]);
      }),
    );
  });
});
