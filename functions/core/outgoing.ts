/** The headers of a request to a destination: its own, and on top of them those that are ours. Signed at the time given. */
import { CONTENT_TYPE, IDEMPOTENCY_KEY, TRACEPARENT, USER_AGENT } from './headers.ts';
import { type SignInput, signatureHeaders } from './signature.ts';

const AGENT = 'onceward/1';

export interface Outgoing extends SignInput {
  /** What the destination's settings add. */
  readonly own: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly traceparent: string;
}

/** `id` is the key of the request: the same on every attempt, under both of its names. */
export const outgoingHeaders = (outgoing: Outgoing): Readonly<Record<string, string>> => ({
  ...outgoing.own,
  [CONTENT_TYPE]: outgoing.contentType,
  [USER_AGENT]: AGENT,
  [IDEMPOTENCY_KEY]: outgoing.id,
  [TRACEPARENT]: outgoing.traceparent,
  ...signatureHeaders(outgoing),
});
