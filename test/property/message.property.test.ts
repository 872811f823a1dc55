import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDestinationId, parseEventId } from '../../functions/core/ids.ts';
import { INSTANT_MS_MAX } from '../../functions/core/instant.ts';
import { DUE_SHARDS } from '../../functions/core/limits.ts';
import {
  type DrainMessage,
  deliverBody,
  drainBody,
  readMessage,
  redriveBody,
  sweepBody,
} from '../../functions/core/message.ts';
import { START_MS } from '../support/machine.ts';

const read = (text: string) => readMessage(Buffer.from(text), START_MS);

const DELIVER = JSON.stringify({ kind: 'deliver', format: 1, event: 'order-17', destination: 'partner' });

/** Every id that may come in, byte for byte: blanks, quotes, letters of any kind. */
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 40 }));
const eventId = text.map(parseEventId).filter((parsed) => parsed.kind === 'ok');
const destinationId = text.map(parseDestinationId).filter((parsed) => parsed.kind === 'ok');

describe('every message that this code publishes', () => {
  it('is accepted by this code and means the same, whatever the ids hold [C144]', () => {
    fc.assert(
      fc.property(eventId, destinationId, (event, destination) => {
        expect(read(deliverBody(event.id, destination.id))).toEqual({
          kind: 'message',
          message: { kind: 'deliver', event: event.id, destination: destination.id },
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('is accepted by this code, for every internal kind and every number and cursor [C144]', () => {
    const whole = fc.integer({ min: 0, max: INSTANT_MS_MAX });
    const shards = fc.nat({ max: DUE_SHARDS - 1 });
    const cursor = fc.option(
      fc.string({ unit: 'binary', maxLength: 100 }).filter((made) => made.isWellFormed()),
      {
        nil: undefined,
      },
    );
    const drain = fc.record({ drain: whole, page: whole, fromMs: whole, sent: whole });
    fc.assert(
      fc.property(shards, whole, whole, drain, destinationId, cursor, (one, two, three, place, destination, at) => {
        expect(read(sweepBody(one, two, three))).toEqual({
          kind: 'message',
          message: { kind: 'sweep', shard: one, tick: two, page: three },
        });
        expect(read(redriveBody('op-1', one, two))).toEqual({
          kind: 'message',
          message: { kind: 'redrive', operation: 'op-1', position: one, turn: two },
        });
        const first: DrainMessage = { kind: 'drain', destination: destination.id, ...place };
        const message = at === undefined ? first : { ...first, cursor: at };
        expect(read(drainBody(message))).toEqual({ kind: 'message', message });
      }),
    );
  });

  it('fits a small message of any transport', () => {
    fc.assert(
      fc.property(eventId, destinationId, (event, destination) => {
        expect(Buffer.byteLength(deliverBody(event.id, destination.id))).toBeLessThan(4_096);
      }),
    );
  });
});

describe('every event message', () => {
  const spaced = fc.json({ maxDepth: 4 }).map((json) => json.replaceAll(',"', ' , "'));

  it('hands the bytes of its payload on as they were written', () => {
    fc.assert(
      fc.property(spaced, eventId, (payload, event) => {
        const id = JSON.stringify(event.id);
        const result = read(
          `{"kind":"event","event":{"id":${id},"payload": ${payload} ,"destinations":["d"]},"format":1}`,
        );
        // Two keys of one object can be the same text: then there is no content to hand on.
        if (result.kind === 'senseless') return expect(result.reason).toMatch(/same key twice/);
        if (result.kind !== 'message' || result.message.kind !== 'event') throw new TypeError(result.kind);
        expect(Buffer.from(result.message.submission.payload).toString('utf8')).toBe(payload);
      }),
      { numRuns: 500 },
    );
  });
});

describe('whatever comes from the queue', () => {
  const nearly = fc
    .tuple(fc.constantFrom(DELIVER, sweepBody(1, 2, 3)), fc.nat(), fc.integer({ min: 0, max: 255 }))
    .map(([body, at, byte]) => {
      const bytes = Buffer.from(body);
      bytes[at % bytes.length] = byte;
      return bytes;
    });
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((json) => Buffer.from(json)),
    nearly,
  );

  it('is a message, newer, or senseless with a reason; it never throws', () => {
    fc.assert(
      fc.property(anything, (body) => {
        const result = readMessage(body, START_MS);
        expect(['message', 'newer', 'senseless']).toContain(result.kind);
        if (result.kind !== 'message') expect(result.reason).not.toBe('');
      }),
      { numRuns: 2_000 },
    );
  });

  it('is never both: a later format is newer, whatever its other members are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 2 ** 40 }), fc.string(), fc.jsonValue(), (format, kind, event) => {
        expect(read(JSON.stringify({ kind, format, event })).kind).toBe('newer');
      }),
    );
  });
});
