/** The questions of 3 a.m., from top to bottom: each row answers one, and the next is only of interest if it was "yes". */
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  Stats,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { MetricName } from '../../functions/core/metrics.ts';
import type { Alarms } from './alarms.ts';
import { FIVE_MINUTES, ledgerThrottles, MINUTE, ofFunction, own, queueNumbers } from './measures.ts';
import type { Watched } from './watched.ts';

const WIDE = 24;
const HALF = 12;
const HIGH = 6;

const NOT_DELIVERED = [
  'fields @timestamp, event, destination, attempt, class, detail, httpStatus, durationMs, status, nextAtMs, requestId, key',
  "filter line = 'delivery.attempted' and class != 'delivered'",
  'sort @timestamp desc',
  'limit 50',
];

type Row = readonly [question: string, ...widgets: IWidget[]];

export class OncewardDashboard extends Construct {
  constructor(scope: Construct, id: string, watched: Watched, { alarms }: Alarms) {
    super(scope, id);
    const rows: readonly Row[] = [
      ['Is anything wrong?', new AlarmStatusWidget({ alarms: [...alarms], width: WIDE, height: HIGH })],
      ...aboutFlow(watched),
      aboutPeople(watched),
      aboutUs(watched),
      ['Which ones?', attempts(watched)],
    ];
    const dashboard = new Dashboard(this, 'Dashboard', { dashboardName: `${watched.deployment}-onceward` });
    for (const [question, ...widgets] of rows) {
      dashboard.addWidgets(new TextWidget({ markdown: `## ${question}`, width: WIDE, height: 1 }));
      dashboard.addWidgets(...widgets);
    }
  }
}

const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []): GraphWidget =>
  new GraphWidget({ title, left: [...left], right: [...right], width: HALF, height: HIGH });

const counts = (watched: Watched, title: string, names: readonly MetricName[], statistic: string = Stats.SUM) =>
  graph(
    title,
    names.map((name) => own(watched, name, MINUTE, statistic)),
  );

const aboutFlow = (watched: Watched): readonly Row[] => {
  const queues = Object.entries(queueNumbers(watched, MINUTE));
  return [
    [
      'Is anything late, and does somebody look after what gets lost?',
      counts(watched, 'Latest row, oldest sweep (ms)', ['largest-overdue-ms', 'sweep-age-ms'], Stats.MAXIMUM),
      counts(watched, 'Ticks and passes', ['tick', 'sweep-passed', 'tick-failed']),
    ],
    [
      'Does what comes in go out?',
      counts(watched, 'Accepted and delivered', ['accepted', 'attempt-delivered']),
      ...queues.map(([name, queue]) =>
        graph(
          `Queue on ${name}; age of its oldest message at the right (ms)`,
          [queue.waiting, queue.inFlight, queue.dead],
          [queue.ageMs],
        ),
      ),
    ],
    [
      'What do the destinations answer?',
      counts(watched, 'Attempts that did not deliver', [
        'attempt-throttled',
        'attempt-failed',
        'attempt-rejected',
        'attempt-gone',
        'attempt-not-sent',
        'attempt-in-doubt',
        'attempt-withheld',
        'attempt-abandoned',
      ]),
      graph(
        'Duration of attempts (ms)',
        [Stats.p(50), Stats.p(99)].map((p) => own(watched, 'attempt-ms', MINUTE, p).with({ label: p })),
      ),
    ],
  ];
};

const aboutPeople = (watched: Watched): Row => [
  'What waits for a person?',
  counts(watched, 'Quarantined', [
    'quarantined-budget',
    'quarantined-in-doubt',
    'quarantined-rejected',
    'quarantined-gone',
    'quarantined-key-expired',
    'quarantined-horizon',
    'quarantined-blocked',
    'quarantined-payload-changed',
    'quarantined-no-destination',
  ]),
  counts(watched, 'Destinations held, messages without sense', [
    'breaker-opened',
    'destination-closed-over-an-hour',
    'places-full',
    'poison',
    'event-message-refused',
  ]),
];

const aboutUs = (watched: Watched): Row => [
  'Is it us?',
  graph(
    'Errors of functions',
    watched.functions.map((one) => ofFunction(one, 'errors', MINUTE)),
  ),
  graph(
    'Throttles of functions',
    watched.functions.map((one) => ofFunction(one, 'throttles', MINUTE)),
  ),
  counts(watched, 'Workers and writes in trouble', [
    'lease-lapsed',
    'settle-repeated',
    'internal-error',
    'ledger-corrupt',
  ]),
  graph('Ledger', [ledgerThrottles(watched, FIVE_MINUTES), own(watched, 'ledger-unavailable', MINUTE)]),
];

const attempts = ({ receiver, pushReceiver }: Watched): IWidget =>
  new LogQueryWidget({
    title: 'Attempts that did not deliver',
    logGroupNames: [receiver, pushReceiver].flatMap((one) => (one === undefined ? [] : [one.logs.logGroupName])),
    view: LogQueryVisualizationType.TABLE,
    queryLines: NOT_DELIVERED,
    width: WIDE,
    height: HIGH,
  });
