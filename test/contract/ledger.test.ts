import { afterAll } from 'vitest';
import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { ledgerContract } from './ledger.ts';
import { dynamoHarness, twinHarness } from './ledger-harness.ts';

ledgerContract('the twin in memory', twinHarness, 20);

const engine = await openEmbeddedDynamo();
afterAll(() => engine.close());

ledgerContract(
  'the embedded engine',
  dynamoHarness(() => createLedgerClient({ requestHandler: engine.requestHandler })),
  10,
);
