/** One item of every kind and status, for what must hold of all. */

import type { Item } from '../../functions/core/items.ts';
import { FINDINGS } from '../../functions/core/operations.ts';
import {
  cancelledRow,
  claimedRow,
  claimIdOf,
  claimOf,
  conflictItem,
  decisionItem,
  deferredRow,
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
  parkedRow,
  pendingRow,
  poisonItem,
  poisonMinuteItem,
  quarantinedRow,
  requestIdOf,
  secretItem,
  slotItem,
  T0_MS,
  tokenItem,
  tokenRegisterItem,
  writeIdOf,
} from './rows.ts';

const EVENT = eventIdOf('order-17');
const DESTINATION = destinationIdOf('partner');

const events = (): readonly Item[] => [
  eventItem({
    type: 'order.paid',
    deliverAtMs: T0_MS + 60_000,
    traceparent: '00-1-2-01',
    replayOf: eventIdOf('order-16'),
  }),
  pendingRow({ destination: destinationIdOf('a') }),
  parkedRow({ destination: destinationIdOf('b') }),
  deferredRow({ destination: destinationIdOf('c') }),
  claimedRow({ destination: destinationIdOf('d'), claim: claimOf({ repeatSafe: false, sendingAtMs: T0_MS + 1_100 }) }),
  deliveredRow({ destination: destinationIdOf('e') }),
  cancelledRow({ destination: destinationIdOf('f') }),
  quarantinedRow({ destination: destinationIdOf('g') }),
  conflictItem(),
];

const destinations = (): readonly Item[] => [
  destinationItem({
    keyLifeHours: null,
    ratePerSecond: 2.5,
    concurrency: 4,
    rejectOn: [400, 404],
    headers: { 'x-tenant': 'blue' },
    notices: true,
    deletedAtMs: T0_MS + 1,
  }),
  gateItem({
    pause: { by: 'system', reason: 'breaker', sinceMs: T0_MS, probeAtMs: T0_MS + 60_000 },
    closedUntilMs: T0_MS + 60_000,
    closedSinceMs: T0_MS,
    failures: { count: 20, sinceMs: T0_MS - 600_000 },
    crowdedUntilMs: T0_MS + 600_000,
    resumes: 2,
    decided: [requestIdOf('request-1'), requestIdOf('request-2')],
    writes: [writeIdOf('w-1'), writeIdOf('w-2')],
  }),
  slotItem(),
  slotItem({ n: 10, holder: claimIdOf('claim-1') }),
  secretItem(),
  secretItem({
    destination: destinationIdOf('turned'),
    olderEndAtMs: [T0_MS + 60_000],
    rotatedBy: requestIdOf('request-1'),
  }),
];

const upkeep = (): readonly Item[] => [
  tokenItem({ revokedAtMs: T0_MS + 9 }),
  tokenRegisterItem(),
  noticeRegisterItem({ destinations: [DESTINATION, destinationIdOf('ops')] }),
  poisonItem({ messageId: 'm-1' }),
  poisonMinuteItem(),
  heartbeatItem({ queue: { available: 1, delayed: 2, inFlight: 3, dead: 4, oldestAgeMs: 5_000 } }),
];

const decisions = (): readonly Item[] => [
  decisionItem({
    event: EVENT,
    destination: DESTINATION,
    operation: 'op-1',
    token: 'ops',
    changes: ['mode: shadow -> live'],
    evidence: 'their log, line 7',
    result: 'done',
  }),
  operationItem({
    destination: DESTINATION,
    reason: 'budget',
    recoveryMinutes: 7.5,
    stoppedBecause: 'the share of failures is above 50 %',
    startedAtMs: T0_MS + 1_000,
    endedAtMs: T0_MS + 9_000,
    found: Object.fromEntries(FINDINGS.map((kind, n) => [kind, n])),
    shortfall: 'contradiction',
    turn: 7,
    turnAtMs: T0_MS + 8_000,
    progressAtMs: T0_MS + 7_000,
    batch: 3,
    deadBefore: 11,
    deadAfter: 0,
  }),
  operationMessageItem({
    messageId: 'm-1',
    event: EVENT,
    destination: DESTINATION,
    lastClass: 'failed',
    lastStatus: 503,
    lastDurationMs: 240,
    plannedAs: 'drop',
    attemptsBefore: 2,
    chosenAtMs: T0_MS + 1_900,
    batch: 1,
    action: 'requeued',
    actedAtMs: T0_MS + 2_000,
    result: 'in-doubt',
    attempt: 3,
    judgedAtMs: T0_MS + 99_000,
  }),
];

/** Beside deliveries, each kind with every member that it can have. */
export const oneOfEach = (): readonly Item[] => [...events(), ...destinations(), ...upkeep(), ...decisions()];
