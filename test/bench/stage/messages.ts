/** What goes in: the same event for everybody, numbered, with a payload of a given size. */
import { createHmac } from 'node:crypto';

export const PUSH_SECRET = 'the-secret-of-the-push-side';
export const BENCH_TOKEN = 'bench-admin-token-0123456789';
export const DESTINATION = 'partner';

export const eventNameOf = (n: number): string => `order-${String(n).padStart(9, '0')}`;

/** JSON of exactly so many bytes. */
export const payloadOf = (n: number, bytes: number): string => {
  const head = `{"order":${n},"note":"`;
  return `${head}${'x'.repeat(Math.max(0, bytes - head.length - 2))}"}`;
};

export const eventBodyOf = (n: number, payloadBytes: number): string =>
  `{"id":"${eventNameOf(n)}","destinations":["${DESTINATION}"],"payload":${payloadOf(n, payloadBytes)}}`;

/** A reference, as intake publishes it, in the queue's own wrapping. */
export const pushBodyOf = (n: number): string =>
  `{"message_id":"message-${n}","payload":{"kind":"deliver","format":1,"event":"${eventNameOf(n)}","destination":"${DESTINATION}"}}`;

export const pushHeadersOf = (body: string): Record<string, string> => ({
  'content-type': 'application/json',
  'x-infrai-signature': createHmac('sha256', PUSH_SECRET).update(body).digest('hex'),
});
