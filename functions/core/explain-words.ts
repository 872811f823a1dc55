/** An explanation as sentences for a person at 3 a.m.: the answer first, then how it is known, then what comes next. */
import type { Act, Effect, Explanation } from './explain.ts';
import type { AttemptSeen } from './explain-attempts.ts';
import type { GateSeen, IfLost, Next } from './explain-next.ts';
import type { QuarantineReason } from './model.ts';
import type { OutcomeClass } from './outcome.ts';

export interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

/** To the second: the journal has the rest. */
const at = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

const times = (count: number, one: string, many = `${one}s`): string =>
  count === 0 ? `no ${one}` : `${count} ${count === 1 ? one : many}`;

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

export const wordsOf = (explained: Explanation): readonly Section[] => [
  { title: 'In short', lines: [stateLine(explained), EFFECTS[explained.effect](explained)] },
  { title: 'What happened', lines: [acceptedLine(explained), ...happened(explained)] },
  { title: 'Certain', lines: certain(explained) },
  ...sectionOf('Not certain', uncertain(explained)),
  { title: 'Next', lines: nextLines(explained.next, explained) },
];

const sectionOf = (title: string, lines: readonly string[]): readonly Section[] =>
  lines.length === 0 ? [] : [{ title, lines }];

// ---- in short -----------------------------------------------------------------------------------------------------

const stateLine = ({ event, destination, status, reason, sinceMs }: Explanation): string => {
  const why = reason === undefined ? '' : ` (${reason})`;
  return `Delivery of ${event} to ${destination} is ${status}${why}${sinceMs === undefined ? '' : ` since ${at(sinceMs)}`}.`;
};

const EFFECTS: Readonly<Record<Effect, (explained: Explanation) => string>> = {
  one: ({ requests }) =>
    requests.made === 1
      ? 'One request, one recorded success: one effect.'
      : `${times(requests.made, 'request')}, one recorded success: one effect, by what the destination has answered.`,
  'one-by-key': ({ requests }) =>
    `${times(requests.made, 'request')}, one recorded success. ${times(requests.unknown, 'other request')} may have arrived too, under the same key: one effect, if the destination honours the key as its setting says.`,
  'one-or-more': ({ requests }) =>
    `${times(requests.made, 'request')}, one recorded success. ${times(requests.unknown, 'other request')} may have acted as well: one effect or more.`,
  none: ({ requests }) =>
    requests.made === 0
      ? 'No request was sent, and no success is recorded: no effect.'
      : requests.underWay > 0
        ? 'No success is recorded yet; a request is under way.'
        : `${requests.made === 1 ? 'One request, and it was no success' : `${requests.made} requests, none of them a success`}: no effect that the destination has admitted to.`,
  unknown: ({ requests }) =>
    `No success is recorded, but ${times(requests.unknown, 'request')} may have arrived: none or one effect, nobody here knows.`,
  said: ({ requests }) =>
    `A person has said that it was delivered; ${requests.made === 0 ? 'no request was sent from here' : `${times(requests.made, 'request')} ${requests.made === 1 ? 'was' : 'were'} sent from here, none with a recorded success`}.`,
};

// ---- what happened ------------------------------------------------------------------------------------------------

const acceptedLine = ({ acceptedAtMs, payloadHash }: Explanation): string =>
  `${at(acceptedAtMs)}  accepted; payload SHA-256 ${payloadHash}`;

const happened = ({ attempts, acts }: Explanation): readonly string[] =>
  [
    ...attempts.map((attempt) => ({ ...attempt, line: attemptLine(attempt) })),
    ...attempts.flatMap(({ attempt, late }) =>
      late === undefined ? [] : [{ ...late, line: lateLine(attempt, late) }],
    ),
    ...acts.map((act) => ({ ...act, line: actLine(act) })),
  ]
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ atMs, line }) => `${at(atMs)}  ${line}`);

const lateLine = (attempt: number, { outcome, status }: NonNullable<AttemptSeen['late']>): string =>
  `its worker reports late on attempt ${attempt}: ${outcomeWords(outcome, status)}`;

