/** Roles as they are in a template, and what no role may have. */
import { at, type Check, idIn, isRecord, list, ofType, type Resources } from '../template.ts';

export interface Statement {
  readonly actions: readonly string[];
  /** Kind of the thing and its logical id, such as `AWS::DynamoDB::Table Onceward...`, and what hangs on it. */
  readonly resources: readonly string[];
  /** The kinds of partitions that an action on the table is for. */
  readonly partitions?: readonly string[];
  readonly conditions: unknown;
}

/** Statements by the logical id of the role. */
export const statementsByRole = (resources: Resources): ReadonlyMap<string, readonly Statement[]> => {
  const roles = new Map<string, Statement[]>(ofType(resources, 'AWS::IAM::Role').map(([id]) => [id, []]));
  for (const [, policy] of ofType(resources, 'AWS::IAM::Policy')) {
    const statements = list(at(policy.Properties, 'PolicyDocument.Statement')).map((raw) =>
      statementOf(resources, raw),
    );
    for (const role of list(policy.Properties['Roles'])) roles.get(idIn(role) ?? '')?.push(...statements);
  }
  return roles;
};

const statementOf = (resources: Resources, raw: unknown): Statement => {
  const partitions = at(raw, 'Condition.ForAllValues:StringLike.dynamodb:LeadingKeys');
  return {
    actions: list(at(raw, 'Action')).map(String),
    resources: list(at(raw, 'Resource')).map((resource) => resourceText(resources, resource)),
    conditions: at(raw, 'Condition'),
    ...(partitions === undefined ? {} : { partitions: list(partitions).map(String) }),
  };
};

const resourceText = (resources: Resources, value: unknown): string => {
  if (typeof value === 'string') return value;
  const joined = at(value, 'Fn::Join.1');
  if (Array.isArray(joined))
    return joined.map((part) => (isRecord(part) ? resourceText(resources, part) : part)).join('');
  const id = idIn(value) ?? '?';
  return `${resources[id]?.Type ?? '?'} ${id}`;
};

/**
 * What a role may do, one line a grant, such as `dynamodb:GetItem event`, `dynamodb:Query index/due`,
 * `sqs:SendMessage QueueMain`. Things of the stack go by the id that they have in the code.
 */
export const grantsOf = (statements: readonly Statement[]): readonly string[] => {
  const grants = statements.flatMap(({ actions, resources, partitions, conditions }) =>
    actions.flatMap((action) =>
      resources.flatMap((resource) => {
        if (partitions !== undefined) return partitions.map((one) => `${action} ${one.replace(/#\*$/, '')}`);
        const forSecret =
          at(conditions, 'StringEquals.kms:EncryptionContext:SecretARN') === undefined ? '' : ' of a secret';
        return [`${action} ${nameOf(resource)}${forSecret}`];
      }),
    ),
  );
  return [...new Set(grants)].toSorted();
};

/** `AWS::SQS::Queue OncewardQueueMain0190CABE` is QueueMain. */
const nameOf = (resource: string): string =>
  /\/(index\/\w+)$/.exec(resource)?.[1] ?? resource.replace(/^\S+ Onceward/, '').replace(/[0-9A-F]{8}$/, '');

/** Roles by the id that their function has in the code. */
export const grantsByRole = (resources: Resources): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    [...statementsByRole(resources)].map(([role, statements]) => [
      /^Onceward(\w+)Role[0-9A-F]{8}$/.exec(role)?.[1] ?? role,
      grantsOf(statements),
    ]),
  );

export const noWildcards: Check = (resources) =>
  [...statementsByRole(resources)].flatMap(([role, statements]) => [
    ...statements.flatMap(({ actions }) =>
      actions.filter((action) => action.includes('*')).map((action) => `${role}: ${action}`),
    ),
    ...statements.flatMap((one) =>
      one.resources.filter((text) => text.includes('*')).map((text) => `${role}: on ${text}`),
    ),
  ]);

export const noManagedPolicies: Check = (resources) =>
  ofType(resources, 'AWS::IAM::Role').flatMap(([id, { Properties }]) =>
    Properties['ManagedPolicyArns'] === undefined && Properties['Policies'] === undefined
      ? []
      : [`${id}: has others' policies`],
  );

/** On the table nothing is allowed without saying for which partitions; ForAllValues alone would allow a request without. */
export const partitionsNamed: Check = (resources) =>
  [...statementsByRole(resources)].flatMap(([role, statements]) =>
    statements.flatMap(({ actions, resources: on, partitions, conditions }) => {
      const onTable = on.some((text) => text.startsWith('AWS::DynamoDB::Table') && !text.includes('/index/'));
      if (!onTable) return [];
      const bound = partitions !== undefined && at(conditions, 'Null.dynamodb:LeadingKeys') === 'false';
      return bound ? [] : [`${role}: ${actions.join(', ')} on any partition`];
    }),
  );

const isSecretAccess = ({ partitions }: Statement): boolean => partitions?.includes('secret#*') ?? false;
const opens = ({ actions, resources }: Statement): boolean =>
  actions.includes('kms:Decrypt') && resources.some((text) => text.includes('SealingKey'));

/** A destination's secrets are for who signs and for who sets them. */
export const secretsOfDestinations: Check = (resources) =>
  [...statementsByRole(resources)].flatMap(([role, statements]) => {
    if (/(Receiver|Operator)Role/.test(role)) return [];
    const reads = statements.some(isSecretAccess);
    const opened = statements.some(
      (one) => opens(one) && at(one.conditions, 'StringEquals.kms:EncryptionContext:SecretARN') === undefined,
    );
    return [
      ...(reads ? [`${role}: reads secrets of destinations`] : []),
      ...(opened ? [`${role}: opens what is sealed`] : []),
    ];
  });
