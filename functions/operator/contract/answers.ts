/** What each route is for and what it answers, beside what it takes (`routes.ts`). For the document; nothing else needs it. */
import * as z from 'zod/mini';
import { auditPageAnswer } from './audit.ts';
import { decisionPageAnswer } from './decisions.ts';
import {
  acceptedAnswer,
  deliveryAnswer,
  deliveryDecidedAnswer,
  deliveryPageAnswer,
  deliverySummaryAnswer,
  eventAnswer,
  journalEntryAnswer,
  replayAnswer,
} from './deliveries.ts';
import {
  destinationAnswer,
  destinationCreatedAnswer,
  destinationDecidedAnswer,
  destinationDeletedAnswer,
  destinationPageAnswer,
  destinationTestedAnswer,
} from './destinations.ts';
import { drillAnswer } from './drills.ts';
import { explanationAnswer } from './explain.ts';
import { text } from './parts.ts';
import { operationAnswer, operationPageAnswer, operationSummaryAnswer } from './redrives.ts';
import type { RouteName } from './routes.ts';
import { shadowAnswer } from './shadow.ts';
import { statsAnswer } from './stats.ts';
import { secretRotatedAnswer, tokenCreatedAnswer, tokenListAnswer, tokenRevokedAnswer } from './tokens.ts';

export interface Doc {
  readonly summary: string;
  readonly description?: string;
  /** By status. */
  readonly answers: Readonly<Record<number, z.ZodMiniType>>;
  /** Problems that only this route has, beside those that follow from what it takes. */
  readonly problems?: readonly number[];
  /** Codes by which it is refused in a state that does not fit: 409. */
  readonly refusals?: readonly string[];
}

/** RFC 9457. `code` is for programs and stable; `detail` is for people. */
export const problemAnswer = z.object({
  type: z.literal('about:blank'),
  title: text,
  status: z.int(),
  detail: text,
  code: text,
  field: z.optional(text),
});

export const healthAnswer = z.object({ ok: z.literal(true) });

/** An array of events is answered one by one. */
export const manyAcceptedAnswer = z.object({
  items: z.array(z.union([z.object({ status: z.literal(202), ...acceptedAnswer.shape }), problemAnswer])),
});

export const SUBMIT_DOC: Doc = {
  summary: 'Accept an event, once',
  description:
    'A 202 means that the event and its deliveries stand in the ledger. The same again gives the same answer; other ' +
    'content or other destinations under the id are a 409. An array is answered one by one: 202 if all were accepted, else 207.',
  answers: { 202: z.union([acceptedAnswer, manyAcceptedAnswer]), 207: manyAcceptedAnswer },
  refusals: ['event-conflict'],
};

