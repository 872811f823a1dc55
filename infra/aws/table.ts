/** The ledger's table, made from the same schema module that the adapter uses. */
import { RemovalPolicy } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  ProjectionType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { INDEXES, type KeySchema, TABLE_KEY, TTL_ATTRIBUTE } from '../../functions/adapters/ledger/schema.ts';

const attribute = ({ name, type }: KeySchema['partition']): Attribute => ({
  name,
  type: type === 'S' ? AttributeType.STRING : AttributeType.NUMBER,
});

const keys = ({ partition, sort }: KeySchema) => ({ partitionKey: attribute(partition), sortKey: attribute(sort) });

export class LedgerTable extends Construct {
  readonly table: Table;

  constructor(scope: Construct, id: string, { disposable }: { readonly disposable: boolean }) {
    super(scope, id);
    // The ids "Ledger" and "Table" are part of the table's logical id: with another one, CloudFormation would make a new,
    // empty table and leave this one behind.
    this.table = new Table(this, 'Table', {
      ...keys(TABLE_KEY),
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.DEFAULT,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      timeToLiveAttribute: TTL_ATTRIBUTE,
      deletionProtection: !disposable,
      removalPolicy: disposable ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
    });
    for (const index of Object.values(INDEXES)) {
      this.table.addGlobalSecondaryIndex({
        indexName: index.name,
        ...keys(index),
        projectionType: ProjectionType.KEYS_ONLY,
      });
    }
  }
}
