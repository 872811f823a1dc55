import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createInfraiPush } from '../../functions/adapters/queue/infrai/push.ts';
import { readMessage } from '../../functions/core/message.ts';
import type { HeaderGetter } from '../../functions/ports.ts';

const NOW_MS = 1_767_225_600_000;
const SETTINGS = { secrets: ['new secret', 'old secret'], signatureHeader: 'x-infrai-signature', prefix: '' };
const push = createInfraiPush(SETTINGS);
const noHeader = () => undefined;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const unwrap = (text: string) => {
  const unwrapped = push.unwrap(bytes(text), noHeader);
  if (unwrapped.kind === 'senseless') return unwrapped;
  return { ...unwrapped, body: Buffer.from(unwrapped.body).toString('utf8') };
};

const hmac = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');
const headers =
  (given: Readonly<Record<string, string>>): HeaderGetter =>
  (name) =>
    given[name];

describe('the signature of a push', () => {
  const body = '{"message_id":"qmsg_1","payload":{}}';

  it.each(SETTINGS.secrets)('is right under any secret in use (%s)', (secret) => {
    const header = headers({ 'x-infrai-signature': hmac(secret, body) });
    expect(push.verify(header, bytes(body), NOW_MS)).toEqual({ kind: 'authentic' });
  });

  it('is wrong under any other secret, over any other body, and absent', () => {
    const refused = { kind: 'refused' };
    const header = headers({ 'x-infrai-signature': hmac('other', body) });
    expect(push.verify(header, bytes(body), NOW_MS)).toMatchObject(refused);
    const right = headers({ 'x-infrai-signature': hmac('new secret', body) });
    expect(push.verify(right, bytes(`${body} `), NOW_MS)).toMatchObject(refused);
    expect(push.verify(headers({}), bytes(body), NOW_MS)).toMatchObject(refused);
  });

  it('follows the settings: name of the header, prefix, and a timestamp that grows stale after five minutes', () => {
    const stamped = createInfraiPush({
      secrets: ['s'],
      signatureHeader: 'x-signature',
      prefix: 'sha256=',
      timestampHeader: 'x-timestamp',
    });
    const at = String(NOW_MS / 1_000);
    const header = headers({ 'x-signature': `sha256=${hmac('s', `${at}.${body}`)}`, 'x-timestamp': at });
    expect(stamped.verify(header, bytes(body), NOW_MS)).toEqual({ kind: 'authentic' });
    expect(stamped.verify(header, bytes(body), NOW_MS + 300_000)).toEqual({ kind: 'authentic' });
    expect(stamped.verify(header, bytes(body), NOW_MS + 300_001)).toEqual({ kind: 'refused', code: 'stale' });
  });
});

