/**
 * The stack as CloudFormation gets it. Every rule is a function from a template to findings: it finds nothing in any of
 * the stacks, and finds its breach in a twin.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import * as alarms from './checks/alarms.ts';
import * as data from './checks/data.ts';
import * as numbers from './checks/numbers.ts';
import * as roles from './checks/roles.ts';
import {
  at,
  type Check,
  isRecord,
  one,
  type Resources,
  resourcesOf,
  twinOf,
  VARIANTS,
  type Variant,
} from './template.ts';

const RUNBOOK = readFileSync(new URL('../../infra/RUNBOOK.md', import.meta.url), 'utf8');

interface Rule {
  readonly says: string;
  readonly check: Check;
  /** What is changed in a twin, in the words of the finding that must come of it, and the change. */
  readonly twins: readonly (readonly [finding: RegExp, spoil: (resources: Resources) => void, variant?: Variant])[];
}

const set = (type: string, text: string | RegExp, path: string, value: unknown) => (resources: Resources) => {
  const [, { Properties }] = one(resources, type, text);
  const names = path.split('.');
  const last = names.pop() ?? '';
  const holder = names.length === 0 ? Properties : at(Properties, names.join('.'));
  if (!isRecord(holder) && !Array.isArray(holder)) throw new Error(`there is no ${path} in ${String(text)}`);
  Reflect.set(holder, last, value);
};

const policyOf = (resources: Resources, role: string): unknown[] => {
  const [, { Properties }] = one(resources, 'AWS::IAM::Policy', `${role}RoleDefaultPolicy`);
  return at(Properties, 'PolicyDocument.Statement') as unknown[];
};
const granted = (role: string, statement: object) => (resources: Resources) =>
  void policyOf(resources, role).push({ Effect: 'Allow', ...statement });

const TABLE_ARN = { 'Fn::GetAtt': [data.TABLE_ID, 'Arn'] };

const TABLE = 'AWS::DynamoDB::Table';
const QUEUE = 'AWS::SQS::Queue';
const FUNCTION = 'AWS::Lambda::Function';
const MAPPING = 'AWS::Lambda::EventSourceMapping';
const SCHEDULE = 'AWS::Scheduler::Schedule';
const ALARM = 'AWS::CloudWatch::Alarm';

