import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromItem, toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { keyOf, refOf, refOfKeys } from '../../functions/adapters/ledger/codec/item-keys.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { parseDestinationId, parseEventId } from '../../functions/core/ids.ts';
import { INSTANT_MS_MAX } from '../../functions/core/instant.ts';
import type { Item } from '../../functions/core/items.ts';
import type { Claim, Excerpt, Life } from '../../functions/core/model.ts';
import { LedgerCorrupt } from '../../functions/ports.ts';
import {
  cancelledRow,
  claimedRow,
  claimIdOf,
  conflictItem,
  deliveredRow,
  destinationIdOf,
  destinationItem,
  eventIdOf,
  eventItem,
  gateItem,
  heartbeatItem,
  pendingRow,
  poisonItem,
  poisonMinuteItem,
  quarantinedRow,
  secretItem,
  sha256Of,
  tokenItem,
} from '../support/rows.ts';

// ---- any item -----------------------------------------------------------------------------------------------------

/** Plain objects, as the code makes them. */
const record = <T, K extends keyof T = keyof T>(
  model: { [N in keyof T]: fc.Arbitrary<T[N]> },
  constraints: { requiredKeys?: K[] } = {},
) => fc.record<T, K>(model, { ...constraints, noNullPrototype: true });

const instantMs = fc.integer({ min: 0, max: INSTANT_MS_MAX });
const count = fc.maxSafeNat();
const text = fc.string({ unit: 'grapheme' });
const bytes = fc.uint8Array({ maxLength: 64 });
const hash = text.map(sha256Of);
const outsideId = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const event = outsideId.filter((id) => parseEventId(id).kind === 'ok').map(eventIdOf);
const destination = outsideId.filter((id) => parseDestinationId(id).kind === 'ok').map(destinationIdOf);
const claimId = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).map(claimIdOf);
const version = count;

const attributeValue: fc.Arbitrary<AttributeValue> = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text.map((S): AttributeValue => ({ S })),
    fc.bigInt().map((n): AttributeValue => ({ N: String(n) })),
    bytes.map((B): AttributeValue => ({ B })),
    fc.boolean().map((BOOL): AttributeValue => ({ BOOL })),
    fc.constant<AttributeValue>({ NULL: true }),
    fc.uniqueArray(text, { minLength: 1 }).map((SS): AttributeValue => ({ SS })),
    fc.uniqueArray(fc.nat().map(String), { minLength: 1 }).map((NS): AttributeValue => ({ NS })),
    fc.array(bytes, { minLength: 1, maxLength: 3 }).map((BS): AttributeValue => ({ BS })),
    fc.array(tie('value'), { maxLength: 3 }).map((L): AttributeValue => ({ L })),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }).map((M): AttributeValue => ({ M: { ...M } })),
  ),
})).value;

/** Names that no attribute of ours has, now or later. */
const carried = fc
  .dictionary(
    text.map((name) => `~${name}`),
    attributeValue,
    { maxKeys: 3 },
  )
  .map((members) => ({ ...members }));

const excerpt: fc.Arbitrary<Excerpt> = record({ attempt: count, text });
const life: fc.Arbitrary<Partial<Life>> = record(
  {
    event,
    destination,
    version,
    acceptedAtMs: instantMs,
    horizonFromMs: instantMs,
    payloadHash: hash,
    budget: count,
    attempts: count,
    refunds: count,
    redrives: count,
    decisions: count,
    keyFromMs: instantMs,
    doubt: fc.constantFrom('none', 'safe', 'unsafe'),
    graceMs: count,
    sweeps: count,
    firstExcerpt: excerpt,
    latestExcerpt: excerpt,
    carried,
  },
  { requiredKeys: [] },
);

const claim: fc.Arbitrary<Claim> = record(
  {
    id: claimId,
    holder: text,
    attempt: count,
    startedAtMs: instantMs,
    leaseEndsAtMs: instantMs,
    repeatSafe: fc.boolean(),
    sendingAtMs: instantMs,
  },
  { requiredKeys: ['id', 'holder', 'attempt', 'startedAtMs', 'leaseEndsAtMs', 'repeatSafe'] },
);
const wait = fc.constantFrom('rate', 'closed', 'concurrency', 'paused');
const optional = { requiredKeys: [] };

const delivery = fc.oneof(
  fc
    .tuple(
      life,
      record(
        {
          dueAtMs: instantMs,
          lookAfterMs: instantMs,
          deferral: record({ untilMs: instantMs, reason: fc.constantFrom('rate', 'closed', 'concurrency') }),
          parking: record({ sinceMs: instantMs, reason: fc.constantFrom('paused', 'closed') }),
          waits: record({ count, sinceMs: instantMs, reason: wait }),
        },
        optional,
      ),
    )
    .map(([one, two]) => pendingRow({ ...one, ...two })),
  fc.tuple(life, claim, instantMs).map(([one, claim, lookAfterMs]) => claimedRow({ ...one, claim, lookAfterMs })),
  fc
    .tuple(life, record({ endedAtMs: instantMs, by: fc.constantFrom('attempt', 'late-outcome', 'decision') }))
    .map(([one, two]) => deliveredRow({ ...one, ...two })),
  fc
    .tuple(life, record({ endedAtMs: instantMs, reason: fc.constantFrom('operator', 'shadow') }))
    .map(([one, two]) => cancelledRow({ ...one, ...two })),
  fc
    .tuple(life, record({ endedAtMs: instantMs, reason: fc.constantFrom('budget', 'in-doubt', 'no-destination') }))
    .map(([one, two]) => quarantinedRow({ ...one, ...two })),
);

