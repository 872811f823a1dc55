/** The alarms themselves: what is looked at, from when on it is a breach, and what it means. */
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type AlarmSpec, happened } from './alarm-spec.ts';
import { FIVE_MINUTES, MINUTE, own, type QueueNumbers, queueNumbers } from './measures.ts';
import { platformAlarms } from './platform-alarms.ts';
import type { Watched } from './watched.ts';

/** Five ticks: a sweep that is so late has missed several. */
const LATE_MS = 300_000;

export const alarmsOf = (watched: Watched): readonly AlarmSpec[] => [
  ...ofSweeps(watched),
  ...ofQueues(watched),
  ...ofDeliveries(watched),
  ...ofDestinations(watched),
  ...platformAlarms(watched),
  ...ofPushes(watched),
];

const ofSweeps = (watched: Watched): readonly AlarmSpec[] => [
  {
    id: 'TickMissing',
    says: 'The schedule has not ticked for five minutes: nothing that gets lost is found again.',
    metric: own(watched, 'tick', MINUTE),
    breach: 'below',
    threshold: 1,
    periods: 5,
    missing: 'breach',
  },
  {
    id: 'SweepMissing',
    says: 'No sweep has passed over one of the shards for five minutes, or nobody could read when one did.',
    metric: own(watched, 'sweep-age-ms', MINUTE, Stats.MAXIMUM),
    breach: 'above',
    threshold: LATE_MS,
    periods: 5,
    missing: 'breach',
  },
  {
    id: 'Overdue',
    says: 'Deliveries are looked after more than five minutes late: sweeps pass, and cannot keep up.',
    metric: own(watched, 'largest-overdue-ms', MINUTE, Stats.MAXIMUM),
    breach: 'above',
    threshold: LATE_MS,
    periods: 5,
    // Without a number SweepMissing speaks.
    missing: 'as-before',
  },
];

const ofQueues = (watched: Watched): readonly AlarmSpec[] => {
  const soon = queueNumbers(watched, MINUTE);
  const later = queueNumbers(watched, FIVE_MINUTES);
  return [
    ...(soon.sqs && later.sqs ? ofQueue('', soon.sqs, later.sqs) : []),
    ...(soon.infrai && later.infrai ? ofQueue('OnInfrai', soon.infrai, later.infrai) : []),
  ];
};

const ofQueue = (where: string, soon: QueueNumbers, later: QueueNumbers): readonly AlarmSpec[] => [
  {
    id: `NobodyConsuming${where}`,
    section: 'nobody-consuming',
    says: 'Messages wait, the oldest for over five minutes, and none of them is being worked on.',
    metric: new MathExpression({
      // Delayed messages alone are no sign of anything: something must be waiting.
      expression: `IF((age >= ${LATE_MS}) AND (waiting >= 1) AND (inflight < 1), 1, 0)`,
      usingMetrics: { age: soon.ageMs, waiting: soon.waiting, inflight: soon.inFlight },
      period: MINUTE,
      label: 'messages that nobody takes',
    }),
    breach: 'above',
    threshold: 1,
    periods: 5,
    missing: 'fine',
  },
  {
    id: `DeadLetters${where}`,
    section: 'dead-letters',
    says: 'The queue has given up on messages, and for a quarter of an hour nobody has taken care of them.',
    metric: later.dead,
    breach: 'above',
    threshold: 1,
    periods: 3,
    missing: 'fine',
  },
];

const ofDeliveries = (watched: Watched): readonly AlarmSpec[] => [
  happened(
    watched,
    'BudgetExhausted',
    ['quarantined-budget', 'quarantined-horizon', 'quarantined-key-expired'],
    'Deliveries have used up their attempts or their time and wait for a person.',
  ),
  happened(
    watched,
    'InDoubtHeld',
    ['quarantined-in-doubt'],
    'A request may have arrived, has no answer, and must not be repeated: a person has to find out.',
  ),
  happened(
    watched,
    'Refused',
    ['quarantined-rejected', 'quarantined-no-destination'],
    'Deliveries are held since their destination does not want them, or is no longer there.',
  ),
  happened(
    watched,
    'BrokenData',
    ['ledger-corrupt', 'payload-changed'],
    'An item of the table is not as this code writes it: somebody else has written, or there is a fault.',
  ),
  happened(
    watched,
    'PoisonFiled',
    ['poison', 'poison-overflow', 'event-message-refused'],
    'Authentic messages make no sense or may not be accepted: whoever publishes them does not know yet.',
  ),
  happened(
    watched,
    'LaterFormat',
    ['row-of-later-format', 'push-newer'],
    'Items or messages of a later version have been met for a quarter of an hour: a deploy is stuck halfway.',
    1,
    3,
  ),
  happened(
    watched,
    'LeasesLapsed',
    ['lease-lapsed'],
    'Workers die or are cut off in the middle of attempts: five and more in five minutes.',
    5,
  ),
];

const ofDestinations = (watched: Watched): readonly AlarmSpec[] => [
  happened(
    watched,
    'DestinationPaused',
    ['breaker-opened', 'quarantined-gone'],
    'A destination is paused: by its breaker after many failures, or since it says that it is gone.',
  ),
  happened(
    watched,
    'DestinationClosed',
    ['destination-closed-over-an-hour'],
    'A destination has asked for more than an hour of rest; its deliveries wait.',
  ),
  happened(
    watched,
    'AddressBlocked',
    ['quarantined-blocked'],
    'The name of a destination leads to an address that we do not call: a wrong setting, or an attack.',
  ),
];

/** Only a transport outside of this account has a wallet, a secret that can be wrong, and pushes that can be forged. */
const ofPushes = (watched: Watched): readonly AlarmSpec[] =>
  watched.secrets === undefined
    ? []
    : [
        happened(
          watched,
          'WalletEmpty',
          ['queue-no-credit'],
          'The account of the queue is empty: nothing is published until somebody tops it up.',
        ),
        happened(
          watched,
          'PushUnauthentic',
          ['push-unauthentic', 'cron-unauthentic'],
          'Many calls come without a valid signature: the secrets of the two sides differ, or somebody tries.',
          20,
        ),
        happened(
          watched,
          'SecretNotRenewed',
          ['secret-not-renewed'],
          'A secret could not be read again; the last known one is in use and may be out of date.',
          1,
          3,
        ),
      ];