describe('the wrapping of a push', () => {
  const inner = '{ "kind":"deliver", "format":1,"event":"é\\u00e9", "n":1.00 }';

  it.each([
    { how: 'message_id and payload', text: `{"message_id":"qmsg_1","payload":${inner}}`, messageId: 'qmsg_1' },
    { how: 'the other way round', text: `{ "payload" : ${inner} , "message_id":"qmsg_1" }`, messageId: 'qmsg_1' },
    { how: 'body in place of payload', text: `{"message_id":"qmsg_1","body":${inner}}`, messageId: 'qmsg_1' },
    { how: 'id in place of message_id', text: `{"id":"qmsg_1","payload":${inner}}`, messageId: 'qmsg_1' },
    { how: 'payload null beside a body', text: `{"id":"qmsg_1","payload":null,"body":${inner}}`, messageId: 'qmsg_1' },
    { how: 'fields nobody knows', text: `{"message_id":"qmsg_1","queue":"q","payload":${inner}}`, messageId: 'qmsg_1' },
  ])('is taken off, and the message keeps its bytes: $how', ({ text, messageId }) => {
    expect(unwrap(text)).toEqual({ kind: 'message', messageId, body: inner });
  });

  it('may miss altogether: a bare message is itself', () => {
    expect(unwrap(` ${inner}\n`)).toEqual({ kind: 'message', body: inner });
  });

  it('is not seen in an id alone, which may be a member of somebody else', () => {
    expect(unwrap('{"id":"order-1","n":1}')).toEqual({ kind: 'message', body: '{"id":"order-1","n":1}' });
  });

  it('is not seen in a message of ours, whatever a later format puts into it', () => {
    const later = '{"kind":"deliver","format":2,"payload":{"kind":"cancel","format":1},"id":"x"}';
    expect(unwrap(later)).toEqual({ kind: 'message', body: later });
  });

  it('may hold the message as a text, which is decoded once', () => {
    const wrapped = JSON.stringify({ message_id: 'qmsg_1', payload: ` ${inner} ` });
    expect(unwrap(wrapped)).toEqual({ kind: 'message', messageId: 'qmsg_1', body: inner });
    const twice = JSON.stringify({ message_id: 'qmsg_1', payload: JSON.stringify(inner) });
    expect(unwrap(twice)).toMatchObject({ kind: 'senseless', messageId: 'qmsg_1' });
  });

  it('tells the count of deliveries where it is a count', () => {
    const counted = (count: string) => unwrap(`{"message_id":"m","delivery_count":${count},"payload":{}}`);
    expect(counted('3')).toMatchObject({ deliveryCount: 3 });
    for (const other of ['0', '-1', '1.5', '1e99', '"3"', 'null'])
      expect(counted(other)).not.toHaveProperty('deliveryCount');
  });

  it.each(['7', '""', '"a b"', '"\\n"', '"é"', `"${'m'.repeat(129)}"`, 'null', '{}'])(
    'gives no id that a journal could not carry (%s)',
    (id) => {
      expect(unwrap(`{"message_id":${id},"payload":{}}`)).toEqual({ kind: 'message', body: '{}' });
    },
  );

  it('leaves an event inside it byte for byte as the producer wrote it', () => {
    const payload = '{ "total" : 1.10, "id":12345678901234567890, "name":"\\u0041é" }';
    const event = `{"kind":"event","format":1,"event":{"id":"order-1","payload":${payload},"destinations":["partner"]}}`;
    const unwrapped = push.unwrap(bytes(`{"message_id":"qmsg_1","payload":${event}}`), noHeader);
    const read = unwrapped.kind === 'message' ? readMessage(unwrapped.body, NOW_MS) : unwrapped;
    if (read.kind !== 'message' || read.message.kind !== 'event') throw new Error(JSON.stringify(read));
    expect(Buffer.from(read.message.submission.payload).toString('utf8')).toBe(payload);
  });
});

describe('a push that makes no sense', () => {
  it.each([
    { what: 'nothing', text: '' },
    { what: 'no JSON', text: '{"message_id":' },
    { what: 'an array', text: '[]' },
    { what: 'a text', text: '"deliver"' },
    { what: 'a key twice', text: '{"payload":{},"payload":{"a":1}}' },
    { what: 'a byte order mark', text: '\uFEFF{"payload":{}}' },
    { what: 'endless nesting', text: '['.repeat(100_000) },
  ])('is told from a message: $what', ({ text }) => {
    expect(unwrap(text)).toMatchObject({ kind: 'senseless', reason: expect.stringMatching(/^the push /) });
  });

  it('is bytes that are not UTF-8', () => {
    expect(push.unwrap(Uint8Array.of(0xff, 0x00, 0xfe), noHeader)).toEqual({
      kind: 'senseless',
      reason: 'the push is not UTF-8',
    });
  });

  it.each([
    { what: 'an array as message', payload: '[]' },
    { what: 'a number as message', payload: '7' },
    { what: 'a literal as message', payload: 'true' },
    { what: 'a text that is no JSON', payload: '"deliver"' },
    { what: 'a text of an array', payload: '"[]"' },
    { what: 'half a surrogate pair', payload: '"{\\"a\\":\\"\\ud800\\"}"' },
    { what: 'no message at all', payload: 'null' },
  ])('still names its message id: $what', ({ payload }) => {
    expect(unwrap(`{"message_id":"qmsg_1","payload":${payload}}`)).toMatchObject({
      kind: 'senseless',
      messageId: 'qmsg_1',
      reason: expect.stringMatching(/\w/),
    });
  });
});
