/**
 * What must be true of every history. Each oracle has the number of the invariant that it stands for, and a bad log that
 * it must reject. They read three logs that know nothing of each other, in the one order in which things happened, and
 * never a counter of the product.
 */
import type { Ended } from './history.ts';
import * as effects from './oracles-effects.ts';
import * as gate from './oracles-gate.ts';
import * as key from './oracles-key.ts';
import * as notice from './oracles-notice.ts';
import * as order from './oracles-order.ts';
import * as record from './oracles-record.ts';
import * as sweep from './oracles-sweep.ts';
import { type Seen, seenOf } from './seen.ts';

export interface Violation {
  readonly oracle: OracleName;
  readonly invariant: string;
  readonly message: string;
}

type Oracle = readonly [invariant: string, judge: (seen: Seen) => string | undefined];

export const ORACLES = {
  'no-bug': ['I21', record.noBug],
  'one-success': ['I1', effects.oneSuccess],
  'one-effect': ['I2', effects.oneEffect],
  'doubt-is-held': ['I2', effects.doubtIsHeld],
  'doubt-stays': ['I2', key.doubtStays],
  'key-life-stays': ['I2', key.keyLifeStays],
  'key-is-known': ['I2', key.keyIsKnown],
  'key-in-time': ['I2', key.keyInTime],
  'success-is-true': ['I3', effects.successIsTrue],
  'success-is-kept': ['I3', effects.successIsKept],
  'refunds-fair': ['I4', effects.refundsFair],
  'budget-holds': ['I4', effects.budgetHolds],
  'claim-before-send': ['I5', order.claimBeforeSend],
  'mark-before-send': ['I5', order.markBeforeSend],
  'record-before-ack': ['I5', order.recordBeforeAck],
  'accepted-stands': ['I6', record.acceptedStands],
  'rest-in-time': ['I6', record.restInTime],
  'looks-planned': ['I6', record.looksPlanned],
  'publish-key-new': ['I6', order.keyOfPublishNew],
  'final-stays': ['I7', record.finalStays],
  'journal-grows': ['I8', record.journalGrows],
  'attempts-add-up': ['I8', record.attemptsAddUp],
  'writes-are-signed': ['I8', record.writesAreSigned],
  'records-are-whole': ['I8', record.recordsAreWhole],
  'same-request': ['I9', effects.sameRequest],
  'conflicts-kept': ['I10', record.conflictsKept],
  'certainty-is-true': ['I11', effects.certaintyIsTrue],
  'class-is-true': ['I11', effects.classIsTrue],
  'late-is-late': ['I12', effects.lateIsLate],
  'reason-is-true': ['I11', record.reasonIsTrue],
  'claim-in-time': ['I12', order.claimInTime],
  'lease-respected': ['I12', order.leaseRespected],
  'owner-writes': ['I12', order.ownerWrites],
  'owner-sends': ['I12', order.ownerSends],
  'retry-in-time': ['I13', effects.retryInTime],
  'pause-obeyed': ['I14', order.pauseObeyed],
  'waiting-is-free': ['I14', order.waitingIsFree],
  'claim-at-open-gate': ['I14', gate.claimAtOpenGate],
  'probe-opens': ['I14', gate.probeOpens],
  'probe-tries': ['I14', gate.probeTries],
  'gone-is-paused': ['I14', gate.goneIsPaused],
  'wish-is-kept': ['I14', gate.wishIsKept],
  'closings-grow': ['I14', gate.closingsGrow],
  'resume-opens': ['I14', gate.resumeOpens],
  'parked-looks-again': ['I14', gate.parkedLooksAgain],
  'resume-drains': ['I14', gate.resumeDrains],
  'slots-kept': ['I15', gate.slotsKept],
  'settings-current': ['I12', gate.settingsCurrent],
  'places-hold': ['I15', order.placesHold],
  'places-returned': ['I15', gate.placesReturned],
  'in-flight-bounded': ['I15', order.inFlightBounded],
  'crowd-bounded': ['I15', gate.crowdBounded],
  'right-address': ['I16', effects.rightAddress],
  'sweeps-only-look': ['I17', order.sweepsOnlyLook],
  'sweep-waits': ['I17', sweep.sweepWaits],
  'sweep-publishes': ['I17', sweep.sweepPublishes],
  'sweep-steps-back': ['I17', sweep.sweepStepsBack],
  'operations-add-up': ['I18', record.operationsAddUp],
  'decided-once': ['I19', record.decidedOnce],
  'decisions-first': ['I19', order.decisionsFirst],
  'durable-before-ack': ['I20', record.durableBeforeAck],
  'notices-are-true': ['I22', notice.noticesAreTrue],
  'notices-are-few': ['I22', notice.noticesAreFew],
  'no-notice-of-notices': ['I22', notice.noNoticeOfNotices],
} as const satisfies Record<string, Oracle>;

export type OracleName = keyof typeof ORACLES;
export const ORACLE_NAMES = Object.keys(ORACLES) as OracleName[];

/** Every oracle that this history breaks; none, as it should be. */
export const judge = (ended: Ended): readonly Violation[] => {
  const seen = seenOf(ended);
  return ORACLE_NAMES.flatMap((oracle) => {
    const [invariant, judgeIt] = ORACLES[oracle];
    const message = judgeIt(seen);
    return message === undefined ? [] : [{ oracle, invariant, message }];
  });
};
