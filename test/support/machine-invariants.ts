/**
 * The invariants M1 to M29 of the machine, as checks of one decision: an oracle of its own, written from SPEC.md and
 * from what a row says, not from the moves. (M30, pure and total, is a matter of calling twice; see `impuritiesOf`.)
 */
import { isDeepStrictEqual } from 'node:util';
import type { Decision, Effect, Input } from '../../functions/core/inputs.ts';
import { verifyChain } from '../../functions/core/journal.ts';
import {
  ATTEMPTS_MAX,
  DECISIONS_MAX,
  HORIZON_MS,
  JOURNAL_ENTRIES_MAX,
  JOURNAL_ENTRY_BYTES_MAX,
  PARKED_LOOK_MS,
  REDRIVES_MAX,
  REFUNDS_MAX,
  SKEW_MARGIN_MS,
  SWEEP_STEP_MS_MAX,
} from '../../functions/core/limits.ts';
import type { Claimed, Delivery, Entry, Pending, Status } from '../../functions/core/model.ts';

const CHECKED = [
  ...['M1', 'M2', 'M3', 'M4', 'M5', 'M6', 'M7', 'M8', 'M9', 'M10', 'M11', 'M12', 'M13', 'M14', 'M15'],
  ...['M16', 'M17', 'M18', 'M19', 'M20', 'M21', 'M22', 'M23', 'M24', 'M25', 'M26', 'M27', 'M28', 'M29'],
] as const;
export type InvariantId = (typeof CHECKED)[number];

/** One write, with what it added. A decision that writes nothing has `next` equal to `before`. */
interface Change {
  readonly before: Delivery;
  readonly input: Input;
  readonly next: Delivery;
  readonly wrote: boolean;
  readonly nowMs: number;
  readonly added: readonly Entry[];
  readonly ahead: readonly Effect[];
  readonly behind: readonly Effect[];
}

/** Says what is wrong, if something is. */
type Check = (change: Change) => string | undefined | false;

const entriesIn = (row: Delivery): readonly Entry[] => row.journal.lines.map((line) => line.entry);
const countOf = (row: Delivery, fits: (entry: Entry) => boolean): number => entriesIn(row).filter(fits).length;
const isFinal = (row: Delivery): boolean => row.status === 'delivered' || row.status === 'cancelled';
const spent = (row: Delivery): number => row.attempts - row.refunds;
const lapsesAfter = (row: Claimed): number => row.claim.leaseEndsAtMs + SKEW_MARGIN_MS;
const byPerson = (entry: Entry): boolean =>
  entry.kind === 'redriven' || (entry.kind === 'decision' && entry.decision !== 'refuse');
const isWake = (effect: Effect): boolean => effect.kind === 'publish' || effect.kind === 'reread-gate';
const fromOf = (row: Pending): number => Math.max(row.dueAtMs, row.deferral?.untilMs ?? 0);
/** A new attempt was begun by this write. */
const begun = ({ added }: Change): boolean => added.some((entry) => entry.kind === 'claimed');
/** A settle that does not come from the holder of the present claim. */
const isLate = ({ before, input }: Change): boolean =>
  input.kind === 'settle' && !(before.status === 'claimed' && before.claim.id === input.claimId);
const differs = (a: Delivery, b: Delivery, allowed: readonly string[]): boolean => {
  const kept = (row: Delivery) => Object.entries(row).filter(([name]) => !allowed.includes(name));
  return !isDeepStrictEqual(new Map(kept(a)), new Map(kept(b)));
};

// ---- state --------------------------------------------------------------------------------------------------------