const attemptLine = ({ attempt, cause, outcome, status, detail, durationMs, waited }: AttemptSeen): string => {
  const waiting =
    waited === undefined ? '' : `after ${times(waited.count, 'wait')} since ${at(waited.sinceMs)} (${waited.reason}), `;
  const result = outcome === undefined ? 'no outcome yet' : outcomeWords(outcome, status, detail);
  const took = durationMs === undefined ? '' : ` in ${durationMs} ms`;
  return `${waiting}attempt ${attempt}, by ${causeWords(cause)}: ${result}${took}`;
};

const CAUSES: Readonly<Record<string, string>> = {
  p: 'push',
  s: 'sweep',
  o: 'operation',
  a: 'request',
  i: 'API call',
  q: 'message',
};

const causeWords = (cause: string | undefined): string =>
  cause === undefined ? 'nobody on record' : `${CAUSES[cause.slice(0, 1)] ?? 'unknown'} ${cause.slice(2)}`;

const OUTCOMES: Readonly<Record<OutcomeClass, string>> = {
  delivered: 'success',
  throttled: 'asked to come later',
  failed: 'failed',
  rejected: 'rejected for good',
  gone: 'the destination says that it is gone',
  'not-sent': 'not sent',
  'in-doubt': 'no answer, it may have arrived',
  withheld: 'withheld before the first byte',
  abandoned: 'its worker died before the first byte',
};

const outcomeWords = (outcome: OutcomeClass, status?: number, detail?: string): string => {
  const answer = status === undefined ? '' : `answered ${status}, `;
  return `${answer}${OUTCOMES[outcome]}${detail === undefined ? '' : ` (${detail})`}`;
};

const ACTS: Readonly<Record<Act['what'], string>> = {
  redriven: 'redriven: due again, under the same key',
  cancelled: 'cancelled',
  'resolved-delivered': 'resolved as delivered',
  'resolved-not-delivered': 'resolved as not delivered',
  refused: 'held: it could not go on',
};

const actLine = ({ what, grant = 0, cause, by }: Act): string => {
  const granted = grant > 0 ? `, budget + ${grant}` : '';
  if (by === undefined) return `${ACTS[what]}${granted}, by ${causeWords(cause)}`;
  const evidence = by.evidence === undefined ? '' : `; evidence: ${by.evidence}`;
  const ran = by.ranBy === undefined ? '' : `; run by ${by.ranBy}`;
  return `${ACTS[what]}${granted}, ${by.request === undefined ? 'planned by' : 'by'} ${by.actor}: ${by.reason}${ran}${evidence}`;
};

// ---- certain, not certain -----------------------------------------------------------------------------------------

const certain = ({
  requests,
  recordedSuccesses,
  effect,
  pushes,
  budget,
  keyFromMs,
}: Explanation): readonly string[] => [
  sentence(
    `${times(requests.answered, 'request')} got an answer; ${times(recordedSuccesses, 'success')} on record${effect === 'said' ? ', by the word of a person' : ''}.`,
  ),
  ...(requests.told === 0
    ? []
    : [sentence(`${times(requests.told, 'request')} without an answer: a person has said what became of it.`)]),
  ...(requests.notSent === 0 ? [] : [`Of ${times(requests.notSent, 'attempt')} not a byte has left.`]),
  pushes === 0
    ? 'No push of the queue made an attempt; what came was acknowledged and changed nothing.'
    : `${times(pushes, 'push', 'pushes')} of the queue made an attempt; any other was acknowledged and changed nothing.`,
  `Budget ${budget.allowed}${budget.granted > 0 ? ` (${budget.granted} of it granted)` : ''}, ${budget.spent} spent${budget.givenBack > 0 ? `, ${budget.givenBack} given back` : ''}.`,
  ...(keyFromMs === undefined
    ? []
    : [`The key lives at the destination since ${at(keyFromMs)}; every request had the same.`]),
];

const uncertain = ({ attempts, requests }: Explanation): readonly string[] => {
  const open = attempts.filter(({ arrival }) => arrival === 'unknown').map(({ attempt }) => attempt);
  const refused = attempts.some(({ arrival, outcome }) => arrival === 'answered' && outcome !== 'delivered');
  return [
    ...(open.length === 0
      ? []
      : [`Whether attempt ${open.join(', ')} arrived, and what it did there: there was no answer.`]),
    ...(requests.underWay === 0 ? [] : ['How the request that is under way ends.']),
    ...(refused ? ['Whether the destination acted before it answered with a failure: only it knows.'] : []),
  ];
};

