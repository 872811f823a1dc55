/**
 * The receiving side in one file, made to be pasted: it needs nothing but Node. The partner of the local world checks
 * signatures with the same code.
 *
 *   createServer(receiver(secret, async (id, body) => pay(id, JSON.parse(body.toString())), Date.now)).listen(3000);
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/** Standard Webhooks `v1`: an HMAC over `id.seconds.body`, at most five minutes old. A dot in an id could move bytes. */
export function isAuthentic(secret: string, headers: IncomingHttpHeaders, body: Uint8Array, nowMs: number): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  if (key.length < 24) throw new Error('the signing secret is missing or cut short: it is whsec_ and base64 text');
  const header = (name: string) => String(headers[`webhook-${name}`] ?? '');
  const [id, seconds, signatures] = [header('id'), header('timestamp'), header('signature').split(' ')];
  if (!/^[^.]+$/.test(id) || !(Math.abs(nowMs / 1000 - Number(seconds)) <= 300)) return false;
  const hmac = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body);
  const wanted = Buffer.from(`v1,${hmac.digest('base64')}`);
  const isWanted = (given: Buffer) => given.length === wanted.length && timingSafeEqual(given, wanted);
  return signatures.some((signature) => isWanted(Buffer.from(signature)));
}

/** Calls `act` once for each id: 204 when that is done, now or earlier; 500 when it failed, so the sender repeats. */
export function receiver(secret: string, act: (id: string, body: Buffer) => Promise<void>, nowMs: () => number) {
  // Lost at a restart: in earnest this is a table with a unique key, written in the same transaction as the effect.
  const acts = new Map<string, Promise<void>>();
  const statusOf = async (req: IncomingMessage): Promise<number> => {
    if (!(Number(req.headers['content-length']) <= 1_000_000)) return 413;
    const body = Buffer.concat(await req.toArray());
    if (!isAuthentic(secret, req.headers, body, nowMs())) return 401;
    const id = String(req.headers['webhook-id']);
    let acting = acts.get(id);
    if (acting === undefined) {
      acting = act(id, body);
      acts.set(id, acting);
      acting.catch(() => acts.delete(id));
    }
    await acting;
    return 204;
  };
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const status = await statusOf(req).catch(() => 500);
    res.writeHead(status).end();
  };
}