const LIFE = [
  ...['item', 'event', 'destination', 'version', 'status', 'acceptedAtMs', 'horizonFromMs', 'payloadHash', 'budget'],
  ...['attempts', 'refunds', 'redrives', 'decisions', 'doubt', 'graceMs', 'sweeps', 'journal', 'carried'],
];
const MAY = ['keyFromMs', 'firstExcerpt', 'latestExcerpt'];
const OWN: Readonly<Record<Status, { readonly must: readonly string[]; readonly may: readonly string[] }>> = {
  pending: { must: ['dueAtMs', 'lookAfterMs'], may: ['deferral', 'parking', 'waits'] },
  claimed: { must: ['claim', 'lookAfterMs'], may: [] },
  delivered: { must: ['endedAtMs', 'by'], may: [] },
  cancelled: { must: ['endedAtMs', 'reason'], may: [] },
  quarantined: { must: ['endedAtMs', 'reason'], may: [] },
};

const fieldsAgree: Check = ({ next }) => {
  const own = OWN[next.status];
  const names = Object.keys(next);
  const missing = [...LIFE, ...own.must].filter((name) => !names.includes(name));
  const strange = names.filter((name) => ![...LIFE, ...MAY, ...own.must, ...own.may].includes(name));
  if (missing.length + strange.length > 0) return `${next.status} lacks [${missing}] and has [${strange}] too much`;
  const odd = Object.entries(next).find(([name, value]) => name.endsWith('Ms') && !Number.isSafeInteger(value));
  if (odd) return `${odd[0]} is ${odd[1]}`;
  if (next.status === 'pending' && next.parking && next.deferral) return 'parked and deferred at once';
  return next.status === 'claimed' && next.claim.attempt !== next.attempts && 'the claim is not of the last attempt';
};

const proofOf = (row: Delivery): boolean => {
  if (row.status !== 'delivered') return true;
  const last = entriesIn(row).filter((entry) => entry.kind !== 'late-outcome' || row.by === 'late-outcome');
  switch (row.by) {
    case 'attempt':
      return last.at(-1)?.kind === 'outcome' && last.at(-1)?.class === 'delivered';
    case 'late-outcome':
      return last.some((entry) => entry.kind === 'late-outcome' && entry.class === 'delivered');
    case 'decision':
      return last.at(-1)?.decision === 'resolve-delivered';
  }
};

const oneSuccess: Check = ({ next }) => {
  const recorded = (entry: Entry) => entry.kind === 'outcome' && entry.class === 'delivered';
  const ended = countOf(next, (entry) => recorded(entry) || entry.decision === 'resolve-delivered');
  if (ended > 1) return `${ended} recorded successes`;
  if (ended === 1 && next.status !== 'delivered') return `a recorded success, and the row is ${next.status}`;
  return !proofOf(next) && 'delivered without a proof in the journal';
};

const isIdentical: Check = ({ before, next }) =>
  (['item', 'event', 'destination', 'payloadHash', 'acceptedAtMs', 'carried'] as const)
    .filter((name) => !isDeepStrictEqual(before[name], next[name]))
    .map((name) => `${name} changed`)[0];

// ---- attempts and budget ------------------------------------------------------------------------------------------

const attemptsNumbered: Check = ({ next }) => {
  const numbers = entriesIn(next).flatMap((entry) => (entry.kind === 'claimed' ? [entry.attempt] : []));
  const right = Array.from({ length: next.attempts }, (_, index) => index + 1);
  return !isDeepStrictEqual(numbers, right) && `attempts ${next.attempts}, claimed entries ${numbers}`;
};

const budgetHolds: Check = ({ before, next, added }) => {
  const granted = added.reduce((sum, entry) => sum + (entry.kind === 'redriven' ? (entry.grant ?? 0) : 0), 0);
  if (next.budget !== before.budget + granted) return `budget ${before.budget} -> ${next.budget}, granted ${granted}`;
  if (spent(next) > next.budget) return `spent ${spent(next)} of ${next.budget}`;
  const over = next.budget > ATTEMPTS_MAX || next.attempts > ATTEMPTS_MAX;
  return over && `budget ${next.budget}, attempts ${next.attempts}`;
};

