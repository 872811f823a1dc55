import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DestinationId,
  decodeSegment,
  type EventId,
  parseDestinationId,
  parseEventId,
} from '../../functions/core/ids.ts';
import {
  deliveryKeyText,
  deliveryOfKeys,
  deliverySort,
  dueShard,
  eventPartition,
  outgoingKey,
  parseDeliveryKeyText,
  publishKey,
  publishKeyOf,
} from '../../functions/core/keys.ts';

interface Pair {
  readonly event: EventId;
  readonly destination: DestinationId;
}

const pairOf = (eventText: string, destinationText: string): Pair => {
  const event = parseEventId(eventText);
  const destination = parseDestinationId(destinationText);
  if (event.kind === 'bad' || destination.kind === 'bad')
    throw new Error(`${eventText} or ${destinationText} is no id`);
  return { event: event.id, destination: destination.id };
};

/** Few different signs, all of them dangerous somewhere: short ids out of them come close to each other often. */
const SIGNS = ['a', '#', ':', '|', '/', '%', '2', 'F', '1', ',', ' ', '\u00e9', 'e\u0301', '\u{1F4E6}', '"', '\\', '+'];
const idText = fc.array(fc.constantFrom(...SIGNS), { minLength: 1, maxLength: 6 }).map((signs) => signs.join(''));
const anyIdText = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((text) => parseEventId(text).kind === 'ok');
const pair = fc.tuple(fc.oneof(idText, anyIdText), fc.oneof(idText, anyIdText)).map(([e, d]) => pairOf(e, d));

/** One text cut at two places: the pairs that a plain separator cannot tell apart. */
const cuts = fc
  .tuple(fc.array(fc.constantFrom('a', '#', ':', ','), { minLength: 3, maxLength: 12 }), fc.nat(), fc.nat())
  .map(([signs, x, y]) => {
    const text = signs.join('');
    const at = (n: number): Pair => {
      const cut = 1 + (n % (text.length - 1));
      return pairOf(text.slice(0, cut), text.slice(cut));
    };
    return [at(x), at(y)] as const;
  });

/** Every pair of ids of one to three signs out of three: 39 x 39 of them. */
function* smallPairs(): Generator<Pair> {
  const signs = ['a', '#', ','];
  const one = signs;
  const two = one.flatMap((head) => signs.map((sign) => head + sign));
  const three = two.flatMap((head) => signs.map((sign) => head + sign));
  const all = [...one, ...two, ...three];
  for (const event of all) for (const destination of all) yield pairOf(event, destination);
}

const encodings: Readonly<Record<string, (pair: Pair) => string>> = {
  'delivery text': ({ event, destination }) => deliveryKeyText(event, destination),
  'outgoing key': ({ event, destination }) => outgoingKey(event, destination),
  'publish key': ({ event, destination }) => publishKey({ event, destination, version: 1 }),
  'table keys': ({ event, destination }) => JSON.stringify([eventPartition(event), deliverySort(destination)]),
};

const RUNS = { numRuns: 10_000 };

