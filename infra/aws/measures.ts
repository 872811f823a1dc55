/** Numbers to look at: those of the functions, by the names that telemetry knows, and those of the services. */
import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { INDEXES } from '../../functions/adapters/ledger/schema.ts';
import { METRIC_DIMENSION, METRIC_NAMESPACE, METRICS, type MetricName } from '../../functions/core/metrics.ts';
import type { OncewardFunction } from './function.ts';
import type { WorkQueue } from './queue.ts';
import type { Watched } from './watched.ts';

export const MINUTE = Duration.minutes(1);
export const FIVE_MINUTES = Duration.minutes(5);

/** A number that the functions of this deployment emit. */
export const own = (watched: Watched, name: MetricName, period: Duration, statistic: string = Stats.SUM): Metric =>
  new Metric({
    namespace: METRIC_NAMESPACE,
    metricName: name,
    dimensionsMap: { [METRIC_DIMENSION]: watched.deployment },
    statistic,
    period,
    label: METRICS[name],
  });

/** Missing parts count as nothing: a metric that was never sent must not hide the others. */
export const sumOf = (metrics: readonly IMetric[], period: Duration, label: string): MathExpression => {
  const named = metrics.map((metric, index) => [`m${index}`, metric] as const);
  return new MathExpression({
    expression: named.map(([name]) => `FILL(${name}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(named),
    period,
    label,
  });
};

const OF_FUNCTION = { errors: 'Errors', throttles: 'Throttles', urlFaults: 'Url5xxCount' } as const;

export const ofFunction = (one: OncewardFunction, what: keyof typeof OF_FUNCTION, period: Duration): Metric =>
  new Metric({
    namespace: 'AWS/Lambda',
    metricName: OF_FUNCTION[what],
    dimensionsMap: { FunctionName: one.lambda.functionName },
    statistic: Stats.SUM,
    period,
    label: one.node.id,
  });

/** Requests to the table and its indexes that DynamoDB has turned away. */
export const ledgerThrottles = ({ table }: Watched, period: Duration): MathExpression => {
  const places = [{}, ...Object.values(INDEXES).map(({ name }) => ({ GlobalSecondaryIndexName: name }))];
  const metrics = places.flatMap((place) =>
    ['ReadThrottleEvents', 'WriteThrottleEvents'].map(
      (metricName) =>
        new Metric({
          namespace: 'AWS/DynamoDB',
          metricName,
          dimensionsMap: { TableName: table.table.tableName, ...place },
          statistic: Stats.SUM,
          period,
        }),
    ),
  );
  return sumOf(metrics, period, 'throttled requests to the table');
};

export interface QueueNumbers {
  readonly waiting: IMetric;
  readonly inFlight: IMetric;
  readonly dead: IMetric;
  readonly ageMs: IMetric;
}

/** What a queue says of itself: SQS has metrics; another transport is asked by the reconciler once a minute. */
export const queueNumbers = (
  watched: Watched,
  period: Duration,
): Readonly<Partial<Record<'sqs' | 'infrai', QueueNumbers>>> => ({
  ...(watched.queue === undefined ? {} : { sqs: ofSqs(watched.queue, period) }),
  ...(watched.secrets === undefined ? {} : { infrai: ofInfrai(watched, period) }),
});

const ofInfrai = (watched: Watched, period: Duration): QueueNumbers => ({
  waiting: own(watched, 'queue-available', period, Stats.MAXIMUM),
  inFlight: own(watched, 'queue-in-flight', period, Stats.MAXIMUM),
  dead: own(watched, 'queue-dead', period, Stats.MAXIMUM),
  ageMs: own(watched, 'queue-oldest-age-ms', period, Stats.MAXIMUM),
});

const ofSqs = ({ queue, deadLetters }: WorkQueue, period: Duration): QueueNumbers => {
  const options = { period, statistic: Stats.MAXIMUM };
  return {
    waiting: queue.metricApproximateNumberOfMessagesVisible({ ...options, label: 'waiting' }),
    inFlight: queue.metricApproximateNumberOfMessagesNotVisible({ ...options, label: 'in flight' }),
    dead: deadLetters.metricApproximateNumberOfMessagesVisible({ ...options, label: 'dead' }),
    ageMs: new MathExpression({
      expression: 'seconds * 1000',
      usingMetrics: { seconds: queue.metricApproximateAgeOfOldestMessage(options) },
      period,
      label: 'age of the oldest message',
    }),
  };
};