const refundsEarned: Check = ({ next }) => {
  const unsent = (entry: Entry) =>
    entry.kind === 'outcome' && (entry.class === 'withheld' || entry.class === 'abandoned');
  const earned = Math.min(REFUNDS_MAX, countOf(next, unsent));
  return next.refunds !== earned && `${next.refunds} refunds, earned ${earned}`;
};

const waitingIsFree: Check = ({ before, input, next }) => {
  if (input.kind !== 'park' && input.kind !== 'defer' && input.kind !== 'sweep') return undefined;
  if (next.attempts !== before.attempts || next.budget !== before.budget) return 'waiting cost an attempt';
  const spared = before.status === 'pending' && next.refunds !== before.refunds;
  return spared && 'waiting gave a unit back';
};

const claimedInTime: Check = (change) => {
  if (!begun(change)) return undefined;
  const { before, input, nowMs } = change;
  if (input.kind !== 'claim') return `an attempt was begun by ${input.kind}`;
  if (before.status === 'claimed') return undefined;
  if (before.status !== 'pending') return `an attempt was begun from ${before.status}`;
  const wished = before.attempts > 0 || before.dueAtMs > before.acceptedAtMs;
  const early = wished && nowMs < before.dueAtMs;
  const beforeSlot = before.deferral !== undefined && nowMs < before.deferral.untilMs;
  return !before.parking && (early || beforeSlot) && 'an attempt was begun before its time';
};

const insideHorizon: Check = (change) =>
  begun(change) && change.nowMs > change.before.horizonFromMs + HORIZON_MS && 'an attempt was begun behind the horizon';

const shadowSendsNothing: Check = (change) =>
  change.input.kind === 'claim' && change.input.rules.mode === 'shadow' && begun(change) && 'an attempt in shadow mode';

// ---- claims -------------------------------------------------------------------------------------------------------

const liveClaimStands: Check = ({ before, input, next, wrote, nowMs }) => {
  if (before.status !== 'claimed' || !wrote || nowMs > lapsesAfter(before)) return undefined;
  if (next.status === 'claimed' && next.claim.id === before.claim.id) return undefined;
  if (input.kind !== 'settle') return `a live claim was ended by ${input.kind}`;
  const success = input.outcome.class === 'delivered' && next.status === 'delivered';
  return input.claimId !== before.claim.id && !success && 'a live claim was ended by a superseded settle';
};

const lapsedIsClosed: Check = ({ before, input, next, wrote, added }) => {
  if (before.status !== 'claimed' || !wrote) return undefined;
  if (next.status === 'claimed' && next.claim.id === before.claim.id) return undefined;
  const [closing] = added;
  if (input.kind === 'settle' && input.claimId !== before.claim.id) return undefined;
  if (closing?.kind !== 'outcome' || closing.attempt !== before.claim.attempt) return 'an attempt has no outcome';
  if (input.kind === 'settle') return closing.class !== input.outcome.class && 'another outcome than the settled one';
  const certain = !before.claim.repeatSafe && before.claim.sendingAtMs === undefined;
  const right = certain ? 'abandoned' : 'in-doubt';
  return closing.class !== right && `a lapsed attempt was called ${closing.class}, not ${right}`;
};

const supersededChangesNothing: Check = (change) => {
  const { before, input, next, wrote } = change;
  if (!isLate(change) || input.kind !== 'settle' || !wrote) return undefined;
  if (input.outcome.class === 'delivered' && !isFinal(before)) {
    const ended = next.status === 'delivered' && next.by === 'late-outcome';
    return !ended && 'a late success did not end the delivery';
  }
  return differs(before, next, ['version', 'journal']) && 'a superseded outcome changed the row';
};

const oneOutcomeEach: Check = ({ next }) => {
  const entries = entriesIn(next);
  const claimed = new Set(entries.flatMap((entry) => (entry.kind === 'claimed' ? [entry.attempt] : [])));
  const seen = new Set<string>();
  for (const entry of entries) {
    if (entry.kind !== 'outcome' && entry.kind !== 'late-outcome') continue;
    const name = `${entry.kind} of attempt ${entry.attempt}`;
    if (!claimed.has(entry.attempt)) return `${name}, which was never claimed`;
    if (seen.has(name)) return `two of ${name}`;
    seen.add(name);
  }
  return undefined;
};

