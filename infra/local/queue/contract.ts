/**
 * The routes of the queue and what each takes: the one table that the server answers from and that discovery shows.
 * Strict on purpose: a field that nobody has seen the real queue take is refused, so that a guess does not look right.
 */
import * as z from 'zod/mini';

const Name = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/));
const Key = z.string().check(z.minLength(1), z.maxLength(255));
const Payload = z.record(z.string(), z.unknown());
const Seconds = z.number().check(z.minimum(0));

export const Publish = z.strictObject({
  queue: Name,
  payload: z.optional(Payload),
  /** Seen to be taken in place of `payload`, and given back as `payload`. */
  body: z.optional(Payload),
  delay_seconds: z.optional(Seconds),
  priority: z.optional(z.number()),
  idempotency_key: z.optional(Key),
});

export const Consume = z.strictObject({
  queue: Name,
  max_messages: z.optional(z.int().check(z.minimum(1), z.maximum(100))),
  visibility_timeout: z.optional(Seconds),
});

/** The handle is the message id, and may be called either. */
export const Acknowledge = z.strictObject({
  queue: Name,
  receipt_handle: z.optional(z.string()),
  message_id: z.optional(z.string()),
  idempotency_key: z.optional(Key),
});

/** `max_retries` and the rest are taken and change nothing: three deliveries have been seen, whatever was asked for. */
export const Create = z.strictObject({
  name: Name,
  type: z.optional(z.enum(['standard', 'fifo'])),
  dead_letter_queue: z.optional(Name),
  max_retries: z.optional(z.number()),
  message_retention_days: z.optional(z.number()),
  visibility_timeout_default: z.optional(z.number()),
  enable_priority: z.optional(z.boolean()),
  idempotency_key: z.optional(Key),
});

export const PushSubscribe = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  queue: z.optional(Name),
  secret: z.optional(z.string().check(z.minLength(1))),
  visibility_timeout: z.optional(Seconds),
  max_retries: z.optional(z.number()),
  dead_letter_queue: z.optional(Name),
  idempotency_key: z.optional(Key),
});

export const Redrive = z.looseObject({ message_id: z.optional(z.string()) });

export const CronCreate = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(128)),
  cron_expr: z.string(),
  task: z.url({ protocol: /^https?$/ }),
  timezone: z.optional(z.string()),
  timeout_seconds: z.optional(z.int().check(z.minimum(1), z.maximum(900))),
  payload: z.optional(z.unknown()),
  headers: z.optional(z.record(z.string(), z.string())),
  idempotency_key: z.optional(Key),
});

// ---- what is answered, for discovery ------------------------------------------------------------------------------

const Published = z.object({ message_id: z.string(), state: z.string() });
const Consumed = z.object({
  items: z.array(z.object({ message_id: z.string(), payload: Payload, delivery_count: z.int() })),
});
const Stats = z.object({
  available_count: z.int(),
  delayed_count: z.int(),
  in_flight_count: z.int(),
  dlq_count: z.int(),
  oldest_message_age_seconds: z.int(),
});
const CronList = z.object({ items: z.array(z.object({ cron_id: z.string(), name: z.string(), url: z.string() })) });
const CronMade = z.object({ job_id: z.string() });

export type CapabilityId =
  | 'queue.publish'
  | 'queue.consume'
  | 'queue.ack'
  | 'queue.create'
  | 'queue.push_subscribe'
  | 'queue.stats'
  | 'queue.list'
  | 'queue.delete'
  | 'queue.dlq.list'
  | 'queue.dlq.redrive'
  | 'cron.list'
  | 'cron.create';

export interface Capability {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly does: string;
  readonly params?: z.core.$ZodType;
  /** The data of its answer, where somebody reads it. */
  readonly answers?: z.core.$ZodType;
  readonly priceUsd?: number;
}

export const PUBLISH_USD = 0.000_02;

export const CAPABILITIES: Readonly<Record<CapabilityId, Capability>> = {
  'queue.publish': {
    method: 'POST',
    path: '/v1/queue/publish',
    does: 'Puts a message into a queue, at once or after a delay.',
    params: Publish,
    answers: Published,
    priceUsd: PUBLISH_USD,
  },
  'queue.consume': {
    method: 'POST',
    path: '/v1/queue/consume',
    does: 'Leases messages of a queue.',
    params: Consume,
    answers: Consumed,
  },
  'queue.ack': {
    method: 'POST',
    path: '/v1/queue/ack',
    does: 'Deletes a leased message.',
    params: Acknowledge,
  },
  'queue.create': { method: 'POST', path: '/v1/queue/create', does: 'Makes a queue.', params: Create },
  'queue.push_subscribe': {
    method: 'POST',
    path: '/v1/queue/push_subscribe/{queue}',
    does: 'Has the messages of a queue posted to a URL.',
    params: PushSubscribe,
  },
  'queue.stats': {
    method: 'GET',
    path: '/v1/queue/stats/{queue}',
    does: 'Counts the messages of a queue.',
    answers: Stats,
  },
  'queue.list': { method: 'GET', path: '/v1/queue/list', does: 'Names the queues.' },
  'queue.delete': {
    method: 'DELETE',
    path: '/v1/queue/delete/{queue}',
    does: 'Removes a queue and its messages.',
  },
  'queue.dlq.list': { method: 'GET', path: '/v1/queue/dlq/list/{queue}', does: 'Lists dead messages of a queue.' },
  'queue.dlq.redrive': {
    method: 'POST',
    path: '/v1/queue/dlq/redrive/{queue}',
    does: 'Puts a dead message back into its queue.',
    params: Redrive,
  },
  'cron.list': { method: 'GET', path: '/v1/cron/list', does: 'Names the schedules.', answers: CronList },
  'cron.create': {
    method: 'POST',
    path: '/v1/cron/create',
    does: 'Has a URL called on a schedule.',
    params: CronCreate,
    answers: CronMade,
  },
};

export const isCapabilityId = (id: string): id is CapabilityId => Object.hasOwn(CAPABILITIES, id);

/** What discovery says of one route, in short. Not in the envelope of the other answers. */
export const summaryOf = (id: CapabilityId) => {
  const { method, path, does, priceUsd = 0 } = CAPABILITIES[id];
  const billing = {
    is_billable: priceUsd > 0,
    free: priceUsd === 0,
    unit: 'call',
    price_usd: priceUsd,
    currency: 'USD',
  };
  return { id, method, path, summary: does, available: true, regions: ['local'], vendors: ['embedded'], billing };
};

const IDEMPOTENT: ReadonlySet<CapabilityId> = new Set(['queue.publish', 'queue.push_subscribe', 'cron.create']);

export const detailsOf = (id: CapabilityId) => {
  const { params, answers } = CAPABILITIES[id];
  return {
    ...summaryOf(id),
    idempotent: IDEMPOTENT.has(id),
    params: params && z.toJSONSchema(params),
    response: answers && z.toJSONSchema(answers),
  };
};
