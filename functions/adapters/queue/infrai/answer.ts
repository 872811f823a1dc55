/** What Infrai's answer to a publish means. Business rejections are 4xx with an envelope, so the body is read first. */

import * as z from 'zod/mini';
import type { Published } from '../../../ports.ts';

/** `unavailable` may have been published all the same: its answer is what got lost. */
export type PublishFailure =
  | 'too-large'
  | 'delay-too-long'
  | 'senseless-message'
  | 'unauthorized'
  | 'no-credit'
  | 'throttled'
  | 'refused'
  | 'unavailable'
  | 'senseless-answer';

export const READ_BYTES_MAX = 64 * 1_024;

const Envelope = z.object({ ok: z.boolean(), data: z.optional(z.unknown()), error: z.optional(z.unknown()) });
/** The state that stands beside the id is not read: it has been seen saying "available" of a delayed message. */
const Data = z.object({ message_id: z.string().check(z.regex(/^[!-~]{1,256}$/)) });
/** Codes only. The texts beside it are written by somebody else and may quote what was sent, the key included. */
const Refusal = z.object({ code: z.string().check(z.regex(/^[A-Z][A-Z0-9_]{0,63}$/)) });

/** `text` is undefined where the answer was larger than `READ_BYTES_MAX`. */
export const publishedFrom = (status: number, text: string | undefined): Published => {
  const envelope = envelopeOf(text);
  const refusal = Refusal.safeParse(envelope?.error);
  const code = refusal.success ? refusal.data.code : undefined;
  const told = `status ${status}${code === undefined ? '' : `, ${code}`}`;
  if (status === 402 || code === 'INSUFFICIENT_CREDIT') {
    return failed('no-credit', `the queue's account is out of credit: top it up (${told})`);
  }
  if (status === 401 || status === 403) return failed('unauthorized', `the queue refuses the API key (${told})`);
  if (status === 413) return failed('too-large', `the queue finds the message too large (${told})`);
  if (status === 429) return failed('throttled', `the queue wants fewer calls (${told})`);
  if (status >= 500 || status === 408) return failed('unavailable', `the queue is not able to answer (${told})`);
  if (status >= 400 || envelope?.ok === false) return failed('refused', `the queue refuses the message (${told})`);
  const data = Data.safeParse(envelope?.data);
  if (status >= 200 && status < 300 && data.success) {
    return { kind: 'published', messageId: data.data.message_id };
  }
  return failed('senseless-answer', `the answer of the queue makes no sense: is its address right? (${told})`);
};

const failed = (code: PublishFailure, detail: string): Published => ({ kind: 'failed', code, detail });

const envelopeOf = (text: string | undefined): z.infer<typeof Envelope> | undefined => {
  if (text === undefined) return undefined;
  try {
    return Envelope.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
