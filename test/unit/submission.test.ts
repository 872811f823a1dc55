import { describe, expect, it } from 'vitest';
import { readJson } from '../../functions/core/json-tree.ts';
import { AHEAD_MS_MAX, DESTINATIONS_PER_EVENT_MAX, TYPE_CHARS_MAX } from '../../functions/core/limits.ts';
import { readSubmission, type Submission, type SubmissionResult } from '../../functions/core/submission.ts';
import { DAY_MS, START_MS } from '../support/machine.ts';

const GOOD = { id: 'order-17', payload: { paid: true }, destinations: ['partner'] };

const readText = (text: string): SubmissionResult => {
  const document = readJson(Buffer.from(text));
  if (document.kind === 'bad') throw new TypeError(document.reason);
  return readSubmission(document, document.root, START_MS);
};
const read = (over: object = {}): SubmissionResult => readText(JSON.stringify({ ...GOOD, ...over }));
const taken = (over: object = {}): Submission => {
  const result = read(over);
  if (result.kind === 'bad') throw new TypeError(`${result.field} ${result.reason}`);
  return result.submission;
};
const refusal = (result: SubmissionResult): string =>
  result.kind === 'ok' ? 'taken' : `${result.code} ${result.field} ${result.reason}`;

describe('a submission', () => {
  it('has an id, a payload and destinations, and names nothing that was not given', () => {
    expect(taken()).toEqual({
      event: 'order-17',
      payload: Uint8Array.from(Buffer.from('{"paid":true}')),
      contentType: 'application/json',
      fingerprint: expect.stringMatching(/^[\w-]{43}$/),
      destinations: ['partner'],
    });
  });

  it.each(['notice~x', 'test~1', 'notice~destination-paused~20261129T1215Z~AAAAAAAAAAAAAAAAAAAAAA'])(
    'may not have the id of an event of the product itself: %s',
    (id) => expect(refusal(read({ id }))).toMatch(/^invalid id must not begin with "notice~" or "test~"/),
  );

  it.each(['notice', 'Notice~x', 'a-notice~x', 'test', ' test~1', 'order-1~replay~x'])('may have the id %j', (id) => {
    expect(taken({ id }).event).toBe(id);
  });

  it('may have a type and a time', () => {
    expect(taken({ type: 'order.paid', deliverAt: '2026-11-30T12:00:00+01:00' })).toMatchObject({
      type: 'order.paid',
      deliverAtMs: Date.UTC(2026, 10, 30, 11),
    });
    expect(taken({ deliverAt: START_MS + 1 })).toMatchObject({ deliverAtMs: START_MS + 1 });
  });

  it('takes null for a type or a time as not given', () => {
    expect(Object.keys(taken({ type: null, deliverAt: null }))).toEqual(Object.keys(taken()));
  });

  it('takes bytes with their content type instead of a payload', () => {
    const bytes = { payload: undefined, payloadBase64: '/wD+', contentType: 'application/octet-stream' };
    expect(taken(bytes)).toMatchObject({
      payload: Uint8Array.from([0xff, 0x00, 0xfe]),
      contentType: 'application/octet-stream',
    });
  });

  it('keeps the payload as it was written, and has one fingerprint for one content', () => {
    const one = readText('{"id":"a","destinations":["d"],"payload": {"a" : 1,"b":2} }');
    const two = readText('{"payload":{"b":2,"a":1},"id":"a","destinations":["d"]}');
    if (one.kind === 'bad' || two.kind === 'bad') throw new TypeError('bad');
    expect(Buffer.from(one.submission.payload).toString()).toBe('{"a" : 1,"b":2}');
    expect(one.submission.fingerprint).toBe(two.submission.fingerprint);
  });
});

