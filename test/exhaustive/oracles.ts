/**
 * What must be true of every run. Judged from the merged log: what was written, what arrived at the destination, what
 * was published, who was answered what, in the order in which it happened.
 */
import { verifyChain } from '../../functions/core/journal.ts';
import type { Claimed, Delivery, Entry, Pending } from '../../functions/core/model.ts';
import type { Ended } from './run.ts';
import { START_MS, TIMEOUT_MS } from './scene.ts';
import { claimOf, entriesOf, first, isFinal, newClaim, type Seen, seenOf } from './seen.ts';

export interface Verdict {
  readonly oracle: OracleName;
  readonly message: string;
}

/** Says what is wrong, or nothing. */
type Oracle = (ended: Ended, seen: Seen) => string | undefined;

/** Said once more here: a judge that asked the code under test would believe its mistakes. */
const SKEW_MARGIN_MS = 5_000;
const REFUNDS_MAX = 5;
const lapsesAfterMs = ({ claim }: Claimed): number => claim.leaseEndsAtMs + SKEW_MARGIN_MS;
const claimableFromMs = (row: Pending): number => {
  const atOnce = row.attempts === 0 && row.dueAtMs <= row.acceptedAtMs;
  return Math.max(atOnce ? 0 : row.dueAtMs, row.deferral?.untilMs ?? 0);
};

// ---- what the customer gets -----------------------------------------------------------------------------------------

const oneSuccess: Oracle = (_ended, { writes }) => {
  const ends = writes.filter(({ before, row }) => row.status === 'delivered' && before.status !== 'delivered');
  return ends.length > 1 ? `${ends.length} writes made the row delivered` : undefined;
};

const successIsTrue: Oracle = (_ended, { writes, answers }) =>
  first(writes, ({ before, row, at }) => {
    if (row.status !== 'delivered' || before.status === 'delivered' || row.by === 'decision') return undefined;
    const told = answers.some((answer) => answer.at < at && answer.status !== undefined && answer.status < 300);
    return told ? undefined : 'recorded as delivered, and no 2xx had come';
  });

/** Who knows of a 2xx and could record it has recorded it: the row is final from then on. */
const successIsKept: Oracle = (_ended, { answers, verdicts, writes }) =>
  first(answers, (answer) => {
    if (answer.status === undefined || answer.status >= 300) return undefined;
    const verdict = verdicts.find(({ owner, at }) => owner === answer.owner && at > answer.at);
    if (!verdict?.acknowledged) return undefined;
    const row = writes.findLast(({ at }) => at < verdict.at)?.row;
    return row && isFinal(row) ? undefined : `${answer.owner} had a 2xx, acknowledged, and the row is not final`;
  });

const oneEffect: Oracle = ({ scene }, { arrivals }) => {
  const effects = arrivals.filter(({ effect }) => effect).length;
  // A person who redrives a doubted row accepts a second effect; who resolves it as not delivered vouches for it.
  const accepted = scene.cast.some((part) => part === 'redrive' || part === 'resolve') ? 1 : 0;
  return effects > 1 + accepted ? `${effects} effects at the destination` : undefined;
};

const budgetHolds: Oracle = ({ row, beginning }, { arrivals, writes }) => {
  if (arrivals.length > row.budget) return `${arrivals.length} requests arrived on a budget of ${row.budget}`;
  // The acceptance names the budget that it begins with: no grant.
  const granted = entriesOf(row)
    .filter(({ kind }) => kind === 'redriven')
    .reduce((sum, { grant }) => sum + (grant ?? 0), 0);
  if (row.budget !== beginning.row.budget + granted) return 'the budget grew without a grant';
  return first(writes, ({ row: { attempts, refunds, budget } }) =>
    attempts - refunds > budget || refunds > REFUNDS_MAX ? `${attempts} attempts, ${refunds} refunds` : undefined,
  );
};

const sameRequest: Oracle = (_ended, { sends }) => {
  const forms = new Set(sends.map(({ key, body }) => `${key} ${body}`));
  return forms.size > 1 ? 'two attempts differ in key or body' : undefined;
};

// ---- order ----------------------------------------------------------------------------------------------------------

