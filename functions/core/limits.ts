/**
 * Every bound of the system, in one place, and the relations between them.
 *
 * The relations are checked when this module loads: a number that is changed alone stops the process instead of
 * quietly breaking a promise. The order that everything else rests on:
 *
 *   connect < overall deadline < lease - margin < answer deadline of the queue < limit of the function
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KB = 1_024;

// ---- time of one attempt ------------------------------------------------------------------------------------------

/** Shortest and longest overall deadline a destination may choose for one request. */
export const TIMEOUT_MS_MIN = 1 * SECOND;
export const TIMEOUT_MS_MAX = 20 * SECOND;
export const TIMEOUT_MS_DEFAULT = 20 * SECOND;

/** A connection that is not there after this long is given up; nothing of the request has been written by then. */
export const CONNECT_MS = 5 * SECOND;

/** A lease outlives the overall deadline by this much: time for the re-check before, and the settle after. */
export const LEASE_OVER_TIMEOUT_MS = 10 * SECOND;

/** How far two clocks of ours may differ. A lease counts as lapsed only this long after its end. */
export const SKEW_MARGIN_MS = 5 * SECOND;

/** The first byte leaves at most this long (plus the connect time) after the re-check, or the attempt is withheld. */
export const RECHECK_FRESH_MS = 1 * SECOND;

/** The queue waits this long for our answer to a push, and the platform lets the function live this long. */
export const PUSH_ANSWER_MS = 45 * SECOND;
export const FUNCTION_MS = 60 * SECOND;

/** A push that meets less remaining time than this is refused before anything is written. */
export const REMAINING_MS_MIN = 2 * SECOND;

export const leaseMsOf = (timeoutMs: number): number => timeoutMs + LEASE_OVER_TIMEOUT_MS;

/** How long past its due time a delivery is left to its message before a sweep looks: lease + margin, exactly. */
export const graceMsOf = (timeoutMs: number): number => leaseMsOf(timeoutMs) + SKEW_MARGIN_MS;

// ---- plan of a delivery -------------------------------------------------------------------------------------------

export const SCHEDULE_SEC_DEFAULT: readonly number[] = [5, 30, 300, 1_800, 7_200, 18_000, 36_000];
export const SCHEDULE_LENGTH_MAX = 49;
export const DELAY_FLOOR_MS = 1 * SECOND;
export const DELAY_MAX_MS = 30 * DAY;
/** A delay grows by 0 to this share of itself, drawn at random: many deliveries that failed together spread out. */
export const JITTER_SHARE = 0.2;

/** A message comes this much behind its due time at most: delays are whole seconds, rounded up, plus one. */
export const DELAY_LATE_MS = 2 * SECOND;

/** A delivery ends within this long of its first due time or its latest redrive. */
export const HORIZON_MS = 7 * DAY;
/** An event may wish to be delivered this far ahead. */
export const AHEAD_MS_MAX = 400 * DAY;
export const KEY_LIFE_HOURS_DEFAULT = 24;
/**
 * No attempt that rests on the key begins so shortly before its end: re-check, connection and the other clock take their
 * time, and the request must not arrive behind it.
 */
export const KEY_END_MARGIN_MS = 15 * SECOND;

/**
 * From the claim of the first attempt to that of the last one, at the longest: every delay with all of its jitter, and
 * before it an attempt that took its whole time-out.
 */
export const longestMsOf = (scheduleSec: readonly number[], timeoutMs: number): number =>
  scheduleSec.reduce(
    (sum, sec) => sum + timeoutMs + Math.max(sec * SECOND, DELAY_FLOOR_MS) * (1 + JITTER_SHARE) + DELAY_LATE_MS,
    0,
  );

export const ATTEMPTS_MAX = 50;
export const REDRIVES_MAX = 5;
/** The last of them is kept for one that ends the delivery. */
export const DECISIONS_MAX = 20;
/** Withheld and abandoned attempts give their unit of the budget back, at most this often in a life. */
export const REFUNDS_MAX = 5;
export const GRANT_MAX = 10;

