/** Alarms that can fire: each on a number that somebody sends, saying what it means and where to go on. */
import { METRIC_NAMESPACE, METRICS } from '../../../functions/core/metrics.ts';
import { at, type Check, isRecord, list, ofType, type Resource, type Resources } from '../template.ts';

export interface Asked {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: readonly string[];
}

/** Every metric that an alarm looks at, those inside of an expression too. */
export const metricsOf = ({ Properties }: Resource): readonly Asked[] => {
  const single = Properties['MetricName'] === undefined ? [] : [Properties];
  const within = list(Properties['Metrics']).flatMap((one) => {
    const metric = at(one, 'MetricStat.Metric');
    return isRecord(metric) ? [metric] : [];
  });
  return [...single, ...within].map((metric) => ({
    namespace: String(metric['Namespace']),
    name: String(metric['MetricName']),
    dimensions: list(metric['Dimensions']).map((one) => String(at(one, 'Name'))),
  }));
};

/** What the services send, from their documentation; by the names of the dimensions that they send it under. */
const SENT: Readonly<Record<string, readonly (readonly [dimensions: string, names: readonly string[]])[]>> = {
  'AWS/Lambda': [['FunctionName', ['Errors', 'Throttles', 'Url5xxCount']]],
  'AWS/SQS': [
    [
      'QueueName',
      ['ApproximateNumberOfMessagesVisible', 'ApproximateNumberOfMessagesNotVisible', 'ApproximateAgeOfOldestMessage'],
    ],
  ],
  'AWS/DynamoDB': [
    ['TableName', ['ReadThrottleEvents', 'WriteThrottleEvents']],
    ['GlobalSecondaryIndexName,TableName', ['ReadThrottleEvents', 'WriteThrottleEvents']],
  ],
  [METRIC_NAMESPACE]: [['deployment', Object.keys(METRICS)]],
};

export const alarmsIn = (resources: Resources): readonly (readonly [id: string, alarm: Resource])[] =>
  ofType(resources, 'AWS::CloudWatch::Alarm');

export const sentMetrics: Check = (resources) =>
  alarmsIn(resources).flatMap(([id, alarm]) => {
    const asked = metricsOf(alarm);
    const unknown = asked.filter(({ namespace, name, dimensions }) => {
      const under = dimensions.toSorted().join();
      return !SENT[namespace]?.some(([wanted, names]) => wanted === under && names.includes(name));
    });
    return [
      ...(asked.length > 0 ? [] : [`${id}: looks at nothing`]),
      ...unknown.map(({ namespace, name }) => `${id}: nobody sends ${namespace} ${name}`),
    ];
  });

export const sectionsOf = (runbook: string): ReadonlySet<string> =>
  new Set(
    [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')),
  );

export const explained =
  (runbook: string): Check =>
  (resources) => {
    const sections = sectionsOf(runbook);
    return alarmsIn(resources).flatMap(([id, { Properties }]) => {
      const text = String(Properties['AlarmDescription']);
      const section = /Runbook: infra\/RUNBOOK\.md#([a-z-]+)$/.exec(text)?.[1] ?? '';
      return sections.has(section) ? [] : [`${id}: the runbook has no section "${section}"`];
    });
  };

export const tellsSomebody: Check = (resources) =>
  alarmsIn(resources).flatMap(([id, { Properties }]) =>
    list(Properties['AlarmActions']).length > 0 ? [] : [`${id}: tells nobody`],
  );
