/**
 * What each role may do, to the letter: a grant too many or too few fails here. Below it, the other half: the functions
 * are played over a table that notes every request, and each request must be covered by a grant of the function's role,
 * and each grant on the table must be of use.
 */
import { describe, expect, it } from 'vitest';
import { grantsByRole } from './checks/roles.ts';
import { playedRequests } from './played.ts';
import { at, one, resourcesOf, twinOf } from './template.ts';

const on = (action: string, ...partitions: readonly string[]): string[] =>
  partitions.map((partition) => `dynamodb:${action} ${partition}`);

const logs = (id: string): string[] => [`logs:CreateLogStream ${id}Logs`, `logs:PutLogEvents ${id}Logs`];

const readsDead = ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'].map(
  (action) => `sqs:${action} QueueDeadLetters`,
);

const INTAKE = [...on('GetItem', 'destination', 'event', 'token'), ...on('PutItem', 'event'), ...on('Query', 'event')];

const RECEIVER = [
  ...on('GetItem', 'destination', 'event', 'heartbeat', 'operation', 'poison', 'poison-minute', 'secret'),
  ...on('PutItem', 'destination', 'event', 'heartbeat', 'operation', 'poison', 'poison-minute'),
  ...on('Query', 'destination', 'event', 'operation', 'index/attention', 'index/due'),
  ...on('UpdateItem', 'destination'),
  'kms:Decrypt SealingKey',
];

const OPERATOR = [
  ...on('GetItem', 'decision', 'destination', 'event', 'heartbeat', 'operation', 'poison', 'secret', 'token'),
  ...on('PutItem', 'decision', 'destination', 'event', 'operation', 'secret', 'token'),
  ...on('Query', 'destination', 'event', 'operation', 'index/attention', 'index/due', 'index/recent'),
  'kms:Decrypt SealingKey',
  'kms:Encrypt SealingKey',
];

const SEND = 'sqs:SendMessage QueueMain';
const secret = (name: string): string[] => [
  `secretsmanager:GetSecretValue Secrets${name}`,
  'kms:Decrypt SealingKey of a secret',
];

const TICK = ['lambda:InvokeFunction ReconcilerFunction', 'sqs:SendMessage TickMissed'];

const sorted = (grants: readonly string[]): readonly string[] => grants.toSorted();
const sortedAll = (roles: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(Object.entries(roles).map(([role, grants]) => [role, sorted(grants)]));

const BY_SQS = {
  Intake: [...logs('Intake'), ...INTAKE, SEND],
  Receiver: [
    ...logs('Receiver'),
    ...RECEIVER,
    SEND,
    ...['DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'].map((action) => `sqs:${action} QueueMain`),
    ...readsDead,
  ],
  Reconciler: [...logs('Reconciler'), ...on('GetItem', 'heartbeat'), SEND, 'sqs:SendMessage TickMissed'],
  Operator: [...logs('Operator'), ...OPERATOR, SEND, 'sqs:GetQueueAttributes QueueMain', ...readsDead],
  Tick: TICK,
};

const BY_INFRAI = {
  Intake: [...logs('Intake'), ...INTAKE, ...secret('QueueKey')],
  PushReceiver: [...logs('PushReceiver'), ...RECEIVER, ...secret('QueueKey'), ...secret('PushSecret')],
  Reconciler: [
    ...logs('Reconciler'),
    ...on('GetItem', 'heartbeat'),
    ...secret('QueueKey'),
    'sqs:SendMessage TickMissed',
  ],
  Operator: [...logs('Operator'), ...OPERATOR, ...secret('QueueKey')],
  Tick: TICK,
};

const unique = (roles: Readonly<Record<string, readonly string[]>>) =>
  sortedAll(Object.fromEntries(Object.entries(roles).map(([role, grants]) => [role, [...new Set(grants)]])));

describe('roles', () => {
  it('of a stack over SQS may do exactly this', () => {
    expect(grantsByRole(resourcesOf('sqs'))).toEqual(unique(BY_SQS));
  });

  it('of a stack over Infrai may do exactly this', () => {
    expect(grantsByRole(resourcesOf('infrai'))).toEqual(unique(BY_INFRAI));
  });

  it('of a stack over both are those over SQS, and all but intake may read the queue of Infrai', () => {
    const key = secret('QueueKey');
    const look = 'sqs:GetQueueAttributes QueueMain';
    const { Intake, Receiver, Reconciler, Operator, Tick } = BY_SQS;
    const expected = {
      Intake,
      Receiver: [...Receiver, ...key],
      PushReceiver: [...logs('PushReceiver'), ...RECEIVER, SEND, look, ...readsDead, ...key, ...secret('PushSecret')],
      Reconciler: [...Reconciler, ...key],
      Operator: [...Operator, ...key],
      Tick,
    };
    expect(grantsByRole(resourcesOf('both'))).toEqual(unique(expected));
  });

  it('differ in a twin with one action more, and in one with one partition less', () => {
    const statementsOf = (resources: ReturnType<typeof resourcesOf>) =>
      at(one(resources, 'AWS::IAM::Policy', 'IntakeRole')[1].Properties, 'PolicyDocument.Statement') as {
        Action: unknown;
      }[];
    const more = twinOf('sqs', (resources) => {
      const statement = statementsOf(resources).find(
        ({ Action }) => Array.isArray(Action) && Action.includes('dynamodb:PutItem'),
      );
      Object.assign(statement ?? {}, { Action: ['dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:DeleteItem'] });
    });
    expect(grantsByRole(more)['Intake']).toContain('dynamodb:DeleteItem event');
    expect(grantsByRole(more)).not.toEqual(unique(BY_SQS));
    const less = twinOf('sqs', (resources) => {
      const statement = statementsOf(resources).find(({ Action }) => Action === 'dynamodb:GetItem');
      const keys = at(statement, 'Condition.ForAllValues:StringLike.dynamodb:LeadingKeys');
      if (Array.isArray(keys)) keys.pop();
    });
    expect(grantsByRole(less)).not.toEqual(unique(BY_SQS));
  });
});

describe('the functions, played over a table that notes each request', () => {
  const roles = grantsByRole(resourcesOf('sqs'));
  const ofTable = (role: string) => (roles[role] ?? []).filter((grant) => grant.startsWith('dynamodb:'));

  it.each(['Intake', 'Receiver', 'Reconciler', 'Operator'] as const)(
    '%s asks for nothing that its role may not do',
    async (role) => {
      const asked = (await playedRequests())[role];
      expect(asked.length).toBeGreaterThan(0);
      expect(asked.filter((request) => !ofTable(role).includes(request))).toEqual([]);
    },
  );

  it.each(['Intake', 'Receiver', 'Reconciler', 'Operator'] as const)(
    '%s has no grant on the table that it does not use',
    async (role) => {
      const asked = (await playedRequests())[role];
      expect(ofTable(role).filter((grant) => !asked.includes(grant))).toEqual([]);
    },
  );
});
