/**
 * What this code asks of Infrai: each route, each field that it sends and each that it reads, in one table. Held against
 * the queue's own discovery documents by `queue contract`; a test holds it against what the code really sends.
 *
 * Most of the real contract is known second-hand, and parts of it contradict each other. So nothing here is taken for
 * granted: where the documents say otherwise, or nothing, the report says so.
 */

export type JsonType = 'string' | 'integer' | 'object';

export interface SentField {
  readonly name: string;
  readonly type: JsonType;
  /** The largest value that is ever sent: seconds, counts. */
  readonly most?: number;
  /** The longest text that is ever sent, in characters. */
  readonly longest?: number;
  /** Sent only where the documents name it, and there is something to send. */
  readonly optional?: boolean;
}

export interface ReadField {
  /** Any of these spellings is understood. */
  readonly names: readonly string[];
  /** Without it the answer is of no use. */
  readonly needed: boolean;
  /** Inside of each member of this list. */
  readonly inside?: readonly string[];
}

export interface Use {
  readonly capability: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly sends: readonly SentField[];
  readonly reads: readonly ReadField[];
  /** The same request under one `Idempotency-Key` has to be one. */
  readonly idempotent?: boolean;
}

const NAME_CHARS_MAX = 512;
const KEY_CHARS = 46;
const LIST = ['items', 'messages'];

export const USES: readonly Use[] = [
  {
    capability: 'queue.publish',
    method: 'POST',
    path: '/v1/queue/publish',
    sends: [
      { name: 'queue', type: 'string', longest: NAME_CHARS_MAX },
      { name: 'payload', type: 'object' },
      { name: 'delay_seconds', type: 'integer', most: 7 * 24 * 3_600 },
      { name: 'idempotency_key', type: 'string', longest: KEY_CHARS },
    ],
    reads: [{ names: ['message_id'], needed: true }],
    idempotent: true,
  },
  {
    capability: 'queue.consume',
    method: 'POST',
    path: '/v1/queue/consume',
    sends: [
      { name: 'queue', type: 'string', longest: NAME_CHARS_MAX },
      { name: 'max_messages', type: 'integer', most: 10 },
      { name: 'visibility_timeout', type: 'integer', most: 900 },
    ],
    reads: [
      { names: LIST, needed: true },
      { names: ['message_id'], needed: true, inside: LIST },
      { names: ['payload', 'body'], needed: true, inside: LIST },
      { names: ['delivery_count'], needed: false, inside: LIST },
      { names: ['receipt_handle'], needed: false, inside: LIST },
    ],
  },
  {
    capability: 'queue.ack',
    method: 'POST',
    path: '/v1/queue/ack',
    sends: [
      { name: 'queue', type: 'string', longest: NAME_CHARS_MAX },
      { name: 'receipt_handle', type: 'string' },
    ],
    reads: [],
  },
  {
    capability: 'queue.stats',
    method: 'GET',
    path: '/v1/queue/stats/{queue}',
    sends: [],
    reads: [
      { names: ['dlq_count'], needed: true },
      { names: ['available_count'], needed: false },
      { names: ['delayed_count'], needed: false },
      { names: ['in_flight_count'], needed: false },
      { names: ['oldest_message_age_seconds'], needed: false },
    ],
  },
  {
    capability: 'queue.dlq.redrive',
    method: 'POST',
    path: '/v1/queue/dlq/redrive/{queue}',
    sends: [{ name: 'message_id', type: 'string' }],
    reads: [],
  },
  {
    capability: 'queue.push_subscribe',
    method: 'POST',
    path: '/v1/queue/push_subscribe/{queue}',
    sends: [
      { name: 'url', type: 'string', longest: 2_048 },
      { name: 'secret', type: 'string', longest: 512 },
    ],
    reads: [],
    idempotent: true,
  },
  {
    capability: 'cron.list',
    method: 'GET',
    path: '/v1/cron/list',
    sends: [],
    reads: [{ names: ['items'], needed: true }],
  },
  {
    capability: 'cron.create',
    method: 'POST',
    path: '/v1/cron/create',
    sends: [
      { name: 'name', type: 'string', longest: 128 },
      { name: 'cron_expr', type: 'string' },
      { name: 'task', type: 'string', longest: 2_048 },
      { name: 'timeout_seconds', type: 'integer', most: 60 },
      { name: 'headers', type: 'object' },
    ],
    reads: [{ names: ['job_id', 'cron_id', 'id'], needed: false }],
    idempotent: true,
  },
];

export const useOf = (capability: string): Use => {
  const use = USES.find((one) => one.capability === capability);
  if (use === undefined) throw new TypeError(`${capability} is not used`);
  return use;
};