const source = fc.constantFrom('api', 'queue');
const others: readonly fc.Arbitrary<Item>[] = [
  record(
    {
      event,
      version,
      type: text,
      payload: bytes,
      contentType: text,
      fingerprint: hash,
      payloadHash: hash,
      destinations: fc.array(destination),
      acceptedAtMs: instantMs,
      deliverAtMs: instantMs,
      source,
      traceparent: text,
      carried,
    },
    optional,
  ).map(eventItem),
  record(
    { event, version, fingerprint: hash, destinations: fc.array(destination), seenAtMs: instantMs, source, carried },
    optional,
  ).map(conflictItem),
  record(
    {
      destination,
      version,
      url: text,
      repeatSafe: fc.boolean(),
      keyLifeHours: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 })),
      scheduleSec: fc.array(fc.nat()),
      timeoutMs: count,
      ratePerSecond: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }),
      concurrency: count,
      rejectOn: fc.array(fc.nat()),
      headers: fc.dictionary(text, text).map((headers) => ({ ...headers })),
      acceptFromQueue: fc.boolean(),
      mode: fc.constantFrom('live', 'shadow'),
      createdAtMs: instantMs,
      updatedAtMs: instantMs,
      deletedAtMs: instantMs,
      carried,
    },
    optional,
  ).map(destinationItem),
  record(
    {
      destination,
      version,
      pause: record({ by: text, reason: text, sinceMs: instantMs }),
      closedUntilMs: instantMs,
      closedSinceMs: instantMs,
      carried,
    },
    optional,
  ).map(gateItem),
  record({ destination, version, secrets: fc.array(text), updatedAtMs: instantMs, carried }, optional).map(secretItem),
  record(
    {
      hash: text,
      version,
      name: text,
      rights: fc.array(fc.constantFrom('view', 'send', 'pause', 'resend', 'decide', 'admin')),
      createdAtMs: instantMs,
      revokedAtMs: instantMs,
      carried,
    },
    optional,
  ).map(tokenItem),
  record(
    {
      id: text,
      version,
      reason: text,
      excerpt: bytes,
      hash: text,
      bytes: count,
      messageId: text,
      seenAtMs: instantMs,
      expiresAtSec: count,
      carried,
    },
    optional,
  ).map(poisonItem),
  record({ version, minute: fc.nat(), count, expiresAtSec: count, carried }, optional).map(poisonMinuteItem),
  record(
    {
      shard: fc.nat(),
      version,
      holder: text,
      leaseEndsAtMs: instantMs,
      passAtMs: instantMs,
      largestOverdueMs: count,
      looked: count,
      published: count,
      moved: count,
      carried,
    },
    optional,
  ).map(heartbeatItem),
];

const anyItem: fc.Arbitrary<Item> = fc.oneof({ arbitrary: delivery, weight: 5 }, ...others);

// ---- what always holds --------------------------------------------------------------------------------------------

describe('the codec of the ledger', () => {
  it('brings any item back exactly as it was, with what it carries', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        expect(fromItem(toItem(item))).toStrictEqual({ kind: 'found', item });
      }),
    );
  });

  it('writes the same record again from what it has read', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        const back = fromItem(toItem(item));
        expect(back.kind === 'found' && toItem(back.item)).toStrictEqual(toItem(item));
      }),
    );
  });

  it('shares no bytes with the item or the record', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 8 }), (payload) => {
        const kept = [...payload];
        const record = toItem(eventItem({ payload, carried: { z: { L: [{ B: payload }] } } }));
        payload.fill(payload.every((byte) => byte === 0) ? 1 : 0);
        const back = fromItem(record);
        if (back.kind !== 'found' || back.item.item !== 'event') throw new Error('it is not there');
        expect([...back.item.payload]).toStrictEqual(kept);
        expect(back.item.carried).toStrictEqual({ z: { L: [{ B: new Uint8Array(kept) }] } });
      }),
    );
  });

  it('gives any two different items different keys, and reads each back from its own', () => {
    fc.assert(
      fc.property(anyItem, anyItem, (one, two) => {
        const [first, second] = [refOf(one), refOf(two)];
        const sameRef = JSON.stringify(first) === JSON.stringify(second);
        expect(JSON.stringify(keyOf(first)) === JSON.stringify(keyOf(second))).toBe(sameRef);
        expect(refOfKeys(keyOf(first))).toStrictEqual(first);
      }),
    );
  });

  it('never does anything with a spoiled record but refuse it, or read what is still sound', () => {
    const spoiled = fc.tuple(anyItem, fc.nat(), attributeValue).map(([item, at, value]): Stored => {
      const record = toItem(item);
      const names = Object.keys(record);
      return { ...record, [names[at % names.length] ?? 'v']: value };
    });
    fc.assert(
      fc.property(spoiled, (record) => {
        try {
          const read = fromItem(record);
          // What is read of a spoiled record can be written, and read again.
          if (read.kind === 'found') expect(fromItem(toItem(read.item))).toStrictEqual(read);
        } catch (error) {
          expect(error).toBeInstanceOf(LedgerCorrupt);
        }
      }),
    );
  });
});
