/**
 * The client of the table, with an end to every request. The SDK's own default is to wait for ever.
 *
 *   call ── try ── connect 1 s ── answer 3 s ──┬── answered ──► result, or the service's refusal
 *    │                                         └── not: again, after a short random wait, 3 tries in all
 *    └── all tries together: LEDGER_CALL_MS, then the call is aborted, wherever it stands
 */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { LEDGER_CONNECT_MS, LEDGER_REQUEST_MS, LEDGER_TRIES_MAX } from '../../core/limits.ts';

/** The longest that one call of the ledger takes, with all its tries. */
export const LEDGER_CALL_MS = LEDGER_REQUEST_MS * LEDGER_TRIES_MAX;

/** Whatever is left out comes from the platform: region and credentials of the function's role. */
export interface LedgerClientConfig {
  readonly region?: string;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Of an engine inside this process: there is no wire to wait on, and nobody to sign for. */
  readonly requestHandler?: NonNullable<DynamoDBClientConfig['requestHandler']>;
}

const IN_PROCESS = {
  region: 'local',
  endpoint: 'http://in-process',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

const OVER_THE_WIRE = {
  connectionTimeout: LEDGER_CONNECT_MS,
  requestTimeout: LEDGER_REQUEST_MS,
  // Without this the SDK only logs a warning and goes on waiting.
  throwOnRequestTimeout: true,
  // For an answer that begins and then stands still.
  socketTimeout: LEDGER_REQUEST_MS,
};

export const createLedgerClient = ({ requestHandler, ...config }: LedgerClientConfig = {}): DynamoDBClient =>
  new DynamoDBClient({
    ...(requestHandler ? IN_PROCESS : {}),
    ...config,
    maxAttempts: LEDGER_TRIES_MAX,
    retryMode: 'standard',
    requestHandler: requestHandler ?? OVER_THE_WIRE,
  });