/** Far-off work is looked at this long before it is due, on every transport: a lost message is found in time. */
export const LOOK_AHEAD_MS = 10 * MINUTE;
/** After a sweep has published, it looks again after 15 minutes, doubling to two hours. */
export const SWEEP_STEP_MS = 15 * MINUTE;
export const SWEEP_STEP_MS_MAX = 2 * HOUR;
/** A parked delivery is looked at once an hour, in case the message of its drain was lost. */
export const PARKED_LOOK_MS = 1 * HOUR;
/** A destination closed for longer than this parks its deliveries instead of giving each a slot. */
export const CLOSED_PARKS_MS = 15 * MINUTE;
/** A destination that asks for longer than this is closed all the same, and somebody is told. */
export const CLOSED_ALARM_MS = 1 * HOUR;
/** Nobody may close a destination for longer than a delivery can wait. */
export const CLOSED_MS_MAX = HORIZON_MS;
/** Deliveries a second that are let go after a closing or a pause, where the destination has no rate of its own. */
export const DRAIN_PER_SECOND_DEFAULT = 10;
/**
 * A slot of the rate is good for this long after its time. A message comes one to two seconds late by the rounding of
 * its delay, and then has a way to go; with less, most slots would be lost and asked for twice.
 */
export const SLOT_GOOD_MS = 4 * SECOND;
/**
 * A rate is so many in a second: whose slot comes within this long goes now. The queue's delays are whole seconds, so
 * what is let go evenly arrives in bursts of a second, and would otherwise be deferred once more for nothing.
 */
export const RATE_BURST_MS = 1 * SECOND;
/** A destination whose places are all taken is asked again after 1, 2, 4 ... 30 seconds. */
export const PLACE_WAIT_MS_MAX = 30 * SECOND;
/**
 * A full destination is asked at most this often, however many deliveries wait for it: a thousand of them would come
 * back together, wave after wave, and take all workers from the healthy ones.
 */
export const PLACE_ASK_STEP_MS = 100;

/** The breaker opens at this many failures in a row, but only once they have lasted this long. */
export const BREAKER_FAILURES = 20;
export const BREAKER_MS = 10 * MINUTE;
/** A destination that its breaker has paused is tried again with one delivery this often. */
export const PROBE_EVERY_MS = 5 * MINUTE;
/** Whoever was let try looks again so much behind those who were not: one that breaks each time has one turn of many. */
export const PROBE_TURN_MS = 1 * SECOND;
/** After a time-out a destination gets only this many attempts at once, for this long. */
export const CROWDED_PLACES = 5;
export const CROWDED_MS = 10 * MINUTE;
/** Parked deliveries that look again at the next probe, of each destination and pass; the others have their hour. */
export const PROBE_KEEPERS = 20;
/** While crowded, a further time-out moves its end only if that is worth a write. */
export const CROWDED_STEP_MS = 1 * MINUTE;

// ---- sizes --------------------------------------------------------------------------------------------------------

export const ID_BYTES_MAX = 256;
export const PAYLOAD_BYTES_MAX = 256 * KB;
export const CONTENT_TYPE_CHARS_MAX = 128;
export const TYPE_CHARS_MAX = 128;
export const JSON_DEPTH_MAX = 64;
export const PUSH_BODY_BYTES_MAX = 2 * KB * KB;
export const API_BODY_BYTES_MAX = 2 * KB * KB;
export const EVENTS_PER_REQUEST_MAX = 50;
export const DESTINATIONS_PER_EVENT_MAX = 10;
export const CONFLICTS_PER_EVENT_MAX = 10;
export const EXCERPT_BYTES_MAX = 512;
export const ANSWER_BYTES_DRAINED_MAX = 64 * KB;
export const CUSTOM_HEADERS_MAX = 20;
export const CUSTOM_HEADER_CHARS_MAX = 1_024;
export const URL_CHARS_MAX = 2_048;
export const REJECT_ON_MAX = 20;
export const SECRETS_LIVE_MAX = 3;
/** After a rotation the older secret goes on signing for this long, unless another time is asked for. */
export const SECRET_OVERLAP_HOURS_DEFAULT = 24;
export const SECRET_OVERLAP_HOURS_MAX = 7 * 24;
export const TOKENS_MAX = 100;
export const RETRY_AFTER_HEADERS_MAX = 8;
export const SIGNATURE_TOLERANCE_MS = 300 * SECOND;
export const ACTOR_CHARS_MAX = 64;
export const REASON_CHARS_MAX = 500;

