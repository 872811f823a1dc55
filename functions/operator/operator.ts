/** The ports that the operator's faces need together. */
import type { World } from '../ports.ts';

export type Operator = Pick<
  World,
  'ledger' | 'pages' | 'pace' | 'queue' | 'deadLetters' | 'sender' | 'secrets' | 'clock' | 'dice' | 'telemetry'
>;