const RULES: readonly Rule[] = [
  {
    says: 'no role has a wildcard in an action or a resource',
    check: roles.noWildcards,
    twins: [
      [/Receiver.*dynamodb:\*/, granted('Receiver', { Action: 'dynamodb:*', Resource: TABLE_ARN })],
      [/Intake.*on \*/, granted('Intake', { Action: 'sqs:SendMessage', Resource: '*' })],
    ],
  },
  {
    says: 'no role has a policy that somebody else keeps',
    check: roles.noManagedPolicies,
    twins: [
      [
        /Operator/,
        set('AWS::IAM::Role', 'OperatorRole', 'ManagedPolicyArns', ['arn:aws:iam::aws:policy/AdministratorAccess']),
      ],
    ],
  },
  {
    says: 'whoever reads or writes the table says for which partitions',
    check: roles.partitionsNamed,
    twins: [
      [/Intake.*any partition/, granted('Intake', { Action: 'dynamodb:GetItem', Resource: TABLE_ARN })],
      [
        /Intake.*any partition/,
        granted('Intake', {
          Action: 'dynamodb:GetItem',
          Resource: TABLE_ARN,
          Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['event#*'] } },
        }),
      ],
    ],
  },
  {
    says: "a destination's secrets are for the receiver and the operator alone",
    check: roles.secretsOfDestinations,
    twins: [
      [
        /Intake.*reads secrets/,
        granted('Intake', {
          Action: 'dynamodb:GetItem',
          Resource: TABLE_ARN,
          Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['secret#*'] } },
        }),
      ],
      [
        /Reconciler.*opens/,
        granted('Reconciler', {
          Action: 'kms:Decrypt',
          Resource: { 'Fn::GetAtt': ['OncewardSealingKey8877172C', 'Arn'] },
        }),
      ],
    ],
  },
  {
    says: 'the limit of a function is the one that the code counts on, and far under 900 s',
    check: numbers.functionLimits,
    twins: [
      [/limit of 900 s/, set(FUNCTION, 'OncewardReceiver', 'Timeout', 900)],
      [/45 s.*60000/, set(FUNCTION, 'OncewardIntake', 'Timeout', 45)],
    ],
  },
  {
    says: 'a message stays away for six limits of the function, comes five times at least, and fails alone',
    check: numbers.eventSources,
    twins: [
      [/visible again after 359 s/, set(QUEUE, 'OncewardQueueMain', 'VisibilityTimeout', 359)],
      [/the function has 61 s/, set(FUNCTION, 'OncewardReceiver', 'Timeout', 61)],
      [/dead after 4/, set(QUEUE, 'OncewardQueueMain', 'RedrivePolicy.maxReceiveCount', 4)],
      [/no partial failures/, set(MAPPING, '', 'FunctionResponseTypes', [])],
      [/no maximum/, set(MAPPING, '', 'ScalingConfig', {})],
    ],
  },
  {
    says: 'dead letters are kept as long as the service can, and longer than the queue keeps them [C046]',
    check: numbers.retention,
    twins: [
      [/keeps dead letters for 345600/, set(QUEUE, 'QueueDeadLetters', 'MessageRetentionPeriod', 345_600)],
      [/kept for 1209600 s, it keeps 1209600/, set(QUEUE, 'OncewardQueueMain', 'MessageRetentionPeriod', 1_209_600)],
      [/keeps dead letters for NaN/, set(QUEUE, 'TickMissed', 'MessageRetentionPeriod', undefined)],
    ],
  },
  {
    says: 'retries, age and dead letters are said of the schedule and of the function both [C139]',
    check: numbers.scheduleRetries,
    twins: [
      [/retries of the schedule/, set(SCHEDULE, '', 'Target.RetryPolicy', {})],
      [/dead letters of the schedule/, set(SCHEDULE, '', 'Target.DeadLetterConfig', {})],
      [/retries of the function/, set('AWS::Lambda::EventInvokeConfig', '', 'MaximumRetryAttempts', undefined)],
      [/dead letters of the function/, set('AWS::Lambda::EventInvokeConfig', '', 'DestinationConfig', {})],
      [/rate\(5 minutes\)/, set(SCHEDULE, '', 'ScheduleExpression', 'rate(5 minutes)')],
    ],
  },
  {
    says: 'the table keeps its name in the stack, its protection, its backups and its time to live',
    check: data.table,
    twins: [
      [/protects/, set(TABLE, '', 'DeletionProtectionEnabled', false)],
      [/no backups/, set(TABLE, '', 'PointInTimeRecoverySpecification', {})],
      [
        /goes with the stack/,
        (resources) => void Object.assign(one(resources, TABLE)[1], { DeletionPolicy: 'Delete' }),
      ],
      [/another time to live/, set(TABLE, '', 'TimeToLiveSpecification.AttributeName', 'expires')],
      [
        /the table is OncewardTable0/,
        (resources) => {
          const [id, found] = one(resources, TABLE);
          delete resources[id];
          resources['OncewardTable0'] = found;
        },
      ],
    ],
  },
  {
    says: 'keys and indexes are those of the adapter',
    check: data.indexes,
    twins: [
      [/the key is pk,sort/, set(TABLE, '', 'KeySchema.1.AttributeName', 'sort')],
      [/indexes due dp,lookMs ALL/, set(TABLE, '', 'GlobalSecondaryIndexes.0.Projection.ProjectionType', 'ALL')],
      [/indexes/, set(TABLE, '', 'GlobalSecondaryIndexes', [])],
    ],
  },
  {
    says: 'a public URL has both permissions that it needs',
    check: data.urlPermissions,
    twins: [
      [
        /lambda:InvokeFunctionUrl$/,
        (resources) =>
          void delete resources[one(resources, 'AWS::Lambda::Permission', /IntakeFunctioninvokefunction[0-9A-F]/)[0]],
      ],
      [
        /may be called by/,
        set('AWS::Lambda::Permission', 'OncewardIntakeFunctioninvokefunctionurl', 'FunctionUrlAuthType', 'AWS_IAM'),
      ],
    ],
  },
  {
    says: 'functions run on Node 24 and arm64, with logs that end, and can never call a private address',
    check: data.functions,
    twins: [
      [/nodejs22/, set(FUNCTION, 'OncewardIntake', 'Runtime', 'nodejs22.x')],
      [/arm64/, set(FUNCTION, 'OncewardIntake', 'Architectures', ['x86_64'])],
      [/for ever/, set(FUNCTION, 'OncewardIntake', 'LoggingConfig', {})],
      [/private/, set(FUNCTION, 'OncewardReceiver', 'Environment.Variables.ONCEWARD_LOCAL_DESTINATIONS', 'allow')],
    ],
  },
  {
    says: 'every log group forgets',
    check: data.logs,
    twins: [[/for ever/, set('AWS::Logs::LogGroup', 'OncewardIntake', 'RetentionInDays', undefined)]],
  },
  {
    says: 'no value of a secret stands in the template',
    check: data.noSecretTexts,
    twins: [
      [
        /ONCEWARD_INFRAI_KEY/,
        set(FUNCTION, 'OncewardIntake', 'Environment.Variables.ONCEWARD_INFRAI_KEY', 'ifr_secret'),
      ],
      [
        /ONCEWARD_PUSH_SECRET/,
        set(FUNCTION, 'OncewardIntake', 'Environment.Variables.ONCEWARD_PUSH_SECRET', {
          'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: 'x' }, '}}']],
        }),
      ],
    ],
  },
  {
    says: 'queues are encrypted, at rest and on the wire',
    check: data.queues,
    twins: [
      [/not encrypted/, set(QUEUE, 'OncewardQueueMain', 'SqsManagedSseEnabled', false)],
      [
        /without TLS/,
        (resources) => void delete resources[one(resources, 'AWS::SQS::QueuePolicy', 'OncewardQueueMain')[0]],
      ],
    ],
  },
  {
    says: 'every alarm stands on a number that a service or the telemetry sends, under the dimensions that it has there',
    check: alarms.sentMetrics,
    twins: [
      [
        /nobody sends Onceward tick-mising/,
        set(ALARM, 'TickMissing', 'Metrics.0.MetricStat.Metric.MetricName', 'tick-mising'),
      ],
      [/nobody sends Onceward tick$/, set(ALARM, 'TickMissing', 'Metrics.0.MetricStat.Metric.Dimensions', [])],
      [
        /nobody sends AWS\/SQS ApproximateNumberOfMessages$/,
        set(
          ALARM,
          /AlarmsDeadLetters[0-9A-F]/,
          'Metrics.0.MetricStat.Metric.MetricName',
          'ApproximateNumberOfMessages',
        ),
      ],
      [/looks at nothing/, set(ALARM, 'FunctionErrors', 'Metrics', [{ Id: 'e', Expression: '1' }])],
    ],
  },
  {
    says: 'the text of every alarm leads to its section in the runbook',
    check: alarms.explained(RUNBOOK),
    twins: [
      [/no section "no-such"/, set(ALARM, 'TickMissing', 'AlarmDescription', 'Bad. Runbook: infra/RUNBOOK.md#no-such')],
    ],
  },
  {
    says: 'every alarm tells somebody',
    check: alarms.tellsSomebody,
    twins: [[/Overdue.*nobody/, set(ALARM, 'Overdue', 'AlarmActions', [])]],
  },
];

