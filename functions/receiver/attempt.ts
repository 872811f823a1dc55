/**
 * One request under one claim.
 *
 *   prepare -> mark (only where a repeat is not safe) -> re-check row and gate -> send
 *                                                             |
 *                                                             +-> withheld: no byte leaves, the unit comes back
 *
 * Between the re-check and the socket there is no other await: whoever paused the destination before the re-check
 * began is obeyed.
 */
import { isDeepStrictEqual } from 'node:util';
import { type GateView, viewGate } from '../core/gate.ts';
import { WEBHOOK_SIGNATURE } from '../core/headers.ts';
import type { Outcome, Withheld } from '../core/inputs.ts';
import type { Destination } from '../core/items.ts';
import {
  ANSWER_BYTES_DRAINED_MAX,
  CONNECT_MS,
  EXCERPT_BYTES_MAX,
  LEDGER_REQUEST_MS,
  RECHECK_FRESH_MS,
  SKEW_MARGIN_MS,
} from '../core/limits.ts';
import type { Claimed, Delivery } from '../core/model.ts';
import { isKeyOver } from '../core/moves/claim.ts';
import { type Answer, classify } from '../core/outcome.ts';
import { secretsIn, withoutSecrets } from '../core/redaction.ts';
import { type Found, LedgerCorrupt, PortUnavailable } from '../ports.ts';
import { brokenItem } from '../steps/broken-item.ts';
import { transition } from '../steps/transition.ts';
import type { ClaimMade } from './claim.ts';
import { type Passed, takeSlot } from './gate.ts';
import { type Prepared, prepare } from './request.ts';
import type { Receiver, Run } from './run.ts';

export interface AttemptMade {
  readonly outcome: Outcome;
  readonly withheld?: Withheld;
  /** The re-check saw failures of this destination: a success has something to clear. */
  readonly sawFailures?: boolean;
  /** The claim as it stands since it was marked: a settle over the row from before would be refused, at the cost of a write. */
  readonly marked?: Claimed;
}

export const attempt = async (world: Receiver, run: Run, claimed: ClaimMade): Promise<AttemptMade> => {
  try {
    const prepared = await prepare(world, claimed);
    if (prepared.kind === 'impossible') return made(notSent(prepared.detail));
    const marked = await mark(world, claimed.row);
    if (!marked) return withheld('lost');
    return { ...(await recheckAndSend(world, run, claimed, prepared)), marked };
  } catch (error) {
    // The sender never rejects, so this lies before it: nothing has been sent, and that is worth recording. Without the
    // record the lease would lapse, and the successor could not know better than to call this attempt in doubt.
    if (error instanceof LedgerCorrupt) brokenItem(world.telemetry, { run: run.id }, error);
    else if (!(error instanceof PortUnavailable)) throw error;
    return withheld('no-recheck');
  }
};

/**
 * Where a repeat is not safe, the mark tells a dead worker's successor whether a byte may have left. Gives the row as it
 * stands then; undefined where the claim is not ours any more.
 */
const mark = async (world: Receiver, row: Claimed): Promise<Claimed | undefined> => {
  if (row.claim.repeatSafe) return row;
  const result = await transition(world, row, { kind: 'mark', claimId: row.claim.id });
  if (result.kind !== 'applied' || result.row.status !== 'claimed') return undefined;
  return result.row.claim.id === row.claim.id ? result.row : undefined;
};

const recheckAndSend = async (
  world: Receiver,
  run: Run,
  claimed: ClaimMade,
  prepared: Prepared,
): Promise<AttemptMade> => {
  const { row } = claimed;
  const beganAtMs = world.clock.nowMs();
  const [found, destination] = await Promise.all([
    world.ledger.load({ item: 'delivery', event: row.event, destination: row.destination }),
    world.ledger.loadDestination(row.destination),
  ]);
  const nowMs = world.clock.nowMs();
  const view = viewGate(destination.config, destination.gate, nowMs);
  const obstacle =
    obstacleInRow(found, row, claimed.config, nowMs) ??
    obstacleInLeave(claimed.passed, nowMs) ??
    (await obstacleInGate(world, view, claimed));
  if (obstacle) return obstacle;
  if (nowMs - beganAtMs > RECHECK_FRESH_MS) return withheld('stale-recheck');
  // After a stall the platform could end this invocation in the middle of the request.
  if (run.remainingMs() < claimed.config.timeoutMs + LEDGER_REQUEST_MS) return withheld('no-time');
  const headers = prepared.headersAt(nowMs);
  const answer = await world.sender.send({
    url: claimed.config.url,
    headers,
    body: claimed.event.payload,
    deadlineMs: claimed.config.timeoutMs,
    connectMs: Math.min(CONNECT_MS, claimed.config.timeoutMs),
    excerptBytes: Math.min(EXCERPT_BYTES_MAX, ANSWER_BYTES_DRAINED_MAX),
  });
  const sawFailures = claimed.passed.probe || (view.kind === 'open' && view.failing);
  const outcome = outcomeOf(answer, claimed, world.clock.nowMs());
  return { outcome: redacted(outcome, claimed.config, headers), sawFailures };
};

