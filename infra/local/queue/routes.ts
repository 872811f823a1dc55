/** What each route of the queue does with a request. Parsing happens here, once; the engine gets values. */

import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type * as z from 'zod/mini';
import { type JsonDocument, memberOf, plainOf, readJson } from '../../../functions/core/json-tree.ts';
import * as answers from './answers.ts';
import {
  Acknowledge,
  type CapabilityId,
  Consume,
  Create,
  PUBLISH_USD,
  Publish,
  PushSubscribe,
  Redrive,
} from './contract.ts';
import { deadLettersOf, type QueueEngine } from './engine.ts';
import type { Faults } from './faults.ts';
import type { Taken } from './mailbox.ts';

/** `incoming` is there when the request came over a socket, and not when the app is called in the process. */
export type LocalContext = Context<{ Bindings: Partial<HttpBindings> }>;
export type Route = (c: LocalContext) => Response | Promise<Response>;

export interface RouteSettings {
  /** The answer deadline of a push whose subscription names none. */
  readonly answerMs: number;
  /** The list of dead letters has been seen empty while a message was dead. */
  readonly dlqListLies: boolean;
  readonly faults: Pick<Faults, 'failsStats'>;
}

export const routesOf = (
  engine: QueueEngine,
  say: answers.Answers,
  settings: RouteSettings,
): Readonly<Record<Exclude<CapabilityId, `cron.${string}`>, Route>> => ({
  'queue.publish': publishRoute(engine, say),
  ...pullRoutes(engine, say),
  ...queueRoutes(engine, say, settings),
  ...deadLetterRoutes(engine, say, settings),
});

type Read<T> = { readonly kind: 'read'; readonly value: T; readonly document: JsonDocument } | ReadFault;
type ReadFault = { readonly kind: 'fault'; readonly problem: answers.Problem };
const fault = (message: string): ReadFault => ({ kind: 'fault', problem: answers.invalid(message) });

/** No body is an empty object. */
const read = async <T>(c: LocalContext, schema: z.ZodMiniType<T>): Promise<Read<T>> => {
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  const document = readJson(bytes.length === 0 ? new TextEncoder().encode('{}') : bytes);
  if (document.kind === 'bad') return fault(`the body ${document.reason}`);
  const checked = schema.safeParse(plainOf(document.root));
  if (checked.success) return { kind: 'read', value: checked.data, document };
  const [issue] = checked.error.issues;
  return fault(`${issue?.path.join('.') || 'the body'}: ${issue?.message ?? 'is not right'}`);
};

const publishRoute =
  (engine: QueueEngine, say: answers.Answers): Route =>
  async (c) => {
    const request = await read(c, Publish);
    if (request.kind === 'fault') return say.refused(c, request.problem);
    const { value, document } = request;
    const payload = memberOf(document.root, 'payload') ?? memberOf(document.root, 'body');
    if (payload === undefined) return say.refused(c, answers.invalid('payload: is missing'));
    const header = c.req.header('idempotency-key');
    const key = header ?? value.idempotency_key;
    if (value.idempotency_key !== undefined && key !== value.idempotency_key) {
      return say.refused(c, answers.KEYS_DIFFER);
    }
    const result = engine.publish(value.queue, {
      payload: document.text.slice(payload.start, payload.end),
      delayMs: Math.ceil((value.delay_seconds ?? 0) * 1_000),
      key,
    });
    if (result.kind === 'failed') return say.refused(c, answers.UNAVAILABLE);
    if (result.kind === 'refused') return say.refused(c, answers.REFUSALS[result.refusal]);
    if (!result.answered) return cutOff(c, say);
    // "available" of a delayed message as well: the real one has been seen saying so.
    const data = { message_id: result.messageId, state: 'available' };
    return say.ok(c, data, { costUsd: result.repeated ? 0 : PUBLISH_USD, repeated: result.repeated });
  };

/** The work is done and nobody is told. Without a socket to break, a 503 comes nearest. */
const cutOff = (c: LocalContext, say: answers.Answers): Response => {
  const socket = c.env?.incoming?.socket;
  if (socket === undefined) return say.refused(c, answers.UNAVAILABLE);
  socket.destroy();
  return RESPONSE_ALREADY_SENT;
};

const itemText = ({ message, delivery }: Taken): string =>
  `{"message_id":${JSON.stringify(message.id)},"delivery_count":${delivery},"payload":${message.payload}}`;