// ---- journal ------------------------------------------------------------------------------------------------------

const appendedOnly: Check = ({ before, next }) => {
  const same = before.journal.lines.every((line, index) => line.text === next.journal.lines[index]?.text);
  if (!same) return 'a line of the journal changed or vanished';
  return !verifyChain(next, next.payloadHash, next.journal) && 'the chain does not lead to the head';
};

const journalFits: Check = ({ next }) => {
  const { lines } = next.journal;
  const long = lines.find((line) => Buffer.byteLength(line.text) > JOURNAL_ENTRY_BYTES_MAX);
  if (long) return `an entry of ${Buffer.byteLength(long.text)} bytes`;
  return lines.length > JOURNAL_ENTRIES_MAX && `a journal of ${lines.length} entries`;
};

/** How many entries a write adds: the closing of a claim counts for one, what is decided behind it for another. */
const entriesDue = ({ before, input, next }: Change): number => {
  const closing = before.status === 'claimed' ? 1 : 0;
  switch (input.kind) {
    case 'mark':
    case 'sweep':
      return 0;
    case 'park':
    case 'defer':
      return closing;
    case 'claim':
      return closing + (closing === 0 || next.status === 'claimed' || next.status === 'cancelled' ? 1 : 0);
    case 'refuse':
    case 'cancel':
      return closing + 1;
    case 'settle':
    case 'redrive':
    case 'resolve':
      return 1;
  }
};

const writesAreRecorded: Check = (change) => {
  const { input, wrote, added, nowMs } = change;
  if (!wrote) return undefined;
  if (added.length !== entriesDue(change)) return `${input.kind} added ${added.length} entries`;
  if (added.length === 0 || !('writeId' in input)) return undefined;
  const { writeId } = input;
  // What a worker records of its own attempt was caused by what had caused its claim.
  const cause = input.kind === 'settle' ? undefined : input.cause;
  const foreign = added.find((entry) => entry.writeId !== writeId || entry.cause !== cause || entry.atMs !== nowMs);
  return foreign && `the entry ${foreign.kind} does not name its write, cause and time`;
};

const writtenOnce: Check = ({ before, input, added }) =>
  added.length > 0 &&
  'writeId' in input &&
  entriesIn(before).some((entry) => entry.writeId === input.writeId) &&
  `the write ${input.writeId} was made twice`;

// ---- doubt and key ------------------------------------------------------------------------------------------------

const DOUBT = { none: 0, safe: 1, unsafe: 2 } as const;

const doubtStays: Check = ({ before, input, next }) => {
  const cleared =
    (input.kind === 'redrive' && input.acceptSecondEffect) ||
    (input.kind === 'resolve' && input.as === 'not-delivered');
  return DOUBT[next.doubt] < DOUBT[before.doubt] && !cleared && `doubt ${before.doubt} -> ${next.doubt}`;
};

const doubtHolds: Check = (change) => {
  const { next } = change;
  if (next.doubt === 'unsafe' && (next.status === 'pending' || next.status === 'claimed')) {
    return `${next.status} although an attempt at an unsafe destination is in doubt`;
  }
  const unsafe = begun(change) && next.status === 'claimed' && !next.claim.repeatSafe;
  return unsafe && next.doubt !== 'none' && 'an unsafe attempt behind one that is in doubt';
};

