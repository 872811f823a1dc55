import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lettersIn } from '../../functions/adapters/queue/infrai/letters.ts';
import { readJson } from '../../functions/core/json-tree.ts';
import { readMessage } from '../../functions/core/message.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const answerOf = (...items: readonly string[]): string =>
  `{"ok":true,"data":{"items":[${items.join(',')}]},"error":null,"metadata":{"request_id":"r"}}`;
const itemOf = (id: string, payload: string): string =>
  `{"message_id":${JSON.stringify(id)},"delivery_count":1,"payload":${payload}}`;

/** Ids and bodies as texts; undefined where the answer holds no list. */
const cut = (answer: string) =>
  lettersIn(answer)?.letters.map(({ body, ...letter }) => ({ ...letter, body: text(body) }));

const INNER =
  '{ "kind":"event", "format":1,"event":{"id":"\\u00e9é🚚","payload":{ "n" : 1.00, "n2":12345678901234567890 }} }';

describe('the letters in an answer', () => {
  it('keep the bytes of their messages, whatever stands around them', () => {
    const items = ['  ', '\n\t'].map(
      (gap, nth) => `${gap}{${gap}"payload"${gap}:${gap}${INNER}${gap},"message_id":"m${nth}"}`,
    );
    expect(cut(answerOf(...items))).toEqual([
      { messageId: 'm0', handle: 'm0', body: INNER },
      { messageId: 'm1', handle: 'm1', body: INNER },
    ]);
  });

  it.each([
    { how: 'messages in place of items', answer: `{"ok":true,"data":{"messages":[${itemOf('m', '{}')}]}}` },
    {
      how: 'items null beside messages',
      answer: `{"ok":true,"data":{"items":null,"messages":[${itemOf('m', '{}')}]}}`,
    },
    { how: 'body in place of payload', answer: answerOf('{"message_id":"m","delivery_count":1,"body":{}}') },
    {
      how: 'payload null beside a body',
      answer: answerOf('{"message_id":"m","delivery_count":1,"payload":null,"body":{}}'),
    },
    {
      how: 'blanks everywhere',
      answer: ' { "ok" : true , "data" : { "items" : [ {"message_id":"m","delivery_count":1,"payload": {} } ] } } ',
    },
    {
      how: 'fields nobody knows',
      answer: answerOf('{"x":[{"payload":7}],"message_id":"m","delivery_count":1,"payload":{}}'),
    },
  ])('are found under every spelling that has been seen: $how', ({ answer }) => {
    expect(cut(answer)).toEqual([{ messageId: 'm', deliveryCount: 1, handle: 'm', body: '{}' }]);
  });

  it('have a handle of their own where the queue gives one', () => {
    const handleOf = (handle: string) =>
      cut(answerOf(`{"message_id":"m","receipt_handle":${handle},"payload":{}}`))?.[0]?.handle;
    expect(handleOf('"h1"')).toBe('h1');
    for (const none of ['null', '""', '7', `"${'h'.repeat(4_097)}"`]) expect(handleOf(none)).toBe('m');
  });

  it('tell the count of deliveries where it is a count', () => {
    const countOf = (count: string) => cut(answerOf(`{"message_id":"m","delivery_count":${count},"payload":{}}`))?.[0];
    expect(countOf('3')).toMatchObject({ deliveryCount: 3 });
    for (const other of ['0', '-1', '1.5', '1e99', '"3"', 'null'])
      expect(countOf(other)).not.toHaveProperty('deliveryCount');
  });

  it('may hold the message as a text, which is decoded once', () => {
    expect(cut(answerOf(itemOf('m', JSON.stringify(INNER))))?.[0]?.body).toBe(INNER);
    const twice = JSON.stringify(JSON.stringify(INNER));
    expect(cut(answerOf(itemOf('m', twice)))?.[0]?.body).toBe(JSON.stringify(INNER));
    expect(cut(answerOf(itemOf('m', '"\\ud800"')))?.[0]?.body).toBe('"\\ud800"');
  });

  it.each(['7', 'true', '[{}]', '"no JSON"', 'null'])(
    'that hold no object (%s) are given all the same, and make no sense',
    (payload) => {
      const [letter] = lettersIn(answerOf(itemOf('m', payload)))?.letters ?? [];
      expect(letter?.messageId).toBe('m');
      expect(readMessage(letter?.body ?? new Uint8Array(), 0).kind).toBe('senseless');
    },
  );

  it('without a usable id are counted and not given', () => {
    const unnamed = [
      '{"payload":{}}',
      '{"message_id":7}',
      '{"message_id":""}',
      '{"message_id":"a b"}',
      '7',
      'null',
      '[]',
    ];
    expect(lettersIn(answerOf(...unnamed, itemOf('m', '{}')))).toMatchObject({
      letters: [{ messageId: 'm' }],
      unnamed: 7,
    });
  });

  it.each([
    '{"ok":true}',
    '{"ok":true,"data":null}',
    '{"ok":true,"data":[]}',
    '{"ok":true,"data":{"items":{}}}',
    '[]',
    '7',
    '"x"',
  ])('are none where the answer holds no list: %s', (answer) => {
    expect(lettersIn(answer)).toBeUndefined();
  });

  it('are none where the list is empty', () => {
    expect(lettersIn(answerOf())).toEqual({ letters: [], unnamed: 0 });
    expect(lettersIn('{"ok":true,"data":{"items":[ ]}}')).toEqual({ letters: [], unnamed: 0 });
  });
});

