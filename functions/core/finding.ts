/**
 * What a plan says of a dead letter, or of a quarantined delivery, before anything is done about it.
 *
 *   letter --read--+-- internal, broken, foreign, newer -----------------> drop, poison, foreign, unknown
 *                  +-- a whole event ------------------------------------> accept, or drop
 *                  +-- names a delivery --> its row --the machine asked--> drop, redrive, in-flight, over-budget,
 *   quarantined delivery ----------------------^                           key-expired, second-effect, paused
 *
 * The ledger decides: a message that is dead says only that the queue gave up on it, never that its business did. And
 * the machine is asked what it would do with the next attempt, so that no plan promises what a claim would refuse.
 */
import type { GateView } from './gate.ts';
import type { ClaimId, WriteId } from './ids.ts';
import type { Rules } from './inputs.ts';
import { memberOf, readJson } from './json-tree.ts';
import { decide } from './machine.ts';
import type { MessageResult } from './message.ts';
import type { Delivery, DeliveryRef, Quarantined, QuarantineReason } from './model.ts';
import { spentOf } from './moves/states.ts';
import type { FindingKind } from './operations.ts';
import { claimableFromMs, phaseOf } from './phase.ts';
import type { Submission } from './submission.ts';

export interface Finding {
  readonly kind: FindingKind;
  /** Why, in a few words that do not change. */
  readonly detail: string;
  readonly ref?: DeliveryRef;
}

export interface Context {
  readonly nowMs: number;
  readonly acceptSecondEffect: boolean;
  /** Settings and gate of the row's destination, as they were read together. */
  readonly gate: GateView;
}

/** Details that are acted on, each of one finding: a drop whose delivery has had its effect; events that are not new. */
export const DELIVERED = 'delivered';
export const OTHER_CONTENT = 'another event has this id';
const NEEDS = 'needs destination ';
const HELD = 'held: ';

/** A whole event that cannot be taken in as things stand: its message stays where it is. */
export const isShutOut = ({ kind, detail }: Pick<Finding, 'kind' | 'detail'>): boolean =>
  kind === 'accept' && detail.startsWith(NEEDS);

/** The delivery was held when it was looked at: a redrive has to take it out of the quarantine first. */
export const isOfHeld = (detail: string): boolean => detail.startsWith(HELD);

// ---- from the message alone ---------------------------------------------------------------------------------------

export type InMessage =
  | Finding
  /** The row of this delivery decides the rest. */
  | { readonly kind: 'look'; readonly ref: DeliveryRef }
  | { readonly kind: 'event'; readonly submission: Submission };

export const findInMessage = (read: MessageResult, body: Uint8Array): InMessage => {
  if (read.kind === 'newer') return { kind: 'unknown', detail: read.reason };
  if (read.kind === 'senseless') {
    return isForeign(body)
      ? { kind: 'foreign', detail: 'bears neither kind nor format' }
      : { kind: 'poison', detail: read.reason };
  }
  const { message } = read;
  switch (message.kind) {
    case 'deliver':
      return { kind: 'look', ref: { event: message.event, destination: message.destination } };
    case 'event':
      return { kind: 'event', submission: message.submission };
    case 'sweep':
    case 'drain':
    case 'redrive':
    case 'notice':
      return { kind: 'drop', detail: `an internal message: ${message.kind}` };
  }
};

/** Sound JSON that has nothing of a message of ours: some other producer's, and not ours to take away. */
const isForeign = (body: Uint8Array): boolean => {
  const document = readJson(body);
  if (document.kind === 'bad') return false;
  return memberOf(document.root, 'kind') === undefined && memberOf(document.root, 'format') === undefined;
};

/** What the ledger has of an event that a whole message carries. */
export interface KnownEvent {
  /** Undefined: there is no such event. */
  readonly same: boolean | undefined;
  /** All its deliveries stand. */
  readonly complete: boolean;
  /** A destination that is not there, or does not take events from the queue. */
  readonly unusable: string | undefined;
}

export const findInEvent = ({ same, complete, unusable }: KnownEvent): Finding => {
  if (same === true && complete) return { kind: 'drop', detail: 'accepted before' };
  // Through the same door as any event: there the other content is put on record, and the first event goes on.
  if (same === false) return { kind: 'accept', detail: OTHER_CONTENT };
  if (unusable !== undefined) return { kind: 'accept', detail: `${NEEDS}${unusable}` };
  return { kind: 'accept', detail: same === true ? 'accepted in part' : 'not in the ledger' };
};

// ---- from the row -------------------------------------------------------------------------------------------------

/** For a dead letter that names this row. */
export const findInRow = (row: Delivery, context: Context): Finding => {
  const found = finder(row);
  switch (phaseOf(row, context.nowMs)) {
    case 'delivered':
      return found('drop', DELIVERED);
    case 'cancelled':
      return found('drop', 'cancelled');
    case 'live':
      return found('in-flight', 'claimed right now');
    case 'quarantined':
      return row.status === 'quarantined' ? ofHeldRow(row, context) : found('drop', row.status);
    case 'early':
      // The message of its due time is another one, and its look-after stands behind that.
      return found('drop', row.status === 'pending' ? `not due before ${isoOf(claimableFromMs(row))}` : row.status);
    case 'due':
    case 'lapsed':
    case 'parked':
      return obstacle(row, context) ?? found('redrive', 'waits for a message');
  }
};

