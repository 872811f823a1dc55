/** What CloudWatch would make of an alarm, given the numbers of a period: the part of its rules that our alarms use. */
import { at, list, type Resource } from './template.ts';

/** The value of a metric over one period, or undefined where nothing was sent. */
export type Reading = (name: string, statistic: string) => number | undefined;

const readingIn = ({ Properties }: Resource, read: Reading): number | undefined => {
  const metrics = list(Properties['Metrics']);
  const readings = new Map<string, number | undefined>();
  for (const metric of metrics) {
    const stat = at(metric, 'MetricStat');
    if (stat === undefined) continue;
    readings.set(String(at(metric, 'Id')), read(String(at(stat, 'Metric.MetricName')), String(at(stat, 'Stat'))));
  }
  const expression = metrics.map((metric) => at(metric, 'Expression')).find((text) => typeof text === 'string');
  if (typeof expression !== 'string') return [...readings.values()][0];
  return computed(expression, readings);
};

/** Sums of `FILL(m, 0)`, and `IF((a >= 1) AND (b < 1), 1, 0)`. A missing part makes the whole missing, but for FILL. */
const computed = (expression: string, readings: ReadonlyMap<string, number | undefined>): number | undefined => {
  const filled = [...expression.matchAll(/FILL\((\w+), 0\)/g)];
  if (filled.length > 0) {
    if (filled.map(([text]) => text).join(' + ') !== expression) throw new Error(`what is ${expression}?`);
    return filled.reduce((sum, [, id = '']) => sum + (readings.get(id) ?? 0), 0);
  }
  const conditions = /^IF\((.+), 1, 0\)$/.exec(expression)?.[1]?.split(' AND ');
  if (conditions === undefined) throw new Error(`what is ${expression}?`);
  const held = conditions.map((text) => {
    const [, id = '', than, bound] = /^\((\w+) (>=|<) (\d+)\)$/.exec(text) ?? [];
    const value = readings.get(id);
    if (than === undefined) throw new Error(`what is ${text}?`);
    return value === undefined ? undefined : than === '<' ? value < Number(bound) : value >= Number(bound);
  });
  return held.includes(undefined) ? undefined : held.every(Boolean) ? 1 : 0;
};

/** Whether it would be in alarm if every period were like this one. */
export const inAlarm = (alarm: Resource, read: Reading): boolean => {
  const { Properties } = alarm;
  const value = readingIn(alarm, read);
  if (value === undefined) return Properties['TreatMissingData'] === 'breaching';
  const threshold = Number(Properties['Threshold']);
  return Properties['ComparisonOperator'] === 'LessThanThreshold' ? value < threshold : value >= threshold;
};