const keyLifeHolds: Check = (change) => {
  const { before, input, next, nowMs } = change;
  // A person accepted a second effect, or said that nothing had arrived.
  const decided =
    (input.kind === 'redrive' && input.acceptSecondEffect) ||
    (input.kind === 'resolve' && input.as === 'not-delivered');
  const renewed = decided && next.keyFromMs === undefined;
  if (before.keyFromMs !== undefined && next.keyFromMs !== before.keyFromMs && !renewed) return 'the key life moved';
  if (before.keyFromMs === undefined && next.keyFromMs !== undefined) {
    const start = before.status === 'claimed' ? before.claim.startedAtMs : undefined;
    if (next.keyFromMs !== start) return 'the key life does not begin with the attempt';
  }
  if (!begun(change) || input.kind !== 'claim' || next.keyFromMs === undefined) return undefined;
  const { repeatSafe, keyLifeHours } = input.rules;
  const over = repeatSafe && keyLifeHours !== null && nowMs >= next.keyFromMs + keyLifeHours * 3_600_000;
  return over && 'an attempt was begun behind the end of the key life';
};

// ---- looking after, effects ---------------------------------------------------------------------------------------

const isLookedAfter: Check = (change) => {
  const { input, next, wrote, ahead, nowMs } = change;
  if (!wrote || isLate(change) || (next.status !== 'pending' && next.status !== 'claimed')) return undefined;
  const [wake] = ahead;
  const swept = Math.max(nowMs, wake?.kind === 'publish' ? wake.dueAtMs : 0) + SWEEP_STEP_MS_MAX;
  const parked = input.kind === 'sweep' ? swept : nowMs + PARKED_LOOK_MS;
  const open = next.status === 'claimed' ? lapsesAfter(next) : fromOf(next) + next.graceMs;
  const latest =
    next.status === 'pending' && next.parking ? parked : input.kind === 'sweep' ? Math.max(open, swept) : open;
  return next.lookAfterMs > latest && `nobody looks before ${next.lookAfterMs}, at the latest ${latest}`;
};

const isWoken: Check = (change) => {
  const { input, next, wrote, ahead, behind } = change;
  if (!wrote || input.kind === 'sweep' || isLate(change)) return undefined;
  const wakes = [...ahead, ...behind].filter(isWake);
  if (next.status !== 'pending') return wakes.length > 0 && `${next.status} is woken`;
  const right: Effect = next.parking
    ? { kind: 'reread-gate', version: next.version }
    : { kind: 'publish', version: next.version, dueAtMs: fromOf(next) };
  return !isDeepStrictEqual(wakes, [right]) && `planned ${JSON.stringify(right)}, got ${JSON.stringify(wakes)}`;
};

const sweepOnlyMoves: Check = ({ before, input, next, wrote, ahead, behind, nowMs }) => {
  if (input.kind !== 'sweep' || !wrote) return undefined;
  // A parked row whose gate opens gets a slot: it waits for that instead.
  const slotted = before.status === 'pending' && before.parking !== undefined && input.slotAtMs !== undefined;
  const waits = slotted && input.gate === 'open' ? ['parking', 'deferral', 'waits'] : [];
  if (differs(before, next, ['version', 'sweeps', 'lookAfterMs', ...waits])) {
    return 'a sweep changed more than the next look';
  }
  if (!('lookAfterMs' in before) || nowMs < before.lookAfterMs) return 'a sweep acted before the look-after time';
  if (behind.length > 0) return 'a sweep published behind its write';
  const quiet =
    before.status === 'claimed' ? nowMs <= lapsesAfter(before) : before.parking !== undefined && input.gate !== 'open';
  const [wake] = ahead;
  if (quiet || wake === undefined) return (ahead.length > 0 || !quiet) && `a sweep published ${ahead.length} times`;
  const named = wake.kind === 'publish' && wake.version === before.version && wake.tick === input.tick;
  return !(named && ahead.length === 1) && 'the publish of a sweep does not name version and tick';
};