const claimBeforeSend: Oracle = (_ended, { sends, claims }) =>
  first(sends, ({ owner, at }, index) => {
    const claim = claims.get(owner);
    if (!claim || claim.at > at) return `${owner} sends before its claim is written`;
    const last = entriesOf(claim.row).at(-1);
    if (last?.kind !== 'claimed' || last.attempt !== claimOf(claim.row)?.attempt) return 'a claim without its entry';
    return sends.findIndex((other) => other.owner === owner) < index ? `${owner} sends twice on one claim` : undefined;
  });

const markBeforeSend: Oracle = (_ended, { sends, writes, claims }) =>
  first(sends, ({ owner, at }) => {
    const mine = claimOf(claims.get(owner)?.row);
    if (!mine || mine.repeatSafe) return undefined;
    const marked = writes.some((write) => {
      const claim = claimOf(write.row);
      return write.at < at && claim?.id === mine.id && claim.sendingAtMs !== undefined;
    });
    return marked ? undefined : `${owner} sends without a mark where a repeat is not safe`;
  });

/** The latest look at the row before the call of the sender showed the worker's own claim, with time for an attempt. */
const ownerSends: Oracle = (_ended, { sends, reads, claims }) =>
  first(sends, ({ owner, at, atMs }) => {
    const mine = claimOf(claims.get(owner)?.row);
    const look = reads.findLast((read) => read.owner === owner && read.at < at && read.by === owner);
    const shown = claimOf(look?.row);
    if (!mine || shown?.id !== mine.id) return `${owner} sends, and its latest look showed another owner`;
    return mine.leaseEndsAtMs - atMs < TIMEOUT_MS ? `${owner} sends with too little lease left` : undefined;
  });

/** Nobody sends whose latest look at the destination showed it paused, but for the one that may try it. */
const pauseObeyed: Oracle = (_ended, { sends, gates, others }) =>
  first(sends, ({ owner, at }) => {
    const look = gates.findLast((gate) => gate.owner === owner && gate.at < at);
    const probes = others.some((write) => write.owner === owner && write.at < at && write.item.item === 'gate');
    return look?.paused === false || probes ? undefined : `${owner} sends to a paused destination`;
  });

/** A place is given back by its holder only, and taken from another only when that one's lease has lapsed. */
const placesHold: Oracle = (_ended, { others }) =>
  first(others, ({ before, item, owner, atMs }) => {
    if (item.item !== 'slot' || before?.item !== 'slot' || before.holder === undefined) return undefined;
    if (before.holder.startsWith(owner)) return undefined;
    if (item.holder === undefined) return `${owner} gives back a place of ${before.holder}`;
    return atMs <= before.leaseEndsAtMs ? `${owner} takes a place that ${before.holder} holds` : undefined;
  });

/** Whoever has sent records what came of it before it acknowledges; so does whoever has claimed, unless all is over. */
const recordBeforeAck: Oracle = (_ended, { verdicts, claims, writes, sends }) =>
  first(verdicts, ({ owner, at, acknowledged }) => {
    const claim = claims.get(owner);
    const attempt = claimOf(claim?.row)?.attempt;
    if (!acknowledged || !claim || claim.at > at) return undefined;
    const row = writes.findLast((write) => write.at < at)?.row;
    const recorded = entriesOf(row).some((entry) => isOutcome(entry) && entry.attempt === attempt);
    const over = row !== undefined && isFinal(row) && sends.every((send) => send.owner !== owner);
    return recorded || over
      ? undefined
      : `${owner} acknowledges, and the outcome of attempt ${attempt} is not recorded`;
  });

const isOutcome = ({ kind }: Entry): boolean => kind === 'outcome' || kind === 'late-outcome';

/** A claim is made of a row that is due, or whose lease has lapsed by the clock of whoever claims. */
const claimInTime: Oracle = (_ended, { writes }) =>
  first(writes, (write) => {
    const { before, row, owner } = write;
    const claim = claimOf(row);
    if (!newClaim(write) || !claim) return undefined;
    switch (before.status) {
      case 'pending':
        return claim.startedAtMs < claimableFromMs(before) ? `${owner} claims before due` : undefined;
      case 'claimed':
        return claim.startedAtMs <= lapsesAfterMs(before) ? `${owner} claims over a live lease` : undefined;
      case 'delivered':
      case 'cancelled':
      case 'quarantined':
        return `${owner} claims a row that is ${before.status}`;
    }
  });

