/** The port `Pages` on the indexes of DynamoDB. The clock says which days are recent. */
import type { Clock, Pages } from '../../ports.ts';
import { createDynamoStore, type DynamoOptions } from './dynamodb-store.ts';
import { createPages } from './lists.ts';

export const createDynamoPages = (options: DynamoOptions, clock: Pick<Clock, 'nowMs'>): Pages =>
  createPages(createDynamoStore(options), clock);
