import { describe, expect, it } from 'vitest';
import { INSTANT_MS_MAX } from '../../functions/core/instant.ts';
import { DUE_SHARDS, JSON_DEPTH_MAX } from '../../functions/core/limits.ts';
import {
  type DrainMessage,
  deliverBody,
  drainBody,
  type MessageResult,
  readMessage,
  redriveBody,
  sweepBody,
} from '../../functions/core/message.ts';
import { FORMAT } from '../../functions/core/model.ts';
import { destinationIdOf, eventIdOf, START_MS } from '../support/machine.ts';

const read = (text: string): MessageResult => readMessage(Buffer.from(text), START_MS);
const readOf = (message: object): MessageResult => read(JSON.stringify(message));
const reasonOf = (result: MessageResult): string => (result.kind === 'message' ? 'a message' : result.reason);

const DELIVER = { kind: 'deliver', format: 1, event: 'order-17', destination: 'partner' };
const SWEEP = { kind: 'sweep', format: 1, shard: 3, tick: 29_405_520, page: 2 };
const DRAIN = { kind: 'drain', format: 1, destination: 'partner', drain: 7, page: 1, fromMs: START_MS, sent: 100 };
const REDRIVE = { kind: 'redrive', format: 1, operation: 'op_17', position: 40, turn: 2 };
const EVENT = {
  kind: 'event',
  format: 1,
  event: { id: 'order-17', type: 'order.paid', payload: { paid: true }, destinations: ['partner', 'ledger'] },
};

describe('a deliver message', () => {
  it('is a reference to a delivery, and nothing else', () => {
    expect(readOf(DELIVER)).toEqual({
      kind: 'message',
      message: { kind: 'deliver', event: 'order-17', destination: 'partner' },
    });
  });

  it('may have further members: newer code says more within a format', () => {
    expect(readOf({ ...DELIVER, payload: { evil: true }, budget: 99, priority: 'high' })).toEqual(readOf(DELIVER));
  });

  it.each([
    ['no event', { event: undefined }, /^event must be a string/],
    ['an empty event', { event: '' }, /^event must not be empty/],
    ['null for an event', { event: null }, /^event must be a string/],
    ['an object for an event', { event: {} }, /^event must be a string/],
    ['a control character', { event: 'a\u0000b' }, /^event .*control/],
    ['too long an event', { event: 'x'.repeat(257) }, /^event .*256/],
    ['no destination', { destination: undefined }, /^destination must be a string/],
    ['dots for a destination', { destination: '..' }, /^destination must not be/],
    ['a list of destinations', { destination: ['partner'] }, /^destination must be a string/],
  ])('makes no sense with %s', (_name, over, reason) => {
    const result = readOf({ ...DELIVER, ...over });
    expect(result.kind).toBe('senseless');
    expect(reasonOf(result)).toMatch(reason);
  });

  it('never merges two number ids that JSON would read as one: neither is taken [C067]', () => {
    const results = ['9007199254740992', '9007199254740993'].map((id) =>
      read(`{"kind":"deliver","format":1,"event":${id},"destination":"partner"}`),
    );
    for (const result of results) {
      expect(result.kind).toBe('senseless');
      expect(reasonOf(result)).toMatch(/^event must be a string: two numbers/);
    }
    expect(JSON.parse('9007199254740993')).toBe(JSON.parse('9007199254740992'));
  });
});

describe('a sweep message', () => {
  it('names a shard, a tick and a page; without a page it is the first', () => {
    const message = { kind: 'sweep', shard: 3, tick: 29_405_520 };
    expect(readOf(SWEEP)).toEqual({ kind: 'message', message: { ...message, page: 2 } });
    expect(readOf({ ...SWEEP, page: undefined })).toEqual({ kind: 'message', message: { ...message, page: 0 } });
    expect(readOf({ ...SWEEP, shard: 0, tick: 0, more: 1 }).kind).toBe('message');
  });
});

describe('a drain message', () => {
  it('names its destination, its place and, behind the first page, where to go on', () => {
    const { format: _format, ...message } = DRAIN;
    expect(readOf(DRAIN)).toEqual({ kind: 'message', message });
    expect(readOf({ ...DRAIN, cursor: 'abc' })).toEqual({ kind: 'message', message: { ...message, cursor: 'abc' } });
  });

  it('makes no sense with a bad destination or cursor', () => {
    expect(reasonOf(readOf({ ...DRAIN, destination: '' }))).toBe('destination must not be empty');
    expect(reasonOf(readOf({ ...DRAIN, cursor: 7 }))).toBe('cursor must be a cursor of a list');
    expect(reasonOf(readOf({ ...DRAIN, cursor: 'x'.repeat(10_000) }))).toBe('cursor must be a cursor of a list');
  });
});

