import { describe, expect, it } from 'vitest';
import { payloadHash } from '../../functions/core/fingerprint.ts';
import {
  type DestinationId,
  decodeSegment,
  type EventId,
  parseDestinationId,
  parseEventId,
} from '../../functions/core/ids.ts';
import { memberOf, readJson } from '../../functions/core/json-tree.ts';
import {
  deliveryKeyText,
  deliveryOfKeys,
  deliverySort,
  eventPartition,
  outgoingKey,
  parseDeliveryKeyText,
  publishKey,
} from '../../functions/core/keys.ts';
import { payloadOf } from '../../functions/core/payload.ts';

const pair = (eventText: string, destinationText: string): { event: EventId; destination: DestinationId } => {
  const event = parseEventId(eventText);
  const destination = parseDestinationId(destinationText);
  if (event.kind === 'bad' || destination.kind === 'bad') throw new Error('no id');
  return { event: event.id, destination: destination.id };
};
const read = (text: string) => {
  const document = readJson(new TextEncoder().encode(text));
  if (document.kind === 'bad') throw new Error(document.reason);
  return document;
};

/** Everything one delivery is called, from the table to the wire. */
const namesOf = (eventText: string, destinationText: string): readonly string[] => {
  const { event, destination } = pair(eventText, destinationText);
  return [
    JSON.stringify([eventPartition(event), deliverySort(destination)]),
    deliveryKeyText(event, destination),
    outgoingKey(event, destination),
    publishKey({ event, destination, version: 1 }),
  ];
};
const expectApart = (a: readonly string[], b: readonly string[]): void => {
  for (const [at, name] of a.entries()) expect(name).not.toBe(b[at]);
};

describe('a business key that holds the separator', () => {
  const separators = ['#', ':', '|', '/', '%', ',', '%23', '\\', '::', '1:'];

  it.each(separators)('stays two deliveries wherever %j stands [C035]', (sign) => {
    expectApart(namesOf(`a${sign}b`, 'c'), namesOf('a', `b${sign}c`));
    // The twin: joined by the sign itself, the two would be one.
    expect([`a${sign}b`, 'c'].join(sign)).toBe(['a', `b${sign}c`].join(sign));
  });

  it.each(separators)('reads back from its row and from its text with %j in it [C035]', (sign) => {
    const { event, destination } = pair(`a${sign}b`, `${sign}c${sign}`);
    expect(deliveryOfKeys(eventPartition(event), deliverySort(destination))).toEqual({ event, destination });
    expect(parseDeliveryKeyText(deliveryKeyText(event, destination))).toEqual({ event, destination });
  });

  it('is refused at the door or never: what was taken has all its names [C035]', () => {
    for (let code = 0x20; code < 0x2100; code += 1) {
      const text = `${String.fromCharCode(code)}${String.fromCharCode(code)}x`;
      if (parseEventId(text).kind === 'bad') continue;
      expect(() => namesOf(text, text)).not.toThrow();
    }
  });
});

describe('a business key that is a number', () => {
  const bodies = ['{"id":9007199254740992}', '{"id":9007199254740993}'];

  it('is refused at the door with the reason [C067]', () => {
    for (const body of bodies) {
      const id = memberOf(read(body).root, 'id');
      const result = parseEventId(id !== undefined && 'value' in id ? id.value : undefined);
      expect(result).toMatchObject({ kind: 'bad', reason: expect.stringContaining('2^53') });
    }
    // The twin: taken as the number that was read, the two ids are one.
    expect(JSON.parse(bodies[0] ?? '')).toEqual(JSON.parse(bodies[1] ?? ''));
  });

  it('as text stays itself [C067]', () => {
    expectApart(namesOf('9007199254740992', 'c'), namesOf('9007199254740993', 'c'));
  });

  it('inside a payload two such numbers are two contents [C067]', () => {
    const fingerprints = bodies.map((body) => {
      const document = read(`{"payload":${body}}`);
      const result = payloadOf(document, document.root);
      return result.kind === 'ok' ? result.fingerprint : result.reason;
    });
    expect(new Set(fingerprints).size).toBe(2);
  });
});

