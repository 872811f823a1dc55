/** Real failures around the meaning of answers: what the delivery does with each of them. */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../functions/core/inputs.ts';
import { outgoingKey } from '../../functions/core/keys.ts';
import { SIGNATURE_TOLERANCE_MS } from '../../functions/core/limits.ts';
import { type Answer, classify } from '../../functions/core/outcome.ts';
import { parseSecret, type SignatureHeaders, signatureHeaders } from '../../functions/core/signature.ts';
import {
  claim,
  destinationIdOf,
  effectsOf,
  entriesOf,
  eventIdOf,
  HOUR_MS,
  pendingRow,
  play,
  type Scene,
  START_MS,
  saidOf,
  settle,
  storyOf,
  wait,
} from '../support/machine.ts';

/** What the receiver makes of an answer, for a destination where a repeat is safe. */
const outcomeFrom = (answer: Answer): Outcome => {
  const {
    class: outcomeClass,
    detail,
    mayHaveArrived,
  } = classify(answer, { repeatSafe: true, rejectOn: [] }, START_MS);
  const status = answer.kind === 'answered' ? { status: answer.status } : {};
  return { class: outcomeClass, detail, mayHaveArrived, durationMs: answer.durationMs, ...status };
};
const answered = (status: number, excerpt = ''): Outcome =>
  outcomeFrom({ kind: 'answered', status, retryAfter: [], excerpt, durationMs: 40 });
const having = (outcome: Outcome): Scene => play([claim('a'), settle('a', outcome)]);
const endOf = ({ row }: Scene): string => ('reason' in row ? row.reason : row.status);

describe('a name that cannot be resolved', () => {
  const dns = outcomeFrom({ kind: 'not-sent', cause: 'dns', detail: 'ENOTFOUND', durationMs: 12 });

  it('is recorded as that, tried again with its delay, and delivered when the name is there [C020]', () => {
    const first = having(dns);
    expect(pendingRow(first.row).dueAtMs).toBe(START_MS + 5_500);
    expect(entriesOf(first.row).at(-1)).toMatchObject({ class: 'not-sent', detail: 'dns' });
    const second = play([wait(5_500), claim('b'), settle('b', answered(200))], first);
    expect(second.row).toMatchObject({ status: 'delivered', attempts: 2 });
  });
});

describe('an attempt many hours after the first', () => {
  const secret = parseSecret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`);
  const body = Buffer.from('{"paid":true}');
  const id = outgoingKey(eventIdOf('order-17'), destinationIdOf('partner'));
  const sentAt = (atMs: number): SignatureHeaders => {
    if (secret.kind === 'bad') throw new TypeError(secret.reason);
    return signatureHeaders({ id, timestampSec: Math.floor(atMs / 1_000), body, secrets: [secret.secret] });
  };

  it('has the same id, and a timestamp and a signature of its own, inside the tolerance of the receiver [C031]', () => {
    const lateMs = START_MS + 27 * HOUR_MS;
    const [first, fifth] = [sentAt(START_MS), sentAt(lateMs)];
    expect(fifth['webhook-id']).toBe(first['webhook-id']);
    expect(fifth['webhook-signature']).not.toBe(first['webhook-signature']);
    const ageMs = (headers: SignatureHeaders) => lateMs - Number(headers['webhook-timestamp']) * 1_000;
    expect(ageMs(fifth)).toBeLessThanOrEqual(SIGNATURE_TOLERANCE_MS);
    // With the headers of the first attempt it would have been refused.
    expect(ageMs(first)).toBeGreaterThan(SIGNATURE_TOLERANCE_MS);
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    '%d is a failure like any other: it is tried again where it was sent [C076]',
    (status) => {
      const scene = having(answered(status));
      expect(scene.row).toMatchObject({ status: 'pending', attempts: 1 });
      expect(effectsOf(scene).map(({ kind }) => kind)).toEqual(['publish']);
    },
  );
});

describe('an answer of 410', () => {
  it('ends the delivery, pauses the destination, and plans nothing [C120]', () => {
    const scene = having(answered(410));
    expect(scene.row).toMatchObject({ status: 'quarantined', reason: 'gone' });
    expect(effectsOf(scene)).toEqual([{ kind: 'pause', reason: 'gone' }]);
    expect(Object.keys(scene.row)).not.toContain('dueAtMs');
    expect(entriesOf(scene.row).at(-1)).not.toHaveProperty('nextAtMs');
  });

  it('is not churned: the same message again has nothing to do [C120]', () => {
    const scene = having(answered(410));
    const again = play([wait(6_000), claim('b'), wait(6_000), claim('c')], scene);
    expect([saidOf(again), again.row]).toEqual(['held', scene.row]);
  });
});

describe('the refusals of the published table', () => {
  it.each([400, 401, 403, 404, 405, 408, 409, 411, 413, 415, 421, 423, 425, 429, 431, 451])(
    '%d is tried again with the same budget as everything, never a success [C160]',
    (status) => {
      expect(endOf(having(answered(status)))).toBe('pending');
      let scene = having(answered(status));
      for (let n = 2; n <= 9; n += 1)
        scene = play([wait(12 * HOUR_MS), claim(`w-${n}`), settle(`w-${n}`, answered(status))], scene);
      expect(scene.row.attempts).toBeLessThanOrEqual(8);
      expect(scene.row.status).toBe('quarantined');
    },
  );

  it('422 is held for a person: the destination has seen this key with other content [C160]', () => {
    expect(endOf(having(answered(422)))).toBe('rejected');
  });
});

describe('a success of any kind', () => {
  it.each([200, 201, 202, 204, 206, 226])(
    '%d ends the delivery, with and without a body, and nothing is sent again [C174]',
    (status) => {
      for (const excerpt of ['', 'thank you']) {
        const scene = having(answered(status, excerpt));
        expect(scene.row).toMatchObject({ status: 'delivered', by: 'attempt' });
        expect(effectsOf(scene)).toEqual([]);
        expect(saidOf(play([wait(5_000), claim('b')], scene))).toBe('done');
        expect(storyOf(scene.row)).toEqual(['accepted', 'claimed 1', 'outcome 1 delivered']);
      }
    },
  );
});
