/**
 * I1 to I9 for a world that was killed, from what others saw of it: the requests that the partner received, what
 * clients were told, the order file, the table. Nothing that the product counts for itself is asked.
 */
import type { DestinationId, EventId } from '../../../functions/core/ids.ts';
import { verifyChain } from '../../../functions/core/journal.ts';
import { outgoingKey } from '../../../functions/core/keys.ts';
import type { Delivery, Entry } from '../../../functions/core/model.ts';
import { stateOf } from '../../../functions/operator/commands/deliveries.ts';
import type { ReceivedRequest } from '../../../infra/local/partner/mailbox.ts';
import type { Asked, Promised, Shown } from './clients.ts';
import type { Happened } from './order.ts';

export interface Evidence {
  readonly promised: readonly Promised[];
  readonly asked: readonly Asked[];
  readonly shown: readonly Shown[];
  readonly received: readonly Pick<ReceivedRequest, 'key' | 'sha256' | 'played' | 'acted'>[];
  readonly rows: readonly Delivery[];
  /** Where table and indexes do not say the same. */
  readonly apart: readonly string[];
  readonly order: readonly Happened[];
  /** Destinations at which a repeat is not safe. */
  readonly unsafe: readonly string[];
  readonly kills: number;
}

type Complain = (complaint: string) => void;
type Invariant = (evidence: Evidence, complain: Complain) => void;

const keyOf = ({ event, destination }: { readonly event: string; readonly destination: string }): string =>
  outgoingKey(event as EventId, destination as DestinationId);
const nameOf = ({ event, destination }: { readonly event: string; readonly destination: string }): string =>
  `${event} to ${destination}`;
const entriesOf = (row: Delivery): readonly Entry[] => row.journal.lines.map(({ entry }) => entry);
const of = (row: Delivery, ...kinds: readonly Entry['kind'][]): readonly Entry[] =>
  entriesOf(row).filter(({ kind }) => kinds.includes(kind));
const requestsOf = ({ received }: Evidence, row: Delivery) => received.filter(({ key }) => key === keyOf(row));
const says2xx = ({ played }: { readonly played: string }): boolean => /^status 2\d\d/.test(played);
const isFinal = (status: string): boolean => status === 'delivered' || status === 'cancelled';

const oneSuccess: Invariant = ({ rows }, complain) => {
  for (const row of rows) {
    const successes = of(row, 'outcome').filter((entry) => entry.class === 'delivered').length;
    const byDecision = of(row, 'decision').filter((entry) => entry.decision === 'resolve-delivered').length;
    const late = row.status === 'delivered' && row.by === 'late-outcome' ? 1 : 0;
    if (successes + byDecision + late > 1) complain(`${nameOf(row)} has more than one recorded success`);
  }
};

const oneEffect: Invariant = (evidence, complain) => {
  for (const row of evidence.rows) {
    const accepted = evidence.asked.filter((one) => one.acceptsSecondEffect && nameOf(one) === nameOf(row)).length;
    const allowed = evidence.unsafe.includes(row.destination) ? 1 + accepted : 1;
    const effects = requestsOf(evidence, row).filter(({ acted }) => acted).length;
    if (effects > allowed) complain(`${nameOf(row)} had ${effects} effects, ${allowed} allowed`);
  }
};

const successIsTrue: Invariant = (evidence, complain) => {
  for (const row of evidence.rows) {
    const byAttempt = row.status === 'delivered' && row.by !== 'decision';
    if (byAttempt && !requestsOf(evidence, row).some(says2xx)) complain(`${nameOf(row)} is delivered without any 2xx`);
  }
};

const withinBudget: Invariant = (evidence, complain) => {
  for (const row of evidence.rows) {
    const requests = requestsOf(evidence, row).length;
    const grants = of(row, 'redriven').reduce((sum, { grant = 0 }) => sum + grant, 0);
    if (requests > row.budget) complain(`${nameOf(row)}: ${requests} requests, a budget of ${row.budget}`);
    if (row.budget > 8 + grants) complain(`${nameOf(row)} has a budget of ${row.budget} that nobody granted`);
    if (requests > of(row, 'claimed').length) complain(`${nameOf(row)}: more requests than attempts on record`);
  }
};

/** Each push by itself, between two starts: claimed before it sends, recorded before it is acknowledged. */
const recordedInOrder: Invariant = ({ order, rows }, complain) => {
  const rowOf = new Map(rows.map((row) => [keyOf(row), row]));
  const wrote = (past: readonly Happened[], key: string, kinds: readonly string[]): number =>
    past.findLastIndex(
      (one) => one.kind === 'wrote' && keyOf(one) === key && one.entries.some((entry) => kinds.includes(entry.kind)),
    );
  let pushes = new Map<number, Happened[]>();
  for (const happened of order) {
    if (happened.kind === 'up') {
      pushes = new Map();
      continue;
    }
    const past = pushes.get(happened.push) ?? [];
    pushes.set(happened.push, [...past, happened]);
    if (happened.kind === 'sends' && wrote(past, happened.key, ['claimed']) < 0) {
      const row = rowOf.get(happened.key);
      complain(`${row ? nameOf(row) : happened.key} was sent by a push that had not claimed it`);
    }
    if (happened.kind !== 'acknowledged' || happened.status >= 300) continue;
    for (const [at, sent] of past.entries()) {
      if (sent.kind !== 'sends' || wrote(past, sent.key, ['outcome', 'late-outcome']) > at) continue;
      complain(`the push that sent ${sent.key} was acknowledged before the outcome was recorded`);
    }
  }
};

