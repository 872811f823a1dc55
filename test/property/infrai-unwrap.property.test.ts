import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createInfraiPush } from '../../functions/adapters/queue/infrai/push.ts';
import { memberOf, readJson } from '../../functions/core/json-tree.ts';

const push = createInfraiPush({ secrets: ['s'], signatureHeader: 'x-infrai-signature', prefix: '' });
const unwrap = (body: Uint8Array) => push.unwrap(body, () => undefined);

/** Texts of JSON objects in more than one spelling: indented or not, escaped or not, numbers with a tail. */
const objectText = fc
  .tuple(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 })), fc.nat(3), fc.boolean())
  .map(([members, indent, escaped]) => {
    const { kind: _kind, payload: _payload, body: _body, ...rest } = members;
    const text = JSON.stringify({ ...rest, n: 0 }, null, indent).replace(/0(?=\s*\}$)/, '1.00e0');
    return escaped ? text.replace(/[^\u0020-\u007e\n]/g, escape16) : text;
  });
const escape16 = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
const blank = fc.constantFrom('', ' ', '\n\t ');
const messageId = fc.stringMatching(/^[!-~]{1,64}$/);

describe('unwrapping a push', () => {
  it('always gives back the bytes of the message, whatever stands around them', () => {
    fc.assert(
      fc.property(
        objectText,
        messageId,
        blank,
        fc.boolean(),
        fc.constantFrom('payload', 'body'),
        (text, id, gap, first, name) => {
          const members = [`"message_id"${gap}:${JSON.stringify(id)}`, `${JSON.stringify(name)}:${gap}${text}${gap}`];
          const body = new TextEncoder().encode(
            `${gap}{"é":"🚚",${(first ? members : members.toReversed()).join(',')}}`,
          );
          const unwrapped = unwrap(body);
          if (unwrapped.kind === 'senseless') throw new Error(unwrapped.reason);
          expect(Buffer.from(unwrapped.body).toString('utf8')).toBe(text);
          expect(unwrapped.messageId).toBe(id);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('always gives back a JSON object, or a reason, and never throws', () => {
    const someBytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.json().map((text) => new TextEncoder().encode(text)),
    );
    fc.assert(
      fc.property(someBytes, (body) => {
        const unwrapped = unwrap(body);
        const read = unwrapped.kind === 'message' ? readJson(unwrapped.body) : undefined;
        if (unwrapped.kind === 'senseless') expect(unwrapped.reason).not.toBe('');
        else expect(read?.kind === 'ok' && read.root.kind).toBe('object');
      }),
      { numRuns: 500 },
    );
  });

  // The twin: a parser that writes the message again does not keep its bytes, so the first property can fail.
  it('is more than parsing and writing again', () => {
    const text = '{ "n":1.00 }';
    const document = readJson(new TextEncoder().encode(`{"payload":${text}}`));
    const node = document.kind === 'ok' ? memberOf(document.root, 'payload') : undefined;
    expect(node).toBeDefined();
    expect(JSON.stringify(JSON.parse(text))).not.toBe(text);
  });
});
