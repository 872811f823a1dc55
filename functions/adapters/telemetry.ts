/**
 * Log lines and counts as JSON on standard output, one object a line: what CloudWatch, or a person with jq, reads.
 *
 * In a deployment a line that measures something is a metric as well, in CloudWatch's embedded metric format: its
 * metadata names the members that are numbers to keep, and CloudWatch takes them out of the log. No call is made, nothing
 * waits, and the number and the line that explains it are never apart.
 */
import { METRIC_DIMENSION, METRIC_NAMESPACE, type Measures, type MetricName, unitOf } from '../core/metrics.ts';
import type { Clock, Fields, Telemetry } from '../ports.ts';

export type Print = (text: string) => void;

/** Without the name of a deployment the lines are the same, and no metrics. */
export const createTelemetry = (
  clock: Pick<Clock, 'nowMs'>,
  print: Print,
  { deployment }: { readonly deployment?: string | undefined } = {},
): Telemetry => {
  const line = (name: string, fields: Fields, measures: Measures = {}): void => {
    const nowMs = clock.nowMs();
    const said = { at: new Date(nowMs).toISOString(), line: name, ...fields };
    const names = Object.keys(measures) as MetricName[];
    const metric = deployment === undefined || names.length === 0 ? {} : metadataOf(nowMs, deployment, names);
    print(JSON.stringify({ ...said, ...measures, ...metric }));
  };
  return { line, count: (name, by = 1) => line('count', {}, { [name]: by }) };
};

/**
 * Undefined fields are left out; times are ISO for people, since a line is read before it is parsed. Source of the
 * format: CloudWatch user guide, "Specification: Embedded metric format".
 */
const metadataOf = (nowMs: number, deployment: string, names: readonly MetricName[]) => ({
  [METRIC_DIMENSION]: deployment,
  _aws: {
    Timestamp: nowMs,
    CloudWatchMetrics: [
      {
        Namespace: METRIC_NAMESPACE,
        Dimensions: [[METRIC_DIMENSION]],
        Metrics: names.map((name) => ({ Name: name, Unit: unitOf(name) })),
      },
    ],
  },
});

export const silentTelemetry: Telemetry = { line: () => {}, count: () => {} };
