import { describe, expect, it } from 'vitest';
import { payloadHash } from '../../functions/core/fingerprint.ts';
import { readJson } from '../../functions/core/json-tree.ts';
import { payloadOf } from '../../functions/core/payload.ts';

const submit = (payloadText: string) => {
  const document = readJson(new TextEncoder().encode(`{"id":"order-17","payload":${payloadText}}`));
  if (document.kind === 'bad') throw new Error(`${document.field} ${document.reason}`);
  const result = payloadOf(document, document.root);
  if (result.kind === 'bad') throw new Error(result.reason);
  return result;
};

describe('one business key with two contents', () => {
  it('is a conflict when only the order of an array differs, because that order carries meaning [C010]', () => {
    expect(submit('{"items":[1,2]}').fingerprint).not.toBe(submit('{"items":[2,1]}').fingerprint);
    expect(submit('[{"a":1},{"b":2}]').fingerprint).not.toBe(submit('[{"b":2},{"a":1}]').fingerprint);
    expect(submit('{"x":[[1,2],[3]]}').fingerprint).not.toBe(submit('{"x":[[3],[1,2]]}').fingerprint);
  });

  it('is no conflict when only the order of keys or the whitespace differs [C010]', () => {
    expect(submit('{"a":1,"items":[1,2]}').fingerprint).toBe(submit('{ "items" : [1, 2], "a" : 1 }').fingerprint);
    expect(submit('[{"a":1,"b":2}]').fingerprint).toBe(submit('[{"b":2,"a":1}]').fingerprint);
  });

  it('has no content at all when a key stands twice: readers would disagree about it', () => {
    expect(() => submit('{"amount":1,"amount":100}')).toThrow('payload.amount');
  });
});

describe('the content that was accepted', () => {
  it('is pinned by its hash: whatever changes it later is seen [C113]', () => {
    const accepted = submit('{"state":"paid","total":100}');
    const pinned = payloadHash(accepted.bytes);
    const later = [
      submit('{"state":"refunded","total":100}'),
      submit('{"state":"paid","total":100.0}'),
      submit('{"state":"paid","total": 100}'),
    ];
    for (const { bytes } of later) expect(payloadHash(bytes)).not.toBe(pinned);
    for (let at = 0; at < accepted.bytes.length; at += 1) {
      const damaged = Uint8Array.from(accepted.bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      expect(payloadHash(damaged)).not.toBe(pinned);
    }
  });

  it('needs nothing but itself: it is whole in the event, so a source that goes away takes nothing with it [C158]', () => {
    const source = Buffer.from('{"id":"order-17","payload":{"state":"paid"}}');
    const document = readJson(source);
    if (document.kind === 'bad') throw new Error(document.reason);
    const accepted = payloadOf(document, document.root);
    source.fill(0);
    expect(accepted).toMatchObject({ kind: 'ok' });
    expect(accepted.kind === 'ok' && Buffer.from(accepted.bytes).toString()).toBe('{"state":"paid"}');
  });
});
