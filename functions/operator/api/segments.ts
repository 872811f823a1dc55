/** What all routes share: path segments, bodies, and the answers for what is not there. */
import type { Context } from 'hono';
import { type DestinationId, decodeSegment, type EventId, parseDestinationId, parseEventId } from '../../core/ids.ts';
import { plainOf, readJson } from '../../core/json-tree.ts';
import { rawBody } from '../../http/body.ts';
import type { Problem } from '../../http/problem.ts';

export const absent = (what: string): Problem => ({ status: 404, code: 'not-found', detail: `${what} does not exist` });

export const newer: Problem = {
  status: 503,
  code: 'written-by-newer-code',
  detail: 'this item was written by newer code; repeat when the deploy is done',
};

export type Read<T> = { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'bad'; readonly problem: Problem };

/** A path segment as it came, decoded exactly once: a framework's own decoding would turn `%2F` into a border. */
export const textSegment = <Id>(
  context: Context,
  index: number,
  field: string,
  parse: (value: unknown) => { kind: 'ok'; id: Id } | { kind: 'bad'; reason: string },
): Read<Id> => {
  const raw = new URL(context.req.url).pathname.split('/')[index] ?? '';
  const decoded = decodeSegment(raw);
  const id = decoded.kind === 'ok' ? parse(decoded.text) : decoded;
  if (id.kind === 'ok') return { kind: 'ok', value: id.id };
  return { kind: 'bad', problem: { status: 422, code: 'invalid', detail: `${field} ${id.reason}`, field } };
};

/** `/v1/events/{event}/...` */
export const eventSegment = (context: Context): Read<EventId> => textSegment(context, 3, 'event', parseEventId);

/** `/v1/destinations/{destination}/...` */
export const destinationSegment = (context: Context): Read<DestinationId> =>
  textSegment(context, 3, 'destination', parseDestinationId);

/** `/v1/events/{event}/deliveries/{destination}/...` */
export const deliverySegments = (context: Context): Read<{ event: EventId; destination: DestinationId }> => {
  const event = eventSegment(context);
  if (event.kind === 'bad') return event;
  const destination = textSegment(context, 5, 'destination', parseDestinationId);
  if (destination.kind === 'bad') return destination;
  return { kind: 'ok', value: { event: event.value, destination: destination.value } };
};

/** The body as plain values, its raw bytes read strictly: duplicate members are refused. An empty body is `undefined`. */
export const jsonBody = async (context: Context): Promise<Read<unknown>> => {
  const bytes = await rawBody(context);
  if (bytes.byteLength === 0) return { kind: 'ok', value: undefined };
  const document = readJson(bytes);
  if (document.kind === 'ok') return { kind: 'ok', value: plainOf(document.root) };
  const field = document.field === undefined ? {} : { field: document.field };
  const detail = `${document.field ?? 'the body'} ${document.reason}`;
  return { kind: 'bad', problem: { status: 400, code: 'malformed-json', detail, ...field } };
};
