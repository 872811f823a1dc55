/** What must never be lost, or read by the wrong one: the table, the key, and what is public. */
import { INDEXES, TABLE_KEY, TTL_ATTRIBUTE } from '../../../functions/adapters/ledger/schema.ts';
import { at, type Check, idIn, list, ofType, type Resources } from '../template.ts';

/** With another logical id CloudFormation makes a new, empty table and leaves the old one behind. */
export const TABLE_ID = 'OncewardLedgerTableD61458FE';

export const table: Check = (resources) => {
  const found = ofType(resources, 'AWS::DynamoDB::Table');
  const ids = found.map(([id]) => id);
  if (ids.join() !== TABLE_ID) return [`the table is ${ids.join() || 'not there'}, and was ${TABLE_ID}`];
  return found.flatMap(([, { Properties, DeletionPolicy }]) => [
    ...(Properties['DeletionProtectionEnabled'] === true ? [] : ['nothing protects the table']),
    ...(DeletionPolicy === 'Retain' ? [] : ['the table goes with the stack']),
    ...(at(Properties, 'PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled') === true ? [] : ['no backups']),
    ...(Properties['BillingMode'] === 'PAY_PER_REQUEST' ? [] : ['the table is not on demand']),
    ...(at(Properties, 'TimeToLiveSpecification.AttributeName') === TTL_ATTRIBUTE ? [] : ['another time to live']),
  ]);
};

const keyText = (schema: unknown): string =>
  list(schema)
    .map((key) => at(key, 'AttributeName'))
    .join();

export const indexes: Check = (resources) =>
  ofType(resources, 'AWS::DynamoDB::Table').flatMap(([id, { Properties }]) => {
    const there = list(Properties['GlobalSecondaryIndexes']).map(
      (index) =>
        `${at(index, 'IndexName')} ${keyText(at(index, 'KeySchema'))} ${at(index, 'Projection.ProjectionType')}`,
    );
    const wanted = Object.values(INDEXES).map(
      ({ name, partition, sort }) => `${name} ${partition.name},${sort.name} KEYS_ONLY`,
    );
    const key = keyText(Properties['KeySchema']);
    const rightKey = key === `${TABLE_KEY.partition.name},${TABLE_KEY.sort.name}`;
    return [
      ...(rightKey ? [] : [`${id}: the key is ${key}`]),
      ...(there.toSorted().join() === wanted.toSorted().join() ? [] : [`${id}: indexes ${there.join('; ')}`]),
    ];
  });

/** Since October 2025 a public URL wants both. */
const URL_ACTIONS = ['lambda:InvokeFunction', 'lambda:InvokeFunctionUrl'];

export const urlPermissions: Check = (resources) =>
  ofType(resources, 'AWS::Lambda::Url').flatMap(([id, { Properties }]) => {
    const target = idIn(Properties['TargetFunctionArn']);
    const given = ofType(resources, 'AWS::Lambda::Permission').filter(
      ([, permission]) => idIn(permission.Properties['FunctionName']) === target,
    );
    const right = given.filter(([, { Properties: one }]) =>
      one['Action'] === 'lambda:InvokeFunction'
        ? one['InvokedViaFunctionUrl'] === true
        : one['FunctionUrlAuthType'] === 'NONE',
    );
    const actions = right.map(([, permission]) => String(permission.Properties['Action'])).toSorted();
    return actions.join() === URL_ACTIONS.join() ? [] : [`${id}: may be called by ${actions.join() || 'nobody'}`];
  });

/** Only what has to be reached from outside has a URL. */
export const urlsOf = (resources: Resources): readonly string[] =>
  ofType(resources, 'AWS::Lambda::Url')
    .map(([, { Properties }]) => idIn(Properties['TargetFunctionArn']) ?? '')
    .map((id) => /^Onceward(\w+?)Function[0-9A-F]{8}$/.exec(id)?.[1] ?? id)
    .toSorted();

export const functions: Check = (resources) =>
  ofType(resources, 'AWS::Lambda::Function').flatMap(([id, { Properties }]) => [
    ...(Properties['Runtime'] === 'nodejs24.x' ? [] : [`${id}: runs on ${String(Properties['Runtime'])}`]),
    ...(at(Properties, 'Architectures.0') === 'arm64' ? [] : [`${id}: not on arm64`]),
    ...(at(Properties, 'LoggingConfig.LogGroup') === undefined ? [`${id}: its log is kept for ever`] : []),
    ...(JSON.stringify(Properties['Environment']).includes('ONCEWARD_LOCAL_DESTINATIONS')
      ? [`${id}: may call private addresses`]
      : []),
  ]);

export const logs: Check = (resources) =>
  ofType(resources, 'AWS::Logs::LogGroup').flatMap(([id, { Properties }]) =>
    typeof Properties['RetentionInDays'] === 'number' ? [] : [`${id}: is kept for ever`],
  );

/** A secret's value never stands in a template: only the name under which it is found. */
export const noSecretTexts: Check = (resources) =>
  ofType(resources, 'AWS::Lambda::Function').flatMap(([id, { Properties }]) =>
    Object.entries(Object(at(Properties, 'Environment.Variables'))).flatMap(([name, value]) =>
      /SECRET|KEY/.test(name) && (typeof value === 'string' || JSON.stringify(value).includes('resolve:'))
        ? [`${id}: ${name}`]
        : [],
    ),
  );

export const queues: Check = (resources) =>
  ofType(resources, 'AWS::SQS::Queue').flatMap(([id, { Properties }]) => {
    const secured = ofType(resources, 'AWS::SQS::QueuePolicy').some(
      ([, policy]) =>
        list(policy.Properties['Queues']).some((queue) => idIn(queue) === id) &&
        JSON.stringify(policy.Properties['PolicyDocument']).includes('aws:SecureTransport'),
    );
    return [
      ...(secured ? [] : [`${id}: may be read without TLS`]),
      ...(Properties['SqsManagedSseEnabled'] === true ? [] : [`${id}: is not encrypted`]),
    ];
  });