export const JOURNAL_ENTRY_BYTES_MAX = 140;
export const DELIVERY_ITEM_BYTES_MAX = 40 * KB;
export const DYNAMO_ITEM_BYTES_MAX = 400 * KB;

export const POISON_EXCERPT_BYTES_MAX = 4 * KB;
export const POISON_PER_MINUTE_MAX = 60;
export const POISON_KEPT_MS = 30 * DAY;

// ---- ledger, queue and sweep --------------------------------------------------------------------------------------

export const DUE_SHARDS = 4;
export const ATTENTION_SHARDS = 4;
export const RECENT_SHARDS = 4;
/** A swap that meets a rival decides again from the row it was shown, this often; then the caller is told to repeat. */
export const SWAP_TRIES_MAX = 16;
export const LEDGER_CONNECT_MS = 1 * SECOND;
export const LEDGER_REQUEST_MS = 3 * SECOND;
export const LEDGER_TRIES_MAX = 3;
/** A gate is changed by all workers of a destination at once, and losing a change there is losing a count. */
export const GATE_SWAP_TRIES_MAX = 64;
/** Writes that a gate remembers: more than can come between a write and its own repeat. */
export const GATE_WRITES_KEPT = 8;
/** How often a settle is written again while the ledger is out of reach, before recovery is left to the lease. */
export const SETTLE_TRIES_MAX = 3;
export const PUBLISH_MS = 2 * SECOND;
export const SWEEP_LEASE_MS = 45 * SECOND;
export const SWEEP_PAGE_ROWS = 100;
export const SWEEP_QUERIES_MAX = 1_000;
export const SWEEP_PAGE_MS = 20 * SECOND;
/** Rows that a pass works on side by side. */
export const SWEEP_AT_ONCE = 8;
export const DRAIN_PAGE_ROWS = 100;
/** A reading of dead letters that have to be settled by it keeps them from others for so long: a plan, or one turn. */
export const DEAD_LETTER_LEASE_SEC = 30;
/** Records of one batch of an event source that are worked on side by side. */
export const RECORDS_AT_ONCE = 10;
export const TICK_MS = 60 * SECOND;
export const LIST_PAGE_MAX = 100;

// ---- a queue of SQS ------------------------------------------------------------------------------------------------

/**
 * A message that is being worked on stays out of sight for at least six times the limit of the function, so that it does
 * not come again while its batch is tried once more. Source: AWS Lambda developer guide, "Using Lambda with Amazon SQS".
 */
export const SQS_VISIBILITY_MS = 6 * FUNCTION_MS;
/** With fewer, throttling of the function alone would dead-letter healthy messages. Source: the same page. */
export const SQS_RECEIVES_MAX = 5;
export const SQS_BATCH_MESSAGES = 10;
export const SQS_KEPT_MS = 7 * DAY;
/** The longest that the service keeps a message. Its age counts from when it was first sent, wherever it has been since. */
export const SQS_DEAD_KEPT_MS = 14 * DAY;

// ---- the relations ------------------------------------------------------------------------------------------------

/**
 * A row holds the accept, a claim, an outcome and at most one late outcome an attempt, the redrives and decisions of
 * its life, and at most one refusal to go on after the accept and after each of those but the last.
 */
export const JOURNAL_ENTRIES_MAX = 1 + 3 * ATTEMPTS_MAX + 2 * (REDRIVES_MAX + DECISIONS_MAX);
const ROW_BESIDE_JOURNAL_BYTES = 3 * KB + 4 * EXCERPT_BYTES_MAX;
/** DynamoDB counts three bytes for the list and one for each of its members; the value's own bytes come on top. */
const STORED_ENTRY_BYTES = JOURNAL_ENTRY_BYTES_MAX + 1;

export interface Relation {
  readonly says: string;
  readonly holds: boolean;
}

