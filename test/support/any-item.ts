/** Items of any kind with any content, for what must hold of all of them. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { parseDestinationId, parseEventId } from '../../functions/core/ids.ts';
import { INSTANT_MS_MAX } from '../../functions/core/instant.ts';
import type { Item } from '../../functions/core/items.ts';
import { POSITION_MAX } from '../../functions/core/keys.ts';
import type { Claim, Excerpt, Life } from '../../functions/core/model.ts';
import { FINDINGS } from '../../functions/core/operations.ts';
import {
  cancelledRow,
  claimedRow,
  claimIdOf,
  conflictItem,
  decisionItem,
  deliveredRow,
  destinationIdOf,
  destinationItem,
  eventIdOf,
  eventItem,
  gateItem,
  heartbeatItem,
  noticeRegisterItem,
  operationItem,
  operationMessageItem,
  pendingRow,
  poisonItem,
  poisonMinuteItem,
  quarantinedRow,
  requestIdOf,
  secretItem,
  sha256Of,
  slotItem,
  tokenItem,
  tokenRegisterItem,
  writeIdOf,
} from './rows.ts';

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
const writeId = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).map(writeIdOf);
const request = fc.stringMatching(/^[!-~]{1,128}$/).map(requestIdOf);
const version = count;

export const attributeValue: fc.Arbitrary<AttributeValue> = fc.letrec<{ value: AttributeValue }>((tie) => ({
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
          deferral: record(
            { untilMs: instantMs, reason: fc.constantFrom('rate', 'closed', 'concurrency'), line: count },
            { requiredKeys: ['untilMs', 'reason'] },
          ),
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
      replayOf: event,
      carried,
    },
    optional,
  ).map(eventItem),
  record(
    {
      event,
      n: fc.nat(),
      version,
      fingerprint: hash,
      destinations: fc.array(destination),
      seenAtMs: instantMs,
      source,
      carried,
    },
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
      notices: fc.constant(true),
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
      pause: record(
        { by: text, reason: text, sinceMs: instantMs, probeAtMs: instantMs },
        { requiredKeys: ['by', 'reason', 'sinceMs'] },
      ),
      closedUntilMs: instantMs,
      closedSinceMs: instantMs,
      failures: record({ count, sinceMs: instantMs }),
      crowdedUntilMs: instantMs,
      resumes: count,
      decided: fc.array(request),
      writes: fc.array(writeId),
      carried,
    },
    optional,
  ).map(gateItem),
  record(
    {
      destination,
      version,
      secrets: fc.array(text),
      olderEndAtMs: fc.array(instantMs),
      rotatedBy: request,
      updatedAtMs: instantMs,
      carried,
    },
    optional,
  ).map(secretItem),
  record({ version, tokens: fc.array(record({ name: text, hash: text, request })), carried }, optional).map(
    tokenRegisterItem,
  ),
  record({ version, destinations: fc.array(destination), carried }, optional).map(noticeRegisterItem),
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
      queue: record(
        { available: count, delayed: count, inFlight: count, dead: count, oldestAgeMs: count },
        { requiredKeys: ['available', 'delayed', 'inFlight', 'dead'] },
      ),
      carried,
    },
    optional,
  ).map(heartbeatItem),
  record({ destination, n: fc.nat(), version, holder: claimId, leaseEndsAtMs: instantMs, carried }, optional).map(
    slotItem,
  ),
  record(
    {
      request,
      version,
      command: fc.constantFrom(
        'set',
        'pause',
        'resume',
        'test',
        'prove',
        'delete',
        'redrive',
        'resolve',
        'cancel',
        'replay',
        'run',
      ),
      fingerprint: hash,
      actor: text,
      reason: text,
      before: text,
      changes: fc.array(text),
      event,
      destination,
      operation: text,
      evidence: text,
      decidedAtMs: instantMs,
      result: text,
      carried,
    },
    optional,
  ).map(decisionItem),
  record(
    {
      operation: text,
      version,
      source: fc.constantFrom('dead-letters', 'quarantine'),
      destination,
      reason: text,
      limit: count,
      recoveryMinutes: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }),
      stopAbove: fc.double({ noNaN: true, min: 0, max: 1 }),
      acceptSecondEffect: fc.boolean(),
      actor: text,
      why: text,
      state: fc.constantFrom('planned', 'running', 'stopped', 'done'),
      startedBecause: text,
      stoppedBecause: text,
      createdAtMs: instantMs,
      startedAtMs: instantMs,
      endedAtMs: instantMs,
      estimateMs: count,
      found: fc.dictionary(fc.constantFrom(...FINDINGS), count).map((found) => ({ ...found })),
      nextToAct: count,
      nextToJudge: count,
      messages: count,
      shortfall: fc.constantFrom('time', 'queue', 'contradiction'),
      turn: count,
      turnAtMs: instantMs,
      progressAtMs: instantMs,
      batch: count,
      deadBefore: count,
      deadAfter: count,
      carried,
    },
    optional,
  ).map(operationItem),
  record(
    {
      operation: text,
      position: fc.integer({ min: 0, max: POSITION_MAX }),
      version,
      messageId: text,
      finding: fc.constantFrom(...FINDINGS),
      detail: text,
      plannedAs: fc.constantFrom(...FINDINGS),
      event,
      destination,
      lastClass: text,
      lastStatus: count,
      lastDurationMs: count,
      attemptsBefore: count,
      chosenAtMs: instantMs,
      batch: count,
      action: fc.constantFrom('requeued', 'discarded', 'left', 'gone'),
      actedAtMs: instantMs,
      result: fc.constantFrom(
        'delivered',
        'deduplicated',
        'failed',
        'in-doubt',
        'open',
        'dropped',
        'held',
        'accepted',
        'gone',
      ),
      attempt: count,
      judgedAtMs: instantMs,
      carried,
    },
    optional,
  ).map(operationMessageItem),
];

export const anyItem: fc.Arbitrary<Item> = fc.oneof({ arbitrary: delivery, weight: 5 }, ...others);