const destinationIsTold: Check = ({ input, wrote, behind }) => {
  if (!wrote) return undefined;
  const told = behind.filter((effect) => !isWake(effect)).map((effect) => effect.kind);
  const right: string[] = [];
  if (input.kind === 'settle') {
    const { class: outcomeClass, status, retryAfterMs } = input.outcome;
    if (outcomeClass === 'gone') right.push('pause');
    else if ((status === 429 || status === 503) && (retryAfterMs ?? 0) > 0) right.push('close');
  }
  return !isDeepStrictEqual(told, right) && `the destination was told [${told}] instead of [${right}]`;
};

// ---- persons ------------------------------------------------------------------------------------------------------

const decisionsCounted: Check = ({ next }) => {
  const redriven = countOf(next, (entry) => entry.kind === 'redriven');
  const decided = countOf(next, (entry) => entry.kind === 'decision' && entry.decision !== 'refuse');
  if (next.redrives !== redriven || next.decisions !== decided) return 'counts and journal differ';
  const over = redriven > REDRIVES_MAX || decided > DECISIONS_MAX;
  return over && `${redriven} redrives, ${decided} decisions`;
};

const decidedOnce: Check = ({ next }) => {
  const causes = entriesIn(next).flatMap((entry) => (byPerson(entry) ? [entry.cause] : []));
  return new Set(causes).size < causes.length && 'one request was decided twice';
};

// ---- all of them --------------------------------------------------------------------------------------------------

export const INVARIANTS: Readonly<Record<InvariantId, Check>> = {
  M1: fieldsAgree,
  M2: ({ before, next, wrote }) =>
    next.version !== before.version + (wrote ? 1 : 0) && `version ${before.version} -> ${next.version}`,
  M3: isIdentical,
  M4: ({ before, next }) =>
    isFinal(before) && differs(before, next, ['version', 'journal']) && 'a final state was left',
  M5: oneSuccess,
  M6: attemptsNumbered,
  M7: budgetHolds,
  M8: refundsEarned,
  M9: waitingIsFree,
  M10: claimedInTime,
  M11: insideHorizon,
  M12: shadowSendsNothing,
  M13: liveClaimStands,
  M14: lapsedIsClosed,
  M15: supersededChangesNothing,
  M16: oneOutcomeEach,
  M17: appendedOnly,
  M18: journalFits,
  M19: writesAreRecorded,
  M20: writtenOnce,
  M21: doubtStays,
  M22: doubtHolds,
  M23: keyLifeHolds,
  M24: isLookedAfter,
  M25: isWoken,
  M26: sweepOnlyMoves,
  M27: destinationIsTold,
  M28: decisionsCounted,
  M29: decidedOnce,
};

/** What this decision breaks, as `M7 spent 9 of 8`; empty for a good one. */
export const violationsOf = (before: Delivery, input: Input, decision: Decision, nowMs: number): readonly string[] => {
  const wrote = decision.kind === 'write';
  const next = wrote ? decision.next : before;
  const change: Change = {
    before,
    input,
    next,
    wrote,
    nowMs,
    added: entriesIn(next).slice(before.journal.lines.length),
    ahead: wrote ? decision.before : [],
    behind: wrote ? decision.after : [],
  };
  return CHECKED.flatMap((id) => {
    const wrong = INVARIANTS[id](change);
    return wrong ? [`${id} ${wrong}`] : [];
  });
};

/** M30: the same arguments give the same decision, nothing that came in is changed, and nothing is thrown. */
export const impuritiesOf = (
  decideIt: (row: Delivery, input: Input, nowMs: number, draw: number) => Decision,
  ...[row, input, nowMs, draw]: [Delivery, Input, number, number]
): readonly string[] => {
  const copy = structuredClone({ row, input });
  try {
    const once = decideIt(deepFrozen(row), deepFrozen(input), nowMs, draw);
    const again = decideIt(copy.row, copy.input, nowMs, draw);
    return isDeepStrictEqual(once, again) ? [] : ['M30 the same arguments gave two decisions'];
  } catch (error) {
    return [`M30 threw ${error}`];
  }
};

const deepFrozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFrozen(inner);
  return Object.freeze(value);
};