// ---- next ---------------------------------------------------------------------------------------------------------

const PERSON: Readonly<Record<QuarantineReason, string>> = {
  budget: 'all attempts are spent: redrive with a grant of more, or cancel',
  'in-doubt': 'find out whether it arrived, then resolve with evidence; or redrive and accept a second effect',
  'key-expired': 'the destination has forgotten the key: find out, then resolve; or redrive and accept a second effect',
  rejected: 'the destination said never: mend it there, then redrive; or cancel',
  gone: 'the destination said that it is gone, and is paused: mend it, then redrive; or cancel',
  horizon: 'it is too late for it to go on by itself: redrive, or cancel',
  blocked: 'its address is not one that we call: mend the destination, then redrive',
  'payload-changed': 'the stored bytes do not match their hash: cancel, and find out who wrote to the table',
  'no-destination': 'its destination was deleted: cancel',
};

const gateLine = (gate: GateSeen): readonly string[] => {
  switch (gate.kind) {
    case 'open':
      return [];
    case 'probe':
      return ['Its destination is paused by its breaker, and the next delivery may try.'];
    case 'no-destination':
      return ['Its destination was deleted: the next look quarantines it.'];
    case 'newer':
      return ['Its destination was written by newer code: what happens there is not for this code to say.'];
    case 'closed':
      return [closedLine(gate)];
  }
};

const closedLine = ({ reason, opensAtMs, pause }: Extract<GateSeen, { kind: 'closed' }>): string => {
  const until = opensAtMs === undefined ? 'until a person resumes it' : `until ${at(opensAtMs)}`;
  if (reason !== 'paused' || pause === undefined) return `Its destination is ${reason}, ${until}.`;
  return `Its destination is paused since ${at(pause.sinceMs)} by ${pause.by}: ${pause.reason}; ${until}.`;
};

const UNDER_WAY: Readonly<Record<IfLost, (lapses: string) => string>> = {
  again: (lapses) => `; if it never comes back, another takes over after ${lapses}.`,
  'again-unsent': (lapses) =>
    `, and nothing has left yet; if it is never heard of again, another takes over after ${lapses}. Once something may have left it is held for a person instead: a repeat is not safe there.`,
  held: (lapses) =>
    `; if it never comes back, nobody takes over: the request may have arrived, so after ${lapses} it is held for a person (in-doubt).`,
};

const WORKER_LOST: Readonly<Record<IfLost, string>> = {
  again: ' and goes on.',
  'again-unsent': ', of which nothing has left, and goes on.',
  held: '; the request may have arrived, so it is held for a person (in-doubt) and not sent again.',
};

const nextLines = (next: Next, { mayHaveArrived, status }: Explanation): readonly string[] => {
  switch (next.kind) {
    case 'nothing':
      return [
        status === 'cancelled' && mayHaveArrived
          ? 'Nothing: it was cancelled. It may have arrived all the same.'
          : 'Nothing: it is over.',
      ];
    case 'person':
      return [`Nothing by itself: ${PERSON[next.reason]}.`];
    case 'under-way':
      return [`A worker has it until ${at(next.leaseEndsAtMs)}${UNDER_WAY[next.ifLost](at(next.lapsesAfterMs))}`];
    case 'worker-lost':
      return [
        `Its worker has not come back (lease until ${at(next.leaseEndedAtMs)}): the next push or the sweep after ${at(next.lookAfterMs)} closes the attempt${WORKER_LOST[next.ifLost]}`,
      ];
    case 'parked':
      return [
        next.gate.kind === 'open'
          ? `It is parked (${next.reason}) at a destination that is open: the drain, or the sweep after ${at(next.lookAfterMs)}, lets it go.`
          : `It waits, parked (${next.reason}) since ${at(next.sinceMs)}, and spends no budget; looked at after ${at(next.lookAfterMs)} at the latest.`,
        ...gateLine(next.gate),
      ];
    case 'attempt':
      return [
        `The next attempt is due at ${at(next.fromMs)}; if its message is lost, the sweep after ${at(next.lookAfterMs)} sends another.`,
        ...gateLine(next.gate),
      ];
  }
};
