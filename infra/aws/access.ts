/**
 * What each role may do, as data. Actions are listed one by one, and those on the table name the partitions that they
 * are for: a role that has no business with a kind of item cannot read it, whatever its code does.
 */
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IndexName } from '../../functions/adapters/ledger/schema.ts';

/** The kinds of partitions, by what their keys begin with; `core/keys.ts` makes them. */
export type PartitionKind =
  | 'event'
  | 'destination'
  | 'secret'
  | 'decision'
  | 'operation'
  | 'heartbeat'
  | 'token'
  | 'poison'
  | 'poison-minute';

export interface TableAccess {
  readonly get?: readonly PartitionKind[];
  readonly put?: readonly PartitionKind[];
  /** The free slots of a destination: the one update that is no swap. */
  readonly update?: readonly PartitionKind[];
  readonly query?: readonly PartitionKind[];
  readonly indexes?: readonly IndexName[];
}

export type Role = 'intake' | 'receiver' | 'reconciler' | 'operator';

export const TABLE_ACCESS: Readonly<Record<Role, TableAccess>> = {
  intake: { get: ['event', 'destination', 'token'], put: ['event'], query: ['event'] },
  receiver: {
    get: ['event', 'destination', 'secret', 'operation', 'heartbeat', 'poison', 'poison-minute'],
    put: ['event', 'destination', 'operation', 'heartbeat', 'poison', 'poison-minute'],
    update: ['destination'],
    query: ['event', 'destination', 'operation'],
    indexes: ['due', 'attention'],
  },
  reconciler: { get: ['heartbeat'] },
  operator: {
    get: ['event', 'destination', 'secret', 'decision', 'operation', 'heartbeat', 'token', 'poison'],
    put: ['event', 'destination', 'secret', 'decision', 'operation', 'token'],
    query: ['event', 'destination', 'operation'],
    indexes: ['due', 'attention', 'recent'],
  },
};

const ACTIONS = [
  ['get', 'dynamodb:GetItem'],
  ['put', 'dynamodb:PutItem'],
  ['update', 'dynamodb:UpdateItem'],
  ['query', 'dynamodb:Query'],
] as const;

/** Actions with the same partitions share a statement. */
export const tableStatements = (table: Pick<Table, 'tableArn'>, access: TableAccess): PolicyStatement[] => {
  const byPartitions = new Map<string, string[]>();
  for (const [verb, action] of ACTIONS) {
    const partitions = access[verb];
    if (partitions === undefined) continue;
    const key = partitions.join(' ');
    byPartitions.set(key, [...(byPartitions.get(key) ?? []), action]);
  }
  const onTable = [...byPartitions].map(
    ([partitions, actions]) =>
      new PolicyStatement({
        actions,
        resources: [table.tableArn],
        conditions: {
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions.split(' ').map((kind) => `${kind}#*`) },
          // ForAllValues alone also holds for a request without any key.
          Null: { 'dynamodb:LeadingKeys': 'false' },
        },
      }),
  );
  if (access.indexes === undefined) return onTable;
  const resources = access.indexes.map((name) => `${table.tableArn}/index/${name}`);
  return [...onTable, new PolicyStatement({ actions: ['dynamodb:Query'], resources })];
};

/** `consume` is what the platform does for the event source, in the name of the function. */
export type QueueVerb = 'send' | 'consume' | 'look' | 'redrive';

const QUEUE_ACTIONS: Readonly<Record<QueueVerb, readonly string[]>> = {
  send: ['sqs:SendMessage'],
  consume: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
  look: ['sqs:GetQueueAttributes'],
  redrive: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'],
};

export const queueStatement = (queue: IQueue, ...verbs: readonly QueueVerb[]): PolicyStatement =>
  new PolicyStatement({
    actions: [...new Set(verbs.flatMap((verb) => QUEUE_ACTIONS[verb]))].toSorted(),
    resources: [queue.queueArn],
  });