describe('a redrive message', () => {
  it('names its operation and its place', () => {
    const { format: _format, ...message } = REDRIVE;
    expect(readOf(REDRIVE)).toEqual({ kind: 'message', message });
  });

  it.each(['', 'a b', 'a/b', 'x'.repeat(65), 7, null])('makes no sense with %j for an operation', (operation) => {
    expect(reasonOf(readOf({ ...REDRIVE, operation }))).toBe('operation must be an id');
  });
});

describe('a number in an internal message', () => {
  const NUMBERS: readonly [object, string][] = [
    ...['shard', 'tick', 'page'].map((name): [object, string] => [SWEEP, name]),
    ...['drain', 'page', 'fromMs', 'sent'].map((name): [object, string] => [DRAIN, name]),
    ...['position', 'turn'].map((name): [object, string] => [REDRIVE, name]),
  ];

  it.each(NUMBERS)('is a whole number from 0: %j, %s', (message, name) => {
    for (const value of [-1, 1.5, 1e300, INSTANT_MS_MAX + 1, '3', null, true, []]) {
      const result = readOf({ ...message, [name]: value });
      expect([result.kind, reasonOf(result)]).toEqual(['senseless', `${name} must be a whole number from 0`]);
    }
  });
});

describe('the shard of a sweep', () => {
  it('is one of those that there are', () => {
    expect(readOf({ ...SWEEP, shard: DUE_SHARDS - 1 }).kind).toBe('message');
    expect(reasonOf(readOf({ ...SWEEP, shard: DUE_SHARDS }))).toBe(`shard must be below ${DUE_SHARDS}`);
  });
});

describe('an event message', () => {
  it('carries a whole event, read as the API reads it', () => {
    expect(readOf(EVENT)).toMatchObject({
      kind: 'message',
      message: {
        kind: 'event',
        submission: { event: 'order-17', type: 'order.paid', destinations: ['partner', 'ledger'] },
      },
    });
  });

  it('keeps the byte range of its payload untouched, odd spelling and all', () => {
    const payload = '{ "b" : 1.0,\t"a":"\\u00e9é","n":9007199254740993 }';
    const result = read(`{"kind":"event","format":1,"event":{"id":"é","payload":${payload},"destinations":["d"]}}`);
    if (result.kind !== 'message' || result.message.kind !== 'event') throw new TypeError(reasonOf(result));
    expect(Buffer.from(result.message.submission.payload).toString('utf8')).toBe(payload);
  });

  it.each([
    ['no event', { event: undefined }, 'event is missing'],
    ['a text for an event', { event: 'order-17' }, 'event. must be a JSON object'],
    [
      'a strange member',
      { event: { ...EVENT.event, destination: 'x' } },
      'event.destination is not a member of an event',
    ],
    ['no payload', { event: { id: 'a', destinations: ['d'] } }, 'event.payload is missing'],
    ['no destination', { event: { ...EVENT.event, destinations: [] } }, 'event.destinations must be a list'],
  ])('makes no sense with %s', (_name, over, reason) => {
    const result = readOf({ ...EVENT, ...over });
    expect(result.kind).toBe('senseless');
    expect(reasonOf(result)).toContain(reason);
  });

  it('may have further members beside its event', () => {
    expect(readOf({ ...EVENT, producer: 'shop' })).toEqual(readOf(EVENT));
  });
});