describe('keys of deliveries', () => {
  it.each(Object.entries(encodings))('%s: all 1,521 pairs of short ids get names of their own', (_name, encode) => {
    const pairs = [...smallPairs()];
    expect(pairs).toHaveLength(1_521);
    expect(new Set(pairs.map(encode)).size).toBe(pairs.length);
  });

  it('a plain separator would not do: the same pairs collide', () => {
    const pairs = [...smallPairs()];
    expect(new Set(pairs.map(({ event, destination }) => `${event}#${destination}`)).size).toBeLessThan(pairs.length);
  });

  it.each(Object.entries(encodings))('%s: one text cut at two places gives two names', (_name, encode) => {
    fc.assert(
      fc.property(cuts, ([a, b]) => (encode(a) === encode(b)) === (a.event === b.event)),
      RUNS,
    );
  });

  it('the generator of cuts finds the fault of a plain separator', () => {
    const naive = ({ event, destination }: Pair): string => `${event}${destination}`;
    const found = fc.check(
      fc.property(cuts, ([a, b]) => (naive(a) === naive(b)) === (a.event === b.event)),
      RUNS,
    );
    expect(found.failed).toBe(true);
  });

  it('random pairs never share a name', () => {
    const seen = new Map<string, string>();
    fc.assert(
      fc.property(pair, (ref) => {
        const whole = JSON.stringify([ref.event, ref.destination]);
        for (const encode of Object.values(encodings)) {
          const name = encode(ref);
          const before = seen.get(name);
          seen.set(name, whole);
          if (before !== undefined && before !== whole) return false;
        }
        return true;
      }),
      RUNS,
    );
    expect(seen.size).toBeGreaterThan(5_000);
  });

  it('what reads back, reads back to the same pair', () => {
    fc.assert(
      fc.property(pair, (ref) => {
        expect(parseDeliveryKeyText(deliveryKeyText(ref.event, ref.destination))).toEqual(ref);
        expect(deliveryOfKeys(eventPartition(ref.event), deliverySort(ref.destination))).toEqual(ref);
      }),
      RUNS,
    );
  });

  it('a text that reads back is the one text of its pair', () => {
    const text = fc
      .array(fc.constantFrom('1', '2', '0', ':', ',', 'a', '1:a,', '2:'), { maxLength: 8 })
      .map((s) => s.join(''));
    fc.assert(
      fc.property(text, (candidate) => {
        const ref = parseDeliveryKeyText(candidate);
        return ref === undefined || deliveryKeyText(ref.event, ref.destination) === candidate;
      }),
      RUNS,
    );
  });

  it('what goes out is ASCII, short and always the same', () => {
    fc.assert(
      fc.property(pair, fc.nat(), ({ event, destination }, version) => {
        const key = outgoingKey(event, destination);
        expect(key).toMatch(/^ow_[\w-]{43}$/);
        expect(outgoingKey(event, destination)).toBe(key);
        expect(publishKey({ event, destination, version })).toMatch(/^op_[\w-]{43}$/);
      }),
    );
  });

  it('a publish key names exactly its plan', () => {
    const small = fc.nat({ max: 12 });
    const plan = fc.record({ version: small, tick: fc.option(small, { nil: undefined }) });
    const { event, destination } = pairOf('a', 'b');
    const keyOf = ({ version, tick }: { version: number; tick: number | undefined }): string =>
      publishKey({ event, destination, version, ...(tick === undefined ? {} : { tick }) });
    fc.assert(
      fc.property(plan, plan, (a, b) => (keyOf(a) === keyOf(b)) === (a.version === b.version && a.tick === b.tick)),
    );
  });

  it('a publish key names exactly its kind and parts', () => {
    const parts = fc.array(fc.constantFrom('a', '1', ',', ':', '1:a,', ''), { maxLength: 4 });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        return (
          (publishKeyOf('drain', ...a) === publishKeyOf('drain', ...b)) === (JSON.stringify(a) === JSON.stringify(b))
        );
      }),
    );
  });

  it('a shard lies in range', () => {
    fc.assert(
      fc.property(pair, fc.integer({ min: 1, max: 64 }), ({ event, destination }, shards) => {
        const shard = dueShard(event, destination, shards);
        return (
          Number.isInteger(shard) && shard >= 0 && shard < shards && shard === dueShard(event, destination, shards)
        );
      }),
    );
  });
});

describe('ids in a path', () => {
  it('every id comes back from its percent-encoding', () => {
    fc.assert(
      fc.property(fc.oneof(idText, anyIdText), (id) => {
        expect(decodeSegment(encodeURIComponent(id))).toEqual({ kind: 'ok', text: id });
        const { pathname } = new URL(`http://h/v1/events/${encodeURIComponent(id)}`);
        expect(decodeSegment(pathname.slice('/v1/events/'.length))).toEqual({ kind: 'ok', text: id });
      }),
      { numRuns: 2_000 },
    );
  });

  it('any other input is answered and never thrown at', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.anything(), (text, thing) => {
        expect(['ok', 'bad']).toContain(decodeSegment(text).kind);
        expect(['ok', 'bad']).toContain(parseEventId(thing).kind);
      }),
      { numRuns: 2_000 },
    );
  });
});
