/** A push over real HTTP, signed over the bytes that leave. */

import { createHmac } from 'node:crypto';
import { Agent } from 'undici';
import type { PostPush } from './pusher.ts';
import type { Timers } from './timers.ts';

export interface PushSigning {
  readonly header: string;
  /** Stands before the hex digits, such as `sha256=`. */
  readonly prefix: string;
  /** When set, it carries unix seconds, and `<seconds>.<body>` is what is signed. */
  readonly timestampHeader?: string | undefined;
}

export const PUSH_SIGNING: PushSigning = { header: 'x-infrai-signature', prefix: '' };

const DRAINED_BYTES_MAX = 64 * 1_024;

export const createHttpPush = (timers: Timers, signing: PushSigning): { post: PostPush; close(): Promise<void> } => {
  // The deadline of a push is the abort signal: the client's own timers would cut it short.
  const agent = new Agent({ allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  const post: PostPush = async (to, { message }, signal) => {
    const body = Buffer.from(`{"message_id":${JSON.stringify(message.id)},"payload":${message.payload}}`, 'utf8');
    const url = new URL(to.url);
    try {
      const response = await agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(to.secret === undefined ? {} : signatureOf(to.secret, body, signing, timers.nowMs())),
        },
        body,
        signal,
      });
      // The status is the answer. What comes behind it is read away, so that the connection can be used again.
      response.body.dump({ limit: DRAINED_BYTES_MAX, signal }).catch(() => {});
      return response.statusCode;
    } catch {
      return undefined;
    }
  };
  return { post, close: () => agent.destroy() };
};

const signatureOf = (secret: string, body: Uint8Array, signing: PushSigning, nowMs: number): Record<string, string> => {
  const { header, prefix, timestampHeader } = signing;
  const seconds = String(Math.floor(nowMs / 1_000));
  const head = timestampHeader === undefined ? '' : `${seconds}.`;
  const digest = createHmac('sha256', secret).update(head, 'utf8').update(body).digest('hex');
  return { [header]: `${prefix}${digest}`, ...(timestampHeader === undefined ? {} : { [timestampHeader]: seconds }) };
};
