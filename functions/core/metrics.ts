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

export type Measures = Readonly<Partial<Record<MetricName, number>>>;

/** As CloudWatch spells it. */
export type MetricUnit = 'Count' | 'Milliseconds';

export const unitOf = (name: MetricName): MetricUnit => (name.endsWith('-ms') ? 'Milliseconds' : 'Count');

/** All of them of one deployment stand under this name and dimension. */
export const METRIC_NAMESPACE = 'Onceward';
export const METRIC_DIMENSION = 'deployment';