/** For a quarantined row that an operation over the quarantine has chosen. */
export const findInQuarantine = (row: Delivery, context: Context): Finding => {
  const found = finder(row);
  if (row.status === 'delivered') return found('drop', DELIVERED);
  if (row.status !== 'quarantined') return found('drop', `no longer held: ${row.status}`);
  const finding = refusedBySecondEffect(row, context) ?? askedToRedrive(row, context);
  return finding ?? found('redrive', `${HELD}${row.reason}`);
};

/** A dead letter is no decision about a row that is held for a reason of its own, unless that reason was waived. */
const ofHeldRow = (row: Quarantined, context: Context): Finding => {
  const waived = context.acceptSecondEffect && (row.reason === 'in-doubt' || row.reason === 'key-expired');
  const finding = findInQuarantine(row, context);
  if (waived || (finding.kind !== 'redrive' && finding.kind !== 'paused')) return finding;
  return finder(row)('drop', `${HELD}${row.reason}`);
};

const finder =
  ({ event, destination }: DeliveryRef) =>
  (kind: FindingKind, detail: string): Finding => ({ kind, detail, ref: { event, destination } });

/** First of all: whoever looks must hear that a request may have arrived. */
const refusedBySecondEffect = (row: Quarantined, context: Context): Finding | undefined => {
  if (context.acceptSecondEffect) return undefined;
  if (row.doubt === 'unsafe') return secondEffect(row);
  return row.reason === 'key-expired' ? keyExpired(row) : undefined;
};

const secondEffect = (row: Delivery): Finding => finder(row)('second-effect', 'an attempt may have arrived');
const keyExpired = (row: Delivery): Finding => finder(row)('key-expired', 'the destination has forgotten the key');
const overBudget = (row: Delivery): Finding =>
  finder(row)('over-budget', `${spentOf(row)} of ${row.budget} attempts are spent`);

const PROBE = { writeId: 'finding' as WriteId, cause: 'o:finding' };

/** What the machine says to the redrive, and then to the claim behind it. Undefined: nothing against it. */
const askedToRedrive = (row: Quarantined, context: Context): Finding | undefined => {
  const { acceptSecondEffect, nowMs } = context;
  const decision = decide(row, { kind: 'redrive', grant: 0, acceptSecondEffect, ...PROBE }, nowMs, 0);
  if (decision.kind === 'write') return obstacle(decision.next, context);
  if (decision.kind === 'keep') return undefined;
  if (decision.code === 'second-effect') return secondEffect(row);
  if (decision.code === 'life-bound') return finder(row)('over-budget', 'the bound of its life is reached');
  return overBudget(row);
};

/** What keeps an open row from its next attempt. */
const obstacle = (row: Delivery, { gate, nowMs }: Context): Finding | undefined => {
  const found = finder(row);
  if (gate.kind === 'newer') return found('unknown', 'its destination was written by newer code');
  if (gate.kind === 'no-destination') return found('drop', 'its destination is gone');
  switch (refusedClaim(row, gate.config, nowMs)) {
    case 'in-doubt':
      return secondEffect(row);
    case 'key-expired':
      return keyExpired(row);
    case 'budget':
      return overBudget(row);
    case 'horizon':
      return found('over-budget', 'the time in which it may be delivered is over');
    case undefined:
      break;
  }
  if (gate.kind === 'probe') return found('paused', 'its destination is paused');
  if (gate.kind === 'park') {
    return found('paused', gate.reason === 'paused' ? 'its destination is paused' : 'its destination is closed');
  }
  return undefined;
};

type Refused = Extract<QuarantineReason, 'in-doubt' | 'key-expired' | 'budget' | 'horizon'>;

/** Why the machine would hold the row instead of letting it be claimed, if it would. */
const refusedClaim = (row: Delivery, rules: Rules, nowMs: number): Refused | undefined => {
  const claim = { kind: 'claim', claimId: 'finding' as ClaimId, holder: 'finding', rules, ...PROBE } as const;
  const decision = decide(row, claim, nowMs, 0);
  if (decision.kind !== 'write' || decision.next.status !== 'quarantined') return undefined;
  const { reason, doubt } = decision.next;
  // The machine lets a doubt outrank a spent budget; where a repeat is safe, the budget is what stands in the way.
  if (reason === 'in-doubt' && doubt !== 'unsafe' && rules.repeatSafe) return 'budget';
  return reason === 'in-doubt' || reason === 'key-expired' || reason === 'horizon' ? reason : 'budget';
};

const isoOf = (ms: number): string => new Date(ms).toISOString();

// ---- why it had failed --------------------------------------------------------------------------------------------

export interface Failure {
  readonly lastClass?: string;
  readonly lastStatus?: number;
  readonly lastDurationMs?: number;
}

/** The latest outcome that the row has on record, and how long that call took. */
export const failureOf = (row: Delivery): Failure => {
  const line = row.journal.lines.findLast(({ entry }) => entry.kind === 'outcome' || entry.kind === 'late-outcome');
  if (line === undefined) return {};
  const { class: lastClass, status, durationMs } = line.entry;
  return {
    ...(lastClass === undefined ? {} : { lastClass }),
    ...(status === undefined ? {} : { lastStatus: status }),
    ...(durationMs === undefined ? {} : { lastDurationMs: durationMs }),
  };
};