const obstacleInRow = (
  found: Found<Delivery>,
  mine: Claimed,
  config: Destination,
  nowMs: number,
): AttemptMade | undefined => {
  const owner = found.kind === 'found' && found.item.status === 'claimed' && found.item.claim.id === mine.claim.id;
  if (!owner) return withheld('lost');
  // Owner and lease: after a long pause the live lease may be somebody else's, or ours may be too short for an attempt.
  if (mine.claim.leaseEndsAtMs - nowMs < config.timeoutMs) return withheld('short-lease');
  // A stall that the lease has borne may be too long for the key. Ahead lie a connection, and a clock that is not ours.
  return isKeyOver(mine, config, nowMs, CONNECT_MS + SKEW_MARGIN_MS) ? withheld('key-ends') : undefined;
};

/**
 * What the gate gave ends by itself, and a worker may stall behind it. Its place may be another's once its lease is
 * over, and of those whose slots have passed meanwhile all would go out together. No look at the ledger is needed: until
 * its end nobody else takes the place, and nobody else was given the slot.
 */
const obstacleInLeave = ({ config, place, slotEndsAtMs }: Passed, nowMs: number): AttemptMade | undefined => {
  if (place !== undefined && place.leaseEndsAtMs - nowMs < config.timeoutMs) return withheld('short-place');
  return slotEndsAtMs !== undefined && nowMs > slotEndsAtMs ? withheld('late-slot') : undefined;
};

const obstacleInSettings = (now: Destination, then: Destination): AttemptMade | undefined =>
  isForAttempt(now, then) ? undefined : withheld('settings-changed');

const obstacleInGate = async (
  world: Receiver,
  view: GateView,
  claimed: ClaimMade,
): Promise<AttemptMade | undefined> => {
  switch (view.kind) {
    case 'open':
      return obstacleInSettings(view.config, claimed.config);
    case 'park':
      // The probe goes where nobody else may, unless a person has paused meanwhile: that pause has no probe.
      if (!claimed.passed.probe || !view.probeOnly) return withheld(view.reason, parkPlan(view));
      return obstacleInSettings(view.config, claimed.config);
    case 'wait': {
      const untilMs = await takeSlot(world, claimed.row, view, view.untilMs);
      return withheld('closed', { kind: 'defer', reason: 'closed', untilMs, line: view.line });
    }
    case 'probe':
    case 'no-destination':
    case 'newer':
      return withheld(view.kind);
  }
};

/**
 * The claim stands on these settings, and the request is made of them; with others, another claim has to be made. What
 * only says how fast, or how an answer is read, may have changed meanwhile.
 */
const isForAttempt = (now: Destination, then: Destination): boolean =>
  now.version === then.version || isDeepStrictEqual(partsForAttempt(now), partsForAttempt(then));

const partsForAttempt = ({ url, headers, repeatSafe, keyLifeHours, mode, timeoutMs }: Destination) => [
  ...[url, headers, repeatSafe, keyLifeHours, mode, timeoutMs],
];

const parkPlan = ({ reason, opensAtMs }: Extract<GateView, { kind: 'park' }>): Withheld =>
  opensAtMs === undefined ? { kind: 'park', reason } : { kind: 'park', reason, opensAtMs };

const made = (outcome: Outcome): AttemptMade => ({ outcome });

const notSent = (detail: string): Outcome => ({ class: 'not-sent', detail, mayHaveArrived: false });

const withheld = (detail: string, plan: Withheld = { kind: 'again' }): AttemptMade => ({
  outcome: { class: 'withheld', detail, mayHaveArrived: false },
  withheld: plan,
});

const outcomeOf = (answer: Answer, claimed: ClaimMade, nowMs: number): Outcome => {
  const { repeatSafe } = claimed.row.claim;
  const classified = classify(answer, { repeatSafe, rejectOn: claimed.config.rejectOn }, nowMs);
  return {
    ...classified,
    durationMs: Math.round(answer.durationMs),
    ...(answer.kind === 'answered' ? { status: answer.status } : {}),
    ...(excerptOf(answer, classified.class === 'delivered') ?? {}),
  };
};

/** Excerpts are shown to whoever may look: credentials and signatures of the request are not in them. */
const redacted = (outcome: Outcome, config: Destination, sent: Readonly<Record<string, string>>): Outcome => {
  if (outcome.excerpt === undefined) return outcome;
  const secrets = secretsIn([...Object.values(config.headers), sent[WEBHOOK_SIGNATURE] ?? '']);
  return { ...outcome, excerpt: withoutSecrets(outcome.excerpt, secrets) };
};

/** Of a success nothing is kept; a blocked address must not show what stood behind it. */
const excerptOf = (answer: Answer, success: boolean): { excerpt: string } | undefined => {
  if (success || (answer.kind === 'not-sent' && answer.cause === 'blocked')) return undefined;
  const text = answer.kind === 'answered' ? answer.excerpt : answer.detail;
  return text === '' ? undefined : { excerpt: text };
};