export const relations = (): readonly Relation[] => [
  {
    says: 'what can lie between a claim and the arrival of its request fits the margin at the end of a key',
    holds: RECHECK_FRESH_MS + CONNECT_MS + LEDGER_REQUEST_MS + SKEW_MARGIN_MS < KEY_END_MARGIN_MS,
  },
  {
    says: 'the connect time lies inside the shortest deadline of a whole request plus its lease',
    holds: CONNECT_MS < leaseMsOf(TIMEOUT_MS_MIN),
  },
  { says: 'connect < overall deadline (default)', holds: CONNECT_MS < TIMEOUT_MS_DEFAULT },
  { says: 'overall deadline < lease - margin', holds: TIMEOUT_MS_MAX < leaseMsOf(TIMEOUT_MS_MAX) - SKEW_MARGIN_MS },
  {
    says: 'lease - margin < answer deadline of the queue',
    holds: leaseMsOf(TIMEOUT_MS_MAX) - SKEW_MARGIN_MS < PUSH_ANSWER_MS,
  },
  { says: 'answer deadline of the queue < limit of the function', holds: PUSH_ANSWER_MS < FUNCTION_MS },
  { says: 'the limit of a function stays under 900 seconds', holds: FUNCTION_MS < 900 * SECOND },
  { says: 'a message of SQS stays away for six limits of the function', holds: SQS_VISIBILITY_MS >= 6 * FUNCTION_MS },
  { says: 'a message of SQS is received at least five times', holds: SQS_RECEIVES_MAX >= 5 },
  {
    says: 'the retries of SQS end long before it forgets the message',
    holds: SQS_VISIBILITY_MS * SQS_RECEIVES_MAX < SQS_KEPT_MS / 24,
  },
  { says: 'dead letters are kept longer than the queue keeps messages', holds: SQS_DEAD_KEPT_MS >= 2 * SQS_KEPT_MS },
  {
    says: 'settle and re-check fit between deadline and lease',
    holds: RECHECK_FRESH_MS + LEDGER_REQUEST_MS + SKEW_MARGIN_MS < LEASE_OVER_TIMEOUT_MS,
  },
  {
    says: 'grace = lease + margin, exactly',
    holds: graceMsOf(TIMEOUT_MS_MAX) === leaseMsOf(TIMEOUT_MS_MAX) + SKEW_MARGIN_MS,
  },
  {
    says: 'grace < look-ahead: far-off work is looked at before it is late',
    holds: graceMsOf(TIMEOUT_MS_MAX) < LOOK_AHEAD_MS,
  },
  { says: 'the longest schedule fits the attempts of a life', holds: SCHEDULE_LENGTH_MAX + 1 <= ATTEMPTS_MAX },
  {
    says: 'the default schedule ends inside the horizon',
    holds: longestMsOf(SCHEDULE_SEC_DEFAULT, TIMEOUT_MS_MAX) < HORIZON_MS,
  },
  {
    says: 'the default schedule ends inside the default life of a key',
    holds: longestMsOf(SCHEDULE_SEC_DEFAULT, TIMEOUT_MS_MAX) + KEY_END_MARGIN_MS < KEY_LIFE_HOURS_DEFAULT * HOUR,
  },
  {
    says: 'a full journal fits the bound of a delivery item',
    holds: JOURNAL_ENTRIES_MAX * STORED_ENTRY_BYTES + ROW_BESIDE_JOURNAL_BYTES < DELIVERY_ITEM_BYTES_MAX,
  },
  { says: 'a full event item fits what DynamoDB stores', holds: PAYLOAD_BYTES_MAX + 16 * KB < DYNAMO_ITEM_BYTES_MAX },
  {
    says: 'a whole event in base64 fits a push body',
    holds: (PAYLOAD_BYTES_MAX * 4) / 3 + 16 * KB < PUSH_BODY_BYTES_MAX,
  },
  { says: 'a sweep page ends before its lease', holds: SWEEP_PAGE_MS < SWEEP_LEASE_MS },
  { says: 'a sweep lease ends before the next tick', holds: SWEEP_LEASE_MS < TICK_MS },
  {
    says: 'a ledger request with its repeats fits the remaining lease',
    holds: LEDGER_REQUEST_MS * LEDGER_TRIES_MAX <= LEASE_OVER_TIMEOUT_MS,
  },
  { says: 'the first step of a sweep is longer than the grace', holds: SWEEP_STEP_MS > graceMsOf(TIMEOUT_MS_MAX) },
];

for (const relation of relations()) {
  if (!relation.holds) throw new Error(`limits.ts contradicts itself: ${relation.says}`);
}