describe('a submission is refused by the name of its member', () => {
  it.each<[string, object, RegExp]>([
    ['no id', { id: undefined }, /^invalid id must be a string/],
    ['a number for an id', { id: 17 }, /^invalid id must be a string: two numbers/],
    ['an empty id', { id: '' }, /^invalid id must not be empty/],
    ['a strange member', { priority: 1 }, /^invalid priority is not a member of an event/],
    ['a strange member of the prototype', { constructor: 1 }, /^invalid constructor is not a member/],
    ['an empty type', { type: '' }, /^invalid type must be a string of 1 to 128/],
    ['a long type', { type: 'x'.repeat(TYPE_CHARS_MAX + 1) }, /^invalid type /],
    ['a number for a type', { type: 7 }, /^invalid type /],
    ['a type with a line break', { type: 'a\nb' }, /^invalid type .*control characters/],
    ['a type with half a letter', { type: '\ud800' }, /^invalid type /],
    ['no payload', { payload: undefined }, /^invalid payload is missing/],
    ['two payloads', { payloadBase64: 'AA==', contentType: 'a/b' }, /^invalid payloadBase64 must not stand beside/],
    ['too large a payload', { payload: 'x'.repeat(262_144) }, /^too-large payload must not be larger/],
    ['a time without a zone', { deliverAt: '2026-11-30T12:00:00' }, /^invalid deliverAt must name its zone/],
    ['seconds for a time', { deliverAt: START_MS / 1_000 }, /^invalid deliverAt looks like seconds/],
    ['a list for a time', { deliverAt: [] }, /^invalid deliverAt must be RFC 3339/],
    ['true for a time', { deliverAt: true }, /^invalid deliverAt must be RFC 3339/],
  ])('%s', (_name, over, expected) => {
    expect(refusal(read(over))).toMatch(expected);
  });

  it('what is no object', () => {
    for (const text of ['[]', '"order-17"', 'null', '17'])
      expect(refusal(readText(text))).toMatch(/must be a JSON object/);
  });

  it('at the edge of its type and time exactly', () => {
    expect(refusal(read({ type: 'x'.repeat(TYPE_CHARS_MAX) }))).toBe('taken');
    expect(refusal(read({ deliverAt: START_MS + AHEAD_MS_MAX }))).toBe('taken');
    expect(refusal(read({ deliverAt: START_MS + AHEAD_MS_MAX + 1 }))).toBe(
      'invalid deliverAt lies more than 400 days ahead',
    );
    expect(refusal(read({ deliverAt: START_MS - 400 * DAY_MS }))).toBe('taken');
  });

  it('a long strange name, cut', () => {
    expect(refusal(read({ ['x'.repeat(5_000)]: 1 })).length).toBeLessThan(120);
  });
});

describe('the destinations of a submission', () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => `d-${n}`);

  it('are one to ten, in their order', () => {
    expect(taken({ destinations: many(DESTINATIONS_PER_EVENT_MAX) }).destinations).toHaveLength(10);
    expect(taken({ destinations: ['b', 'a'] }).destinations).toEqual(['b', 'a']);
  });

  it.each<[string, unknown, RegExp]>([
    ['none', [], /^invalid destinations must be a list of 1 to 10/],
    ['eleven', many(11), /^invalid destinations must be a list of 1 to 10/],
    ['not given', undefined, /^invalid destinations must be a list/],
    ['a text', 'partner', /^invalid destinations must be a list/],
    ['one twice', ['a', 'b', 'a'], /^invalid destinations\[2\] names a destination twice/],
    ['a number', ['a', 7], /^invalid destinations\[1\] must be a string/],
    ['an empty one', [''], /^invalid destinations\[0\] must not be empty/],
  ])('are refused when they are %s', (_name, destinations, expected) => {
    expect(refusal(read({ destinations }))).toMatch(expected);
  });

  it('are told apart byte for byte: the composed and the decomposed letter are two', () => {
    expect(taken({ destinations: ['\u00e9', 'e\u0301', 'E\u0301'] }).destinations).toHaveLength(3);
  });
});