beforeAll(() => {
  for (const variant of VARIANTS) resourcesOf(variant);
}, 60_000);

describe.each(VARIANTS)('in the stack for %s', (variant) => {
  it.each(RULES.map((rule) => [rule.says, rule] as const))('%s', (_says, { check }) => {
    expect(check(resourcesOf(variant))).toEqual([]);
  });
});

const TWINS = RULES.flatMap(({ says, check, twins }) =>
  twins.map(([finding, spoil, variant = 'sqs']) => ({ says, check, finding, spoil, variant })),
);

describe('a twin', () => {
  it.each(TWINS)('breaks "$says": $finding', ({ check, finding, spoil, variant }) => {
    const found = check(twinOf(variant, spoil));
    expect(found.filter((text) => finding.test(text))).toHaveLength(1);
  });
});

describe('what is reachable from outside', () => {
  it.each([
    ['sqs', ['Intake', 'Operator']],
    ['infrai', ['Intake', 'Operator', 'PushReceiver']],
    ['both', ['Intake', 'Operator', 'PushReceiver']],
    ['infrai with its own cron', ['Intake', 'Operator', 'PushReceiver', 'Reconciler']],
  ] as const)('for %s: %j', (variant, urls) => {
    expect(data.urlsOf(resourcesOf(variant))).toEqual(urls);
  });
});

describe('alarms', () => {
  const idsOf = (variant: Variant) =>
    alarms.alarmsIn(resourcesOf(variant)).map(([id]) => id.replace(/^OncewardAlarms|[0-9A-F]{8}$/g, ''));

  it('watch a wallet, signatures and the queue of a push transport only where there is one', () => {
    const only = idsOf('infrai').filter((id) => !idsOf('sqs').includes(id));
    expect(only.toSorted()).toEqual([
      'DeadLettersOnInfrai',
      'NobodyConsumingOnInfrai',
      'PushUnauthentic',
      'SecretNotRenewed',
      'WalletEmpty',
    ]);
  });

  it('have a section each in the runbook, and the runbook has none of an alarm that is not there', () => {
    const between = RUNBOOK.slice(RUNBOOK.indexOf('## Alarms'), RUNBOOK.indexOf('## Pause and resume'));
    const sections = [...between.matchAll(/^### (.+)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', ''),
    );
    const wanted = new Set(VARIANTS.flatMap(idsOf).map((id) => id.replace(/OnInfrai$/, '').toLowerCase()));
    expect(sections.toSorted()).toEqual([...wanted].toSorted());
  });
});