/** With clocks that differ no more than the margin, nobody takes a claim over before its holder's lease has ended. */
const leaseRespected: Oracle = ({ scene }, { writes, claims }) =>
  first(writes, (write) => {
    const held = claimOf(write.before);
    if (!held || !newClaim(write)) return undefined;
    const holder = [...claims.values()].find(({ row }) => claimOf(row)?.id === held.id);
    if (!holder) return undefined;
    const skewMs = write.owner === 'B' ? scene.skewMs : holder.owner === 'B' ? -scene.skewMs : 0;
    if (Math.abs(skewMs) > SKEW_MARGIN_MS) return undefined;
    const startedAtMs = claimOf(write.row)?.startedAtMs ?? 0;
    return startedAtMs - skewMs <= held.leaseEndsAtMs ? `${write.owner} takes over while the lease runs` : undefined;
  });

// ---- the record -----------------------------------------------------------------------------------------------------

const finalStays: Oracle = (_ended, { writes }) =>
  first(writes, ({ before, row }) => {
    if (before.status !== 'delivered' && before.status !== 'cancelled') return undefined;
    return row.status === before.status && row.endedAtMs === before.endedAtMs
      ? undefined
      : `a ${before.status} row became ${row.status}`;
  });

const journalGrows: Oracle = ({ beginning, row }, { writes }) =>
  first(writes, ({ before, row: after }) => {
    if (after.version !== before.version + 1) return `version ${before.version} became ${after.version}`;
    if (after.payloadHash !== before.payloadHash) return 'the payload hash changed';
    const same = before.journal.lines.every(({ text }, index) => after.journal.lines[index]?.text === text);
    return same ? undefined : 'a line of the journal changed or vanished';
  }) ?? (verifyChain(row, beginning.row.payloadHash, row.journal) ? undefined : 'the chain does not verify');

/** Attempts are numbered 1..n; each is opened once and closed once; a late outcome comes from a worker that lost it. */
const attemptsAddUp: Oracle = ({ row }) => {
  const entries = entriesOf(row);
  const opened = entries.filter(({ kind }) => kind === 'claimed').map(({ attempt }) => attempt);
  if (opened.some((attempt, index) => attempt !== index + 1)) return `attempts are numbered ${opened.join(', ')}`;
  if (opened.length !== row.attempts) return `${row.attempts} attempts, ${opened.length} claims in the journal`;
  return first(opened, (attempt) => {
    const closed = entries.filter((entry) => isOutcome(entry) && entry.attempt === attempt);
    if (closed.filter(({ kind }) => kind === 'outcome').length > 1) return `attempt ${attempt} has two outcomes`;
    if (closed.filter(({ kind }) => kind === 'late-outcome').length > 1) return `attempt ${attempt} is late twice`;
    if (closed.length === 2 && closed[0]?.cause === closed[1]?.cause) return `attempt ${attempt} is recorded twice`;
    return closed.length === 0 && row.status !== 'claimed' && !cutShort(row, attempt)
      ? `attempt ${attempt} has no outcome`
      : undefined;
  });
};

/** A late success of an earlier attempt ends a row under the feet of a claim; that worker may have died since. */
const cutShort = (row: Delivery, attempt: number | undefined): boolean =>
  attempt === row.attempts && row.status === 'delivered' && row.by === 'late-outcome';

const CERTAIN: readonly (Entry['class'] | undefined)[] = ['withheld', 'abandoned', 'not-sent'];

/** What is recorded as never having left has never arrived, also later. */
const certaintyIsTrue: Oracle = ({ row }, { arrivals, claims }) =>
  first(entriesOf(row), (entry) => {
    if (!isOutcome(entry) || !CERTAIN.includes(entry.class)) return undefined;
    const claim = [...claims.values()].find(({ row: claimed }) => claimOf(claimed)?.attempt === entry.attempt);
    const arrived = claim && arrivals.some(({ owner }) => owner === claim.owner);
    return arrived ? `attempt ${entry.attempt} is recorded as ${entry.class}, and it arrived` : undefined;
  });

const onceDecided: Oracle = ({ row }) => {
  const decisions = entriesOf(row).filter(
    ({ kind, cause }) => cause?.startsWith('a:') && (kind === 'decision' || kind === 'redriven'),
  );
  return decisions.length > 1 ? `one decision stands in the journal ${decisions.length} times` : undefined;
};