export const DOCS: Readonly<Record<RouteName, Doc>> = {
  showEvent: { summary: 'An event and its deliveries', answers: { 200: eventAnswer } },
  showDelivery: { summary: 'State and journal of a delivery', answers: { 200: deliveryAnswer } },
  explainDelivery: {
    summary: 'One effect, two, or none? What is certain, who decided what, and what happens next',
    description:
      'Requests and recorded successes are exact. Pushes are counted where they changed the row: a duplicate leaves no trace. ' +
      '`words` says the same in sentences.',
    answers: { 200: explanationAnswer },
  },
  listDeliveries: {
    summary: 'Deliveries that are open, parked, quarantined, or recent at a destination',
    description:
      'A page may hold fewer than were asked for and still have a next one: rows that have left the list since are not shown. ' +
      'A cursor is a place in the order of the list, so a row that keeps its place is met exactly once.',
    answers: { 200: deliveryPageAnswer },
    problems: [400],
  },
  redriveDelivery: {
    summary: 'Send a quarantined delivery again, under its key',
    answers: { 200: deliveryDecidedAnswer },
    refusals: [
      'live-claim',
      'not-quarantined',
      'already-delivered',
      'already-cancelled',
      'over-budget',
      'second-effect',
      'life-bound',
      'no-destination',
    ],
  },
  resolveDelivery: {
    summary: 'Say what happened to a quarantined delivery',
    answers: { 200: deliveryDecidedAnswer },
    refusals: ['live-claim', 'not-quarantined', 'already-delivered', 'already-cancelled', 'life-bound'],
  },
  cancelDelivery: {
    summary: 'End a delivery for good',
    answers: { 200: deliveryDecidedAnswer },
    refusals: ['live-claim', 'already-delivered', 'already-cancelled', 'life-bound'],
  },
  replayEvent: {
    summary: 'Send what was delivered once more, as a new event',
    answers: { 202: replayAnswer },
    refusals: ['not-delivered', 'unknown-destination', 'event-conflict'],
  },
  listDestinations: { summary: 'All destinations', answers: { 200: destinationPageAnswer }, problems: [400] },
  showDestination: { summary: 'Settings and state of a destination', answers: { 200: destinationAnswer } },
  putDestination: {
    summary: 'Make a destination, or replace all of its settings',
    description:
      'The signing secret is in the answer where it was made here: this once. Another signingSecret than the newest signs ' +
      'from now on, and the older ones beside it for 24 hours; rotate-secret with overlapHours 0 ends them at once. What ' +
      'changes goes on record before it is changed, named by the Idempotency-Key or else by the X-Request-Id of the answer.',
    answers: { 200: destinationAnswer, 201: destinationCreatedAnswer },
    refusals: ['destination-deleted', 'too-many-for-notices', 'too-many-secrets'],
  },
  deleteDestination: {
    summary: 'End a destination; its id stays taken',
    answers: { 200: destinationDeletedAnswer },
  },
  pauseDestination: {
    summary: 'Hold what is due for a destination',
    answers: { 200: destinationDecidedAnswer },
    refusals: ['already-paused'],
  },
  resumeDestination: {
    summary: 'Open a destination and let go what is parked, at its rate',
    answers: { 200: destinationDecidedAnswer },
  },
  testDestination: {
    summary: 'Send one harmless event',
    answers: { 202: destinationTestedAnswer },
    refusals: ['event-conflict'],
  },
  showShadow: {
    summary: 'What a destination in shadow mode would have been sent',
    description:
      'By the time at which it would have left. A delivery counts once, however often its event came. One answer looks at a ' +
      'bounded number of rows: while there is a `next`, the counts are those of a part, and parts add up.',
    answers: { 200: shadowAnswer },
    problems: [400],
  },
  compareShadow: {
    summary: 'The same beside what another sender has counted',
    description:
      'Changes nothing. Nothing is compared where one answer cannot look at all rows: then add up the parts.',
    answers: { 200: shadowAnswer },
  },
  proveDestination: {
    summary: 'A drill: what the destination does with a key that comes again',
    description:
      'Sends marked test events there, as deliveries are sent, and changes nothing but the record. Answers alone never show ' +
      'how many effects there were: `deserves` stays `not-shown` here, until somebody has counted the effects of each `event`. ' +
      'It takes up to 45 seconds. What it has seen is in this answer only; the same request again, or meanwhile, is a 409.',
    answers: { 200: drillAnswer },
    refusals: ['destination-paused', 'destination-closed', 'shadow-mode', 'no-secret', 'drill-running', 'drill-over'],
  },
  rotateSecret: {
    summary: 'A new signing secret; the older ones sign beside it for the overlap',
    description:
      'The secret is in the answer where it was made here, and only the first time: the same request again answers without it. ' +
      'A worker may sign in the old way for up to 30 seconds.',
    answers: { 200: secretRotatedAnswer },
    refusals: ['too-many-secrets'],
  },
  listTokens: { summary: 'The live tokens, without their texts', answers: { 200: tokenListAnswer } },
  createToken: {
    summary: 'Make a token; its text is shown this once',
    description:
      'Stored hashed. The same request again answers 200 without the text: revoke it then, and make another.',
    answers: { 200: tokenCreatedAnswer, 201: tokenCreatedAnswer },
    problems: [404],
    refusals: ['name-taken', 'too-many-tokens'],
  },
  revokeToken: {
    summary: 'End a token, with its next request',
    answers: { 200: tokenRevokedAnswer },
    refusals: ['last-admin'],
  },
  planRedrive: {
    summary: 'Plan a redrive: read, join with the ledger, find, estimate',
    description:
      'Changes no delivery. Reading dead letters hides them from other readers for a while. 200: this plan was made before, by the same request.',
    answers: { 200: operationAnswer, 201: operationAnswer },
  },
  listRedrives: { summary: 'The latest redrives', answers: { 200: operationPageAnswer }, problems: [400] },
  showRedrive: {
    summary: 'A redrive: what was found, done, and came of it',
    answers: { 200: operationAnswer },
    problems: [400],
  },
  runRedrive: {
    summary: 'Run a plan, or take a run up again',
    answers: { 200: operationAnswer },
    refusals: ['not-planned', 'too-slow', 'operation-stopped'],
  },
  stopRedrive: {
    summary: 'End a run for good',
    answers: { 200: operationAnswer },
    refusals: ['not-planned', 'not-running', 'operation-done'],
  },
  auditEvent: {
    summary: 'The deliveries of an event as they are stored, for an audit',
    description: 'Journal lines byte for byte; nothing is judged here.',
    answers: { 200: auditPageAnswer },
  },
  listDecisions: {
    summary: 'Who decided what, when and why, newest first',
    description:
      'Every decision of a person: `changes` says what a change of settings was, and `result` how it ended. Narrowed down, a ' +
      'page may hold fewer than were asked for, or none, and still have a next one. `unreadable` counts those of newer code.',
    answers: { 200: decisionPageAnswer },
    problems: [400],
  },
  auditDeliveries: {
    summary: 'The deliveries of a destination as they are stored, by the day on which they were accepted',
    description: 'Without a day: the latest 30 days, newest first.',
    answers: { 200: auditPageAnswer },
    problems: [400],
  },
  showStats: { summary: 'The state of the whole in a few numbers', answers: { 200: statsAnswer } },
};

/** Answers with a name of their own in the document. */
export const NAMED: Readonly<Record<string, z.ZodMiniType>> = {
  Problem: problemAnswer,
  Accepted: acceptedAnswer,
  ManyAccepted: manyAcceptedAnswer,
  Event: eventAnswer,
  DeliverySummary: deliverySummaryAnswer,
  Delivery: deliveryAnswer,
  DeliveryDecided: deliveryDecidedAnswer,
  DeliveryPage: deliveryPageAnswer,
  JournalEntry: journalEntryAnswer,
  Replay: replayAnswer,
  Destination: destinationAnswer,
  DestinationCreated: destinationCreatedAnswer,
  DestinationDecided: destinationDecidedAnswer,
  DestinationDeleted: destinationDeletedAnswer,
  DestinationTested: destinationTestedAnswer,
  Drill: drillAnswer,
  DestinationPage: destinationPageAnswer,
  Operation: operationAnswer,
  OperationSummary: operationSummaryAnswer,
  OperationPage: operationPageAnswer,
  Explanation: explanationAnswer,
  AuditPage: auditPageAnswer,
  DecisionPage: decisionPageAnswer,
  ShadowReport: shadowAnswer,
  Stats: statsAnswer,
};