const nothingLost: Invariant = ({ promised, rows }, complain) => {
  const rowOf = new Map(rows.map((row) => [nameOf(row), row]));
  for (const { event, destinations } of promised) {
    for (const destination of destinations) {
      const row = rowOf.get(nameOf({ event, destination }));
      if (row === undefined) complain(`${event} to ${destination} was promised, and is not there`);
    }
  }
  for (const row of rows) {
    if (row.status === 'pending' || row.status === 'claimed') complain(`${nameOf(row)} is ${stateOf(row)} for ever`);
  }
};

const finalStays: Invariant = ({ shown, rows }, complain) => {
  const rowOf = new Map(rows.map((row) => [nameOf(row), row]));
  for (const one of shown) {
    const row = rowOf.get(nameOf(one));
    if (isFinal(one.status) && row?.status !== one.status) complain(`${nameOf(one)} was ${one.status}, and is not now`);
  }
};

const journalStays: Invariant = ({ shown, rows, asked, apart }, complain) => {
  for (const row of rows) {
    if (!verifyChain(row, row.payloadHash, row.journal)) complain(`the journal of ${nameOf(row)} has a broken chain`);
    const attempts = of(row, 'claimed').map(({ attempt }) => attempt);
    if (attempts.some((attempt, at) => attempt !== at + 1) || attempts.length !== row.attempts) {
      complain(`the attempts of ${nameOf(row)} are numbered ${attempts}`);
    }
    for (const attempt of attempts) {
      const outcomes = of(row, 'outcome').filter((entry) => entry.attempt === attempt).length;
      if (outcomes !== 1) complain(`attempt ${attempt} of ${nameOf(row)} has ${outcomes} outcomes`);
    }
    const wished = asked.filter((one) => one.wish === 'redrive' && nameOf(one) === nameOf(row)).length;
    if (of(row, 'redriven').length > wished) complain(`${nameOf(row)} was redriven more often than asked`);
  }
  const rowOf = new Map(rows.map((row) => [nameOf(row), row]));
  for (const one of shown) {
    const row = rowOf.get(nameOf(one));
    const now = row ? entriesOf(row) : [];
    const same = one.journal.every(({ kind, at, requestId }, index) => {
      const entry = now[index];
      return entry?.kind === kind && entry.atMs === Date.parse(at) && entry.writeId === requestId;
    });
    if (!same) complain(`the journal of ${nameOf(one)} is not what it was when it was shown`);
  }
  for (const line of apart) complain(`table and index differ: ${line}`);
};

const sameRequest: Invariant = (evidence, complain) => {
  const known = new Set(evidence.rows.map(keyOf));
  for (const { key = 'none' } of evidence.received)
    if (!known.has(key)) complain(`a request under the key ${key}, which nobody has`);
  for (const row of evidence.rows) {
    const bodies = new Set(requestsOf(evidence, row).map(({ sha256 }) => sha256));
    if (bodies.size > 1) complain(`${nameOf(row)} was sent with ${bodies.size} different bodies`);
  }
};

/** I3's other half: what the worker saw and had the time to record. */
const successIsKept: Invariant = ({ order, rows }, complain) => {
  const rowOf = new Map(rows.map((row) => [keyOf(row), row]));
  const kept = new Set(
    order.flatMap((one) =>
      one.kind === 'wrote' && one.entries.some((entry) => entry.class === 'delivered') ? [keyOf(one)] : [],
    ),
  );
  for (const key of kept) {
    const row = rowOf.get(key);
    if (row && !of(row, 'outcome', 'late-outcome').some((entry) => entry.class === 'delivered')) {
      complain(`the recorded success of ${nameOf(row)} is gone`);
    }
  }
};

export const INVARIANTS = {
  'I1 at most one recorded success': oneSuccess,
  'I2 at most one effect': oneEffect,
  'I3 delivered means that a 2xx was sent': successIsTrue,
  'I3 a success that was recorded is kept': successIsKept,
  'I4 requests within the budget': withinBudget,
  'I5 recorded before it is sent, and before it is acknowledged': recordedInOrder,
  'I6 nothing promised is lost': nothingLost,
  'I7 final is final': finalStays,
  'I8 the journal only grows': journalStays,
  'I9 the same request each time': sameRequest,
} as const satisfies Record<string, Invariant>;

export type InvariantName = keyof typeof INVARIANTS;

/** A line for everything that is wrong; none, as it should be. */
export const judgeKills = (evidence: Evidence): readonly string[] => {
  const complaints: string[] = [];
  for (const name of Object.keys(INVARIANTS) as InvariantName[]) {
    INVARIANTS[name](evidence, (complaint) => complaints.push(`${name}: ${complaint}`));
  }
  return complaints;
};