// ---- nothing is lost ------------------------------------------------------------------------------------------------

const PARKED_LOOK_MS = 3_600_000;
const SWEPT_LOOK_MS = 7_200_000;

/** Every open row has a time at which a sweep looks, and that time has a bound. */
const looksPlanned: Oracle = (_ended, { writes }) =>
  first(writes, ({ row, atMs }) => {
    switch (row.status) {
      case 'claimed':
        return row.lookAfterMs > Math.max(lapsesAfterMs(row), atMs + SWEPT_LOOK_MS)
          ? 'looked after too late'
          : undefined;
      case 'pending': {
        const plannedMs = Math.max(claimableFromMs(row), row.dueAtMs) + row.graceMs;
        const sweptMs = atMs + (row.parking ? PARKED_LOOK_MS : row.sweeps > 0 ? SWEPT_LOOK_MS : 0);
        return row.lookAfterMs > Math.max(plannedMs, sweptMs) ? 'looked after too late' : undefined;
      }
      case 'delivered':
      case 'cancelled':
      case 'quarantined':
        return undefined;
    }
  });

/** A look that leaves the row where it was has cost a write and will come again at once. */
const looksMove: Oracle = (_ended, { writes, reads }) =>
  first(writes, ({ before, row, at, owner }) => {
    const looked = row.journal.lines.length === before.journal.lines.length && row.status === before.status;
    if (!looked || !owner.toLowerCase().startsWith('s') || !('lookAfterMs' in row)) return undefined;
    // A pass that pauses between look and write decides by the time of its look.
    const look = reads.findLast((read) => read.owner === owner && read.at < at);
    return row.lookAfterMs > (look?.atMs ?? 0) ? undefined : `${owner} looks after the row, and it stays where it was`;
  });

const nothingStranded: Oracle = ({ atRest, row }) =>
  atRest ? undefined : `the row is still ${row.status} when nothing is left to happen`;

const PROMPT_MS = 60_000;

/** Where nothing goes wrong nobody waits for a sweep that comes within the hour. */
const promptWhenWell: Oracle = ({ scene, row }) => {
  const { jumps, crashes, faults, messages, answer, cast } = scene;
  if (jumps + crashes + faults > 0 || messages === 'lost' || answer !== '200' || cast.includes('pause'))
    return undefined;
  if (row.status !== 'delivered') return undefined;
  const tookMs = row.endedAtMs - START_MS;
  return tookMs > PROMPT_MS ? `delivered only after ${tookMs / 1_000} s` : undefined;
};

const noBug: Oracle = ({ bugs }) => bugs[0];

export const ORACLES = {
  'no-bug': noBug,
  'one-success': oneSuccess,
  'success-is-true': successIsTrue,
  'success-is-kept': successIsKept,
  'one-effect': oneEffect,
  'budget-holds': budgetHolds,
  'same-request': sameRequest,
  'claim-before-send': claimBeforeSend,
  'mark-before-send': markBeforeSend,
  'owner-sends': ownerSends,
  'pause-obeyed': pauseObeyed,
  'places-hold': placesHold,
  'record-before-ack': recordBeforeAck,
  'claim-in-time': claimInTime,
  'lease-respected': leaseRespected,
  'final-stays': finalStays,
  'journal-grows': journalGrows,
  'attempts-add-up': attemptsAddUp,
  'certainty-is-true': certaintyIsTrue,
  'once-decided': onceDecided,
  'looks-planned': looksPlanned,
  'looks-move': looksMove,
  'prompt-when-well': promptWhenWell,
  'nothing-stranded': nothingStranded,
} as const satisfies Record<string, Oracle>;

export type OracleName = keyof typeof ORACLES;
export const ORACLE_NAMES = Object.keys(ORACLES) as OracleName[];

/** Every oracle that this run breaks; none, as it should be. */
export const judge = (ended: Ended): readonly Verdict[] => {
  const seen = seenOf(ended.log);
  const broken: Verdict[] = [];
  for (const oracle of ORACLE_NAMES) {
    const message = ORACLES[oracle](ended, seen);
    if (message) broken.push({ oracle, message });
  }
  return broken;
};
