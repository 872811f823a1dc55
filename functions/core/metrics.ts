/**
 * Every number that the functions emit, by name. Telemetry writes these and nothing else, and an alarm or the dashboard
 * can only ask for one of them: a new count begins with its name here.
 */

import type { QuarantineReason } from './model.ts';
import type { OperationState } from './operations.ts';
import type { OutcomeClass } from './outcome.ts';

/** Things that happened; summed up. */
export type CountName =
  | `attempt-${OutcomeClass}`
  | `quarantined-${QuarantineReason}`
  | `redrive-${Extract<OperationState, 'done' | 'stopped'>}`
  | 'accepted'
  | 'auth-failed'
  | 'batch-senseless'
  | 'body-not-base64'
  | 'breaker-opened'
  | 'cron-unauthentic'
  | 'destination-closed-over-an-hour'
  | 'event-conflict'
  | 'event-message-refused'
  | 'event-rescued'
  | 'internal-error'
  | 'lease-lapsed'
  | 'ledger-corrupt'
  | 'ledger-unavailable'
  | 'payload-changed'
  | 'place-not-released'
  | 'places-full'
  | 'poison'
  | 'poison-overflow'
  | 'publish-failed'
  | 'push-newer'
  | 'push-unauthentic'
  | 'queue-no-credit'
  | 'row-of-later-format'
  | 'secret-not-renewed'
  | 'settle-repeated'
  | 'sweep-passed'
  | 'tick'
  | 'tick-failed'
  | 'unexpected-body';

/** States at a moment, read by the reconciler once a tick from outside the path that they are about. */
export type LevelName =
  | 'largest-overdue-ms'
  | 'sweep-age-ms'
  | 'queue-available'
  | 'queue-dead'
  | 'queue-in-flight'
  | 'queue-oldest-age-ms';

/** How long a thing took. */
export type TimeName = 'attempt-ms';

export type MetricName = CountName | LevelName | TimeName;

/** What each says; where it comes from, one finds by searching for its name. */
export const METRICS: Readonly<Record<MetricName, string>> = {
  'attempt-delivered': 'requests that were answered 2xx',
  'attempt-throttled': 'requests that were answered: later',
  'attempt-failed': 'requests that were answered with a failure',
  'attempt-rejected': 'requests that were answered: never',
  'attempt-gone': 'requests that were answered 410',
  'attempt-not-sent': 'requests of which no byte has left: DNS, refused, TLS, blocked',
  'attempt-in-doubt': 'requests that may have arrived and have no answer',
  'attempt-withheld': 'attempts that the re-check has stopped before the socket',
  'attempt-abandoned': 'attempts of a dead worker that certainly sent nothing',
  'attempt-ms': 'from the look-up of the name to the last byte that was read',
  'quarantined-budget': 'deliveries whose attempts are all spent',
  'quarantined-rejected': 'deliveries that the destination will never take',
  'quarantined-gone': 'deliveries to a destination that says it is gone',
  'quarantined-in-doubt': 'deliveries that may have arrived, where a repeat is not safe',
  'quarantined-key-expired': 'deliveries whose key the destination may have forgotten',
  'quarantined-horizon': 'deliveries that are seven days past their due time',
  'quarantined-blocked': 'deliveries to an address that we do not call',
  'quarantined-payload-changed': 'deliveries whose stored bytes do not match their hash',
  'quarantined-no-destination': 'deliveries whose destination was deleted',
  'redrive-done': 'redrives that came to their end',
  'redrive-stopped': 'redrives that stopped, by a person or by themselves',
  accepted: 'deliveries taken in: from here on each of them is a duty',
  'auth-failed': 'requests with a token that is not known or was revoked',
  'batch-senseless':
    'calls of the receiver of SQS with something else than a batch: another event source is mapped to it',
  'body-not-base64': 'requests whose body the platform marked as base64, and which is none',
  'breaker-opened': 'destinations paused by their breaker',
  'cron-unauthentic': 'calls of the cron route without its secret',
  'destination-closed-over-an-hour': 'destinations that asked for more than an hour of rest',
  'event-conflict': 'submissions under an id that has other content',
  'event-message-refused': 'events from the queue for a destination that they may not use',
  'event-rescued': 'events accepted out of the dead letters',
  'internal-error': 'requests that met a fault of ours',
  'lease-lapsed': 'claims whose worker died or was cut off',
  'ledger-corrupt': 'items that no writer of ours can have made',
  'ledger-unavailable': 'messages refused since the ledger was out of reach',
  'payload-changed': 'payloads found not to match their hash',
  'place-not-released': 'places at a destination left to the end of their lease',
  'places-full': 'deliveries that found no free place at their destination',
  poison: 'authentic messages that make no sense, filed',
  'poison-overflow': 'authentic messages that make no sense, left to the dead letters',
  'publish-failed': 'publishes that the queue did not take',
  'push-newer': 'messages of a later format than this code knows',
  'push-unauthentic': 'pushes without a valid signature',
  'queue-no-credit': 'publishes refused since the account of the queue is empty',
  'row-of-later-format': 'items of a later format than this code knows',
  'secret-not-renewed': 'secrets that could not be read again: the last known is in use',
  'settle-repeated': 'outcomes that had to be written more than once',
  'sweep-passed': 'passes of a sweep over one shard',
  tick: 'ticks of the schedule',
  'tick-failed': 'sweep messages that a tick could not enqueue',
  'unexpected-body': 'GET requests with a body',
  'largest-overdue-ms': 'how late a sweep found the latest row at its last pass',
  'sweep-age-ms': 'how long ago the shard was passed that waits longest',
  'queue-available': 'messages of the queue that wait',
  'queue-dead': 'messages in the dead letters of the queue',
  'queue-in-flight': 'messages of the queue that are being worked on',
  'queue-oldest-age-ms': 'age of the oldest message of the queue',
};

export type Measures = Readonly<Partial<Record<MetricName, number>>>;

/** As CloudWatch spells it. */
export type MetricUnit = 'Count' | 'Milliseconds';

export const unitOf = (name: MetricName): MetricUnit => (name.endsWith('-ms') ? 'Milliseconds' : 'Count');

/** All of them of one deployment stand under this name and dimension. */
export const METRIC_NAMESPACE = 'Onceward';
export const METRIC_DIMENSION = 'deployment';