describe('a letter that a strict reader refuses', () => {
  const deep = `{"x":${'['.repeat(100)}${']'.repeat(100)}}`;
  const double = '{"kind":"deliver","kind":"event"}';

  it.each([
    { what: 'a key twice', payload: double },
    { what: 'a nesting too deep', payload: deep },
  ])('takes no other out of sight: $what', ({ payload }) => {
    const answer = answerOf(itemOf('good-1', INNER), itemOf('bad', payload), itemOf('good-2', INNER));
    expect(cut(answer)?.map(({ messageId, body }) => [messageId, body])).toEqual([
      ['good-1', INNER],
      ['bad', payload],
      ['good-2', INNER],
    ]);
  });

  // The twin: read as a whole, the same answer gives nothing at all.
  it.each([double, deep])('would take all of them out of sight if the answer were read as one document', (payload) => {
    const answer = answerOf(itemOf('good-1', INNER), itemOf('bad', payload));
    expect(readJson(new TextEncoder().encode(answer)).kind).toBe('bad');
  });

  it('may be nested a hundred thousand levels', () => {
    const abyss = `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(cut(answerOf(itemOf('m', abyss), itemOf('n', '{}')))?.map(({ messageId }) => messageId)).toEqual(['m', 'n']);
  });
});

describe('cutting', () => {
  const keys = fc.oneof(
    fc.constantFrom('payload', 'message_id', 'items', '"', '\\', '}', ']', ','),
    fc.string({ unit: 'binary' }),
  );
  const payload = fc
    .tuple(fc.dictionary(keys, fc.jsonValue({ maxDepth: 3 })), fc.nat(2))
    .map(([value, indent]) => JSON.stringify(value, null, indent));

  it('always gives back the text of each message, and agrees with a parser on what it means', () => {
    const messages = fc.array(fc.tuple(fc.stringMatching(/^[!-~]{1,64}$/), payload), { maxLength: 6 });
    fc.assert(
      fc.property(messages, (given) => {
        const letters = cut(answerOf(...given.map(([id, inner]) => itemOf(id, inner))));
        expect(letters?.map(({ messageId, body }) => [messageId, body])).toEqual(given);
      }),
      { numRuns: 300 },
    );
  });

  it('is more than parsing and writing again', () => {
    expect(JSON.stringify(JSON.parse(INNER))).not.toBe(INNER);
  });

  it('of ten of the largest messages ends in a moment', () => {
    const large = `{"x":"${'\\u00e9'.repeat(43_000)}"}`;
    const answer = answerOf(...Array.from({ length: 10 }, (_, n) => itemOf(`m${n}`, large)));
    const startedMs = performance.now();
    expect(lettersIn(answer)?.letters).toHaveLength(10);
    expect(performance.now() - startedMs).toBeLessThan(1_500);
  });
});
