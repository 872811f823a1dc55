/** Tokens, as the API shows them: names and rights, and the text of a new one, once. */
import * as z from 'zod/mini';
import { text, time } from './parts.ts';

const rights = z.array(z.enum(['view', 'send', 'pause', 'resend', 'decide', 'admin']));

const token = { name: text, rights, createdAt: time };

export const tokenListAnswer = z.object({ items: z.array(z.object(token)) });

/** `token` is there in the first answer only: it is stored hashed, and nobody can say it again. */
export const tokenCreatedAnswer = z.object({ ...token, token: z.optional(text), decision: text });

export const tokenRevokedAnswer = z.object({ name: text, revokedAt: time, decision: text });

/** `signingSecret` is there where it was made here, and in the first answer only. */
export const secretRotatedAnswer = z.object({
  destination: text,
  signingSecret: z.optional(text),
  /** Newest first: each of them signs every request until it ends. */
  live: z.array(z.object({ endsAt: z.optional(time) })),
  decision: text,
});
