/** Alarms on the parts that everything else stands on: functions, table, queue, schedule. */
import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type AlarmSpec, happened } from './alarm-spec.ts';
import { FIVE_MINUTES, ledgerThrottles, ofFunction, sumOf } from './measures.ts';
import type { Watched } from './watched.ts';

export const platformAlarms = (watched: Watched): readonly AlarmSpec[] => {
  const { functions, intake, operator } = watched;
  const each = (what: 'errors' | 'throttles' | 'urlFaults', of = functions) =>
    sumOf(
      of.map((one) => ofFunction(one, what, FIVE_MINUTES)),
      FIVE_MINUTES,
      what,
    );
  return [
    {
      id: 'FunctionErrors',
      says: 'A function has thrown or has run out of time. What is expected is an answer, so this is a fault of ours.',
      metric: each('errors'),
      breach: 'above',
      threshold: 1,
      periods: 1,
      missing: 'fine',
    },
    {
      id: 'FunctionThrottles',
      says: 'Invocations have been turned away for a quarter of an hour: the concurrency does not suffice.',
      metric: each('throttles'),
      breach: 'above',
      threshold: 1,
      periods: 3,
      missing: 'fine',
    },
    {
      id: 'CallersRefused',
      says: 'Intake or operator answer 5xx: events are not taken in, and whoever sends them has to repeat.',
      metric: each('urlFaults', [intake, operator]),
      breach: 'above',
      threshold: 5,
      periods: 1,
      missing: 'fine',
    },
    {
      id: 'LedgerThrottled',
      says: 'DynamoDB turns requests to the table away.',
      metric: ledgerThrottles(watched, FIVE_MINUTES),
      breach: 'above',
      threshold: 10,
      periods: 2,
      missing: 'fine',
    },
    happened(
      watched,
      'LedgerAway',
      ['ledger-unavailable'],
      'The receiver cannot reach the ledger and refuses messages, which bring them closer to the dead letters.',
      3,
    ),
    happened(
      watched,
      'PublishFailing',
      ['publish-failed', 'tick-failed'],
      'The queue does not take what we publish; sweeps make it good, late.',
      5,
      2,
    ),
    ...ofSchedule(watched),
  ];
};

const ofSchedule = ({ tick }: Watched): readonly AlarmSpec[] =>
  tick === undefined
    ? []
    : [
        {
          id: 'TicksMissed',
          says: 'Calls of the schedule came to nothing and lie in their dead letters.',
          metric: tick.missed.metricApproximateNumberOfMessagesVisible({
            period: FIVE_MINUTES,
            statistic: Stats.MAXIMUM,
          }),
          breach: 'above',
          threshold: 1,
          periods: 1,
          missing: 'fine',
        },
      ];