describe('a message that may come from newer code', () => {
  it('is refused and not filed where its kind is unknown', () => {
    for (const kind of ['replay', 'Deliver', 'deliver ', '', 'constructor', '__proto__']) {
      expect(readOf({ ...DELIVER, kind }).kind, kind).toBe('newer');
    }
    expect(reasonOf(readOf({ ...DELIVER, kind: 'x'.repeat(5_000) })).length).toBeLessThan(100);
  });

  it('is refused with a later format, whatever else it holds', () => {
    for (const body of [DELIVER, SWEEP, DRAIN, REDRIVE, EVENT, { kind: 'unheard-of' }, { kind: 'deliver' }]) {
      expect(readOf({ ...body, format: FORMAT + 1 })).toEqual({
        kind: 'newer',
        reason: 'message format 2 is newer than 1',
      });
    }
    expect(readOf({ ...DELIVER, format: 1_000_000 }).kind).toBe('newer');
  });

  // Broken at present: the kind is looked at before the format, so that newer code cannot change how a kind is written.
  it('is refused with a later format even where its kind is no text', () => {
    for (const kind of [undefined, 7, { name: 'deliver' }]) {
      expect(readOf({ ...DELIVER, format: FORMAT + 1, kind }).kind).toBe('newer');
    }
  });
});

describe('a message that makes no sense', () => {
  it.each([
    ['nothing', ''],
    ['no JSON', 'deliver order-17'],
    ['a list', '[{"kind":"deliver"}]'],
    ['a text', '"deliver"'],
    ['null', 'null'],
    ['half a message', '{"kind":"deliver","format":1'],
    ['two messages', '{"kind":"sweep"}{"kind":"sweep"}'],
    ['a comment', '{"kind":"sweep"/* */,"format":1,"shard":1,"tick":1}'],
    ['a byte order mark', '\uFEFF{"kind":"sweep","format":1,"shard":1,"tick":1}'],
    ['no kind', '{"format":1,"event":"a","destination":"b"}'],
    ['a number for a kind', '{"kind":1,"format":1}'],
    ['no format', '{"kind":"deliver","event":"a","destination":"b"}'],
    ['a text for a format', '{"kind":"deliver","format":"1","event":"a","destination":"b"}'],
    ['format 0', '{"kind":"deliver","format":0,"event":"a","destination":"b"}'],
    ['half a format', '{"kind":"deliver","format":1.5,"event":"a","destination":"b"}'],
    ['an endless format', '{"kind":"deliver","format":1e400,"event":"a","destination":"b"}'],
    ['a key twice', '{"kind":"deliver","format":1,"event":"a","event":"b","destination":"c"}'],
    ['a key twice, once escaped', '{"kind":"deliver","format":1,"event":"a","\\u0065vent":"b","destination":"c"}'],
    ['endless depth', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('is told as such, never thrown: %s', (_name, text) => {
    expect(read(text).kind).toBe('senseless');
  });

  it('is what is not UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('{"kind":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    expect(readMessage(bytes, START_MS)).toEqual({ kind: 'senseless', reason: 'is not UTF-8' });
  });

  it('names the member at fault', () => {
    expect(reasonOf(read('{"kind":"event","format":1,"event":{"payload":{"a":1,"a":2}}}'))).toMatch(
      /^event\.payload\.a /,
    );
    const deep = `${'['.repeat(JSON_DEPTH_MAX + 1)}${']'.repeat(JSON_DEPTH_MAX + 1)}`;
    expect(
      reasonOf(read(`{"kind":"event","format":1,"event":{"id":"a","payload":${deep},"destinations":["d"]}}`)),
    ).toBe('event.payload is nested deeper than 64 levels');
  });
});

describe('what this code publishes', () => {
  it('is what this code accepts, and no more than a reference [C144]', () => {
    const [event, destination] = [eventIdOf('order/17 "é"'), destinationIdOf('Ünit\u2028')];
    expect(read(deliverBody(event, destination))).toEqual({
      kind: 'message',
      message: { kind: 'deliver', event, destination },
    });
    expect(JSON.parse(deliverBody(event, destination))).toEqual({
      kind: 'deliver',
      format: FORMAT,
      event,
      destination,
    });
  });

  it('is what this code accepts, for every internal kind [C144]', () => {
    expect(read(sweepBody(3, 29_405_520, 2))).toEqual(readOf(SWEEP));
    expect(read(redriveBody('op_17', 40, 2))).toEqual(readOf(REDRIVE));
    const first: DrainMessage = {
      ...{ kind: 'drain', destination: destinationIdOf('partner'), drain: 7, page: 1 },
      ...{ fromMs: START_MS, sent: 100 },
    };
    expect(read(drainBody(first))).toEqual(readOf(DRAIN));
    expect(read(drainBody({ ...first, cursor: 'c' }))).toEqual(readOf({ ...DRAIN, cursor: 'c' }));
  });
});