describe('a business key that no header can carry', () => {
  it.each([
    ['an emoji', '\u{1F4E6}'],
    ['Cyrillic', '\u0417\u0430\u043a\u0430\u0437'],
    ['an accent', '\u00e9'],
  ])('goes out as printable ASCII: %s [C075]', (_name, id) => {
    const { event, destination } = pair(id, id);
    const key = outgoingKey(event, destination);
    expect(key).toMatch(/^[!-~]+$/);
    expect(new Headers({ 'idempotency-key': key }).get('idempotency-key')).toBe(key);
  });

  it('as it is would fail before anything is sent [C075]', () => {
    expect(() => new Headers({ 'idempotency-key': '\u{1F4E6}' })).toThrow(TypeError);
  });
});

describe('the key of an attempt', () => {
  it('is the same on every attempt: it is made of event and destination and of nothing else [C111]', () => {
    const attempts = [1, 2, 50].map(() => {
      const { event, destination } = pair('order-17', 'partner');
      return outgoingKey(event, destination);
    });
    expect(new Set(attempts).size).toBe(1);
  });

  it('comes with the same bytes on every attempt: the stored payload is never written anew [C111]', () => {
    const body = read('{"payload": { "at" : "2026-11-29T12:00:00Z", "n":1.0 } }');
    const result = payloadOf(body, body.root);
    if (result.kind === 'bad') throw new Error(result.reason);
    expect(Buffer.from(result.bytes).toString()).toBe('{ "at" : "2026-11-29T12:00:00Z", "n":1.0 }');
    expect(payloadHash(result.bytes)).toBe(payloadHash(Buffer.from('{ "at" : "2026-11-29T12:00:00Z", "n":1.0 }')));
  });

  it('has no dot, which would shift the parts of a signed message [C111]', () => {
    for (let n = 0; n < 500; n += 1) {
      const { event, destination } = pair(`a.${n}`, 'b.c');
      expect(outgoingKey(event, destination)).not.toContain('.');
    }
  });
});

describe('Unicode in a business key', () => {
  const [composed, decomposed] = ['\u00e9', 'e\u0301'] as const;

  it('is byte-exact from the door to the wire: composed and decomposed are two keys [C164]', () => {
    expect(composed.normalize('NFC')).toBe(decomposed.normalize('NFC'));
    expectApart(namesOf(composed, 'c'), namesOf(decomposed, 'c'));
    expectApart(namesOf('c', composed), namesOf('c', decomposed));
    for (const id of [composed, decomposed]) {
      expect(parseEventId(id)).toEqual({ kind: 'ok', id });
      expect(decodeSegment(encodeURIComponent(id))).toEqual({ kind: 'ok', text: id });
      expect(memberOf(read(JSON.stringify({ id })).root, 'id')).toMatchObject({ value: id });
    }
  });

  it('an empty body twice is the same content twice [C164]', () => {
    const empty = () => {
      const document = read('{"payloadBase64":"","contentType":"text/plain"}');
      return payloadOf(document, document.root);
    };
    expect(empty()).toMatchObject({ kind: 'ok', bytes: new Uint8Array(0) });
    expect(empty()).toEqual(empty());
  });
});

describe('blanks around a business key', () => {
  it.each([
    ['a', ' a'],
    ['a', 'a '],
    [' a', '  a'],
    ['a', '\u00a0a'],
  ])('stay part of it: %j is not %j [C165]', (a, b) => {
    expectApart(namesOf(a, 'c'), namesOf(b, 'c'));
    expectApart(namesOf('c', a), namesOf('c', b));
  });

  it('survive the wire, because the key that travels has none [C165]', () => {
    const sent = ['a', ' a'].map((id) => {
      const { event, destination } = pair(id, 'c');
      return new Headers({ 'idempotency-key': outgoingKey(event, destination) }).get('idempotency-key');
    });
    expect(sent[0]).not.toBe(sent[1]);
    // The twin: sent bare, the blank is stripped and the two keys become one.
    const bare = ['a', ' a'].map((id) => new Headers({ 'idempotency-key': id }).get('idempotency-key'));
    expect(bare[0]).toBe(bare[1]);
  });
});

describe('a message that comes again', () => {
  it('under another message id names the same row and the same outgoing key [C181]', () => {
    const messages = ['msg_1', 'msg_2', 'msg_3'].map((messageId) => ({
      messageId,
      payload: { kind: 'deliver', event: 'order-17', destination: 'partner' },
    }));
    const names = messages.map(({ payload }) => namesOf(payload.event, payload.destination));
    expect(new Set(names.map((all) => JSON.stringify(all))).size).toBe(1);
    // The twin: by message id there would be three.
    expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(3);
  });
});