const pullRoutes = (engine: QueueEngine, say: answers.Answers) => ({
  'queue.consume': async (c: LocalContext) => {
    const request = await read(c, Consume);
    if (request.kind === 'fault') return say.refused(c, request.problem);
    const { queue, max_messages = 1, visibility_timeout } = request.value;
    const leaseMs = visibility_timeout === undefined ? undefined : visibility_timeout * 1_000;
    const taken = engine.consume(queue, max_messages, leaseMs);
    if (taken === undefined) return say.refused(c, answers.NO_QUEUE);
    return say.okText(c, `{"items":[${taken.map(itemText).join(',')}]}`);
  },
  'queue.ack': async (c: LocalContext) => {
    const request = await read(c, Acknowledge);
    if (request.kind === 'fault') return say.refused(c, request.problem);
    const { queue, receipt_handle, message_id } = request.value;
    const id = receipt_handle ?? message_id;
    if (id === undefined) return say.refused(c, answers.invalid('receipt_handle: is missing'));
    if (!engine.acknowledge(queue, id)) return say.refused(c, answers.NOT_IN_FLIGHT);
    return say.ok(c, { acknowledged: true });
  },
});

const nameOf = (c: LocalContext): string => c.req.param('queue') ?? '';

const queueRoutes = (engine: QueueEngine, say: answers.Answers, { answerMs, faults }: RouteSettings) => ({
  'queue.create': async (c: LocalContext) => {
    const request = await read(c, Create);
    if (request.kind === 'fault') return say.refused(c, request.problem);
    const { name } = request.value;
    engine.create(name);
    return say.ok(c, { name, dead_letter_queue: deadLettersOf(name) });
  },
  'queue.push_subscribe': async (c: LocalContext) => {
    const request = await read(c, PushSubscribe);
    if (request.kind === 'fault') return say.refused(c, request.problem);
    const { url, secret, queue = nameOf(c), visibility_timeout } = request.value;
    if (queue !== nameOf(c)) return say.refused(c, answers.invalid('queue: differs from the one in the path'));
    const subscription = {
      url,
      secret,
      answerMs: visibility_timeout === undefined ? answerMs : visibility_timeout * 1_000,
    };
    if (!engine.subscribe(queue, subscription)) return say.refused(c, answers.NO_QUEUE);
    return say.ok(c, { id: `sub_${queue}`, queue, subscribed: true });
  },
  'queue.stats': (c: LocalContext) => {
    const stats = engine.stats(nameOf(c));
    if (stats === undefined) return say.refused(c, answers.NO_QUEUE);
    if (faults.failsStats()) return say.refused(c, answers.UNAVAILABLE);
    return say.ok(c, {
      available_count: stats.available,
      delayed_count: stats.delayed,
      in_flight_count: stats.inFlight,
      dlq_count: stats.dead,
      oldest_message_age_seconds: Math.floor(stats.oldestAgeMs / 1_000),
    });
  },
  'queue.list': (c: LocalContext) => say.ok(c, { items: engine.names().map((name) => ({ name, type: 'standard' })) }),
  'queue.delete': (c: LocalContext) =>
    engine.remove(nameOf(c)) ? say.ok(c, { deleted: true }) : say.refused(c, answers.NO_QUEUE),
});

const deadLetterRoutes = (engine: QueueEngine, say: answers.Answers, { dlqListLies }: RouteSettings) => ({
  'queue.dlq.list': (c: LocalContext) => {
    const dead = engine.deadLetters(nameOf(c));
    if (dead === undefined) return say.refused(c, answers.NO_QUEUE);
    const told = dlqListLies ? [] : dead;
    const items = told.map(({ id, payload }) => `{"message_id":${JSON.stringify(id)},"payload":${payload}}`);
    return say.okText(c, `{"items":[${items.join(',')}]}`);
  },
  'queue.dlq.redrive': async (c: LocalContext) => {
    const request = await read(c, Redrive);
    if (request.kind === 'fault') return say.refused(c, request.problem);
    if (engine.stats(nameOf(c)) === undefined) return say.refused(c, answers.NO_QUEUE);
    const { message_id } = request.value;
    // Without an id the real one has been seen saying ok and doing nothing.
    if (message_id === undefined) return say.ok(c, { redriven: 0 });
    if (!engine.redrive(nameOf(c), message_id)) return say.refused(c, answers.NO_DEAD_MESSAGE);
    return say.ok(c, { redriven: 1 });
  },
});
