/** What the members of each body and query mean, for the document: what their schemas cannot say. */
import {
  auditQuery,
  decisionsQuery,
  deliveriesQuery,
  destinationsQuery,
  messagesQuery,
  pageQuery,
  planBody,
  proveBody,
  putBody,
  reasonBody,
  redriveBody,
  replayBody,
  resolveBody,
  rotateBody,
  shadowBody,
  shadowQuery,
  tokenBody,
} from './inputs.ts';

export type Says = Readonly<Record<string, string>>;

/** Complete: a member that is added without a word does not compile. */
const says = <Shape extends object>(
  input: { readonly shape: Shape },
  members: { readonly [Name in keyof Shape]: string },
): readonly [input: unknown, members: Says] => [input, members as Says];

const REASON = 'why, for whoever reads the record';
const LIMIT = 'how many at most';
const CURSOR = 'the "next" of the page before';
const SECOND = 'an earlier attempt may have arrived: accept that another one acts again';

const SHADOW = {
  from: 'the first UTC day on which it would have been sent; without it, the last day',
  to: 'the last such day; without it, today',
  per: 'count by the hour or by the day',
  acceptedSince:
    'look at what was accepted since this day, for events with a deliverAt; without it, a day before the first',
};

export const MEANINGS: ReadonlyMap<unknown, Says> = new Map([
  says(putBody, {
    url: 'where to send; in the cloud https and a public address',
    repeatSafe: 'is a second identical request with the same key harmless there? There is no default',
    keyLifeHours: 'how long the destination remembers a key; null for ever',
    schedule: 'waits between attempts in seconds, each with 0 to 20 % added; the budget is its length + 1',
    timeoutMs: 'for one request, from the look-up of the name to the end of the answer',
    ratePerSecond: 'requests a second at most',
    concurrency: 'requests at once at most',
    rejectOn: 'statuses that mean never, besides 422',
    headers: 'of every request; reserved names are refused, and values are never shown again',
    acceptFromQueue: 'take whole events that a producer has put on the queue',
    mode: 'shadow: everything but the request; it ends cancelled',
    notices: 'tell it what a person should know: see the README',
    signingSecret:
      'whsec_ and base64 of 24 to 64 bytes; without it, one is made and shown once. A new one signs at once, and the older ones beside it for 24 hours',
    reason: REASON,
  }),
  says(reasonBody, { reason: REASON }),
  says(redriveBody, {
    reason: REASON,
    grant: 'attempts to add to its budget, on record',
    acceptSecondEffect: SECOND,
  }),
  says(resolveBody, {
    reason: REASON,
    as: 'delivered ends it; not-delivered makes it due again, if budget is left',
    evidence: 'how you know',
  }),
  says(replayBody, { reason: REASON, destinations: 'where to; without it, everywhere it was delivered' }),
  says(proveBody, {
    reason: REASON,
    parts: 'what to try; without it, all but the burst',
    burst: 'how many requests the part burst sends at once; 10 unless given',
    evenIfPaused: 'run it although the destination is paused, to prove a mend before it is let go',
  }),
  says(rotateBody, {
    reason: REASON,
    overlapHours: 'how long the older secrets sign beside the new one; 0 ends them at once',
    signingSecret: 'whsec_ and base64 of 24 to 64 bytes; without it, one is made and shown once',
  }),
  says(tokenBody, {
    name: 'the actor of what is done with it; unique among the live ones',
    rights: 'what it may do; admin may do everything',
    reason: REASON,
  }),
  says(planBody, {
    source: 'what to look at',
    destination: 'only those of one destination',
    reason: 'of the quarantine only: those held for it',
    limit: LIMIT,
    recoveryMinutes: 'a plan that may take longer is not run',
    stopAbove: 'the run stops itself above this share of failures in a batch',
    acceptSecondEffect: SECOND,
    why: REASON,
  }),
  says(deliveriesQuery, {
    list: 'which list',
    destination: 'needed for recent, of no use for open',
    limit: LIMIT,
    cursor: CURSOR,
  }),
  says(shadowQuery, { ...SHADOW, cursor: 'the "next" of the part before' }),
  says(shadowBody, {
    ...SHADOW,
    sent: 'how many the other sender has sent in all',
    counts: 'how many in each hour or day, by its beginning in UTC; one that is not named was none. Instead of sent',
  }),
  says(destinationsQuery, { deleted: 'show deleted ones as well', limit: LIMIT, cursor: CURSOR }),
  says(pageQuery, { limit: LIMIT, cursor: CURSOR }),
  says(messagesQuery, { limit: 'messages at most', cursor: CURSOR }),
  says(decisionsQuery, {
    destination: 'only those about this destination, its deliveries included',
    event: 'only those about this event',
    actor: 'only those of this person: the name of the token',
    limit: LIMIT,
    cursor: CURSOR,
  }),
  says(auditQuery, {
    destination: 'whose deliveries',
    day: 'accepted on this UTC day; without it, the latest 30 days',
    limit: LIMIT,
    cursor: CURSOR,
  }),
]);
