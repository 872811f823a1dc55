/** What goes in: the same event for everybody, numbered, with a payload of a given size. */
import { createHmac } from 'node:crypto';

export const PUSH_SECRET = 'the-secret-of-the-push-side';
export const BENCH_TOKEN = 'bench-admin-token-0123456789';
/** To one destination, to a thousand evenly, or every second one to the first of a thousand. */
export type Spread = 'one' | 'even' | 'hot';

const MANY = 1_000;
const destinationNamed = (n: number): string => `partner-${n}`;

export const destinationsOf = (spread: Spread = 'one'): readonly string[] =>
  Array.from({ length: spread === 'one' ? 1 : MANY }, (_, n) => destinationNamed(n));

const destinationOf = (n: number, spread: Spread): string => {
  if (spread === 'one' || (spread === 'hot' && n % 2 === 0)) return destinationNamed(0);
  return destinationNamed(n % MANY);
};

export const eventNameOf = (n: number): string => `order-${String(n).padStart(9, '0')}`;

/** JSON of exactly so many bytes. */
export const payloadOf = (n: number, bytes: number): string => {
  const head = `{"order":${n},"note":"`;
  return `${head}${'x'.repeat(Math.max(0, bytes - head.length - 2))}"}`;
};

export const eventBodyOf = (n: number, payloadBytes: number, spread: Spread = 'one'): string =>
  `{"id":"${eventNameOf(n)}","destinations":["${destinationOf(n, spread)}"],"payload":${payloadOf(n, payloadBytes)}}`;

/** A reference, as intake publishes it, in the queue's own wrapping. */
export const pushBodyOf = (n: number, spread: Spread = 'one'): string =>
  `{"message_id":"message-${n}","payload":{"kind":"deliver","format":1,"event":"${eventNameOf(n)}","destination":"${destinationOf(n, spread)}"}}`;

export const pushHeadersOf = (body: string): Record<string, string> => ({
  'content-type': 'application/json',
  'x-infrai-signature': createHmac('sha256', PUSH_SECRET).update(body).digest('hex'),
});
