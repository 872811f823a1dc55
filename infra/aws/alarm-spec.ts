/** What is to be said of an alarm, and the plainest kind of them. */
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { MetricName } from '../../functions/core/metrics.ts';
import { FIVE_MINUTES, own, sumOf } from './measures.ts';
import type { Watched } from './watched.ts';

export interface AlarmSpec {
  /** Its name in the stack; in the runbook it stands under the same words in small letters, with hyphens. */
  readonly id: string;
  /** Of the runbook, where it is not named as the alarm is. */
  readonly section?: string;
  /** One sentence for whoever is woken by it. */
  readonly says: string;
  readonly metric: IMetric;
  readonly breach: 'above' | 'below';
  /** At `breach: 'above'` the value itself is a breach as well: "5" means five or more. */
  readonly threshold: number;
  /** In this many periods in a row. */
  readonly periods: number;
  readonly missing: 'breach' | 'fine' | 'as-before';
}

/** One in five minutes is enough: each of these waits for a person. */
export const happened = (
  watched: Watched,
  id: string,
  names: readonly MetricName[],
  says: string,
  threshold = 1,
  periods = 1,
): AlarmSpec => {
  const metrics = names.map((name) => own(watched, name, FIVE_MINUTES));
  const [only] = metrics;
  const metric = metrics.length === 1 && only !== undefined ? only : sumOf(metrics, FIVE_MINUTES, names.join(', '));
  return { id, says, metric, breach: 'above', threshold, periods, missing: 'fine' };
};
