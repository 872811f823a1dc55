/** The port `Ledger` on DynamoDB. */
import type { Ledger } from '../../ports.ts';
import { createDynamoStore, type DynamoOptions } from './dynamodb-store.ts';
import { createLedger } from './ledger.ts';

export const createDynamoLedger = (options: DynamoOptions): Ledger => createLedger(createDynamoStore(options));
