/** Bearer tokens (RFC 6750). Only a token's hash is stored; its name is the actor of what is done with it. */
import { createHash } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import type { Right, Token } from '../core/items.ts';
import type { Ledger } from '../ports.ts';
import { problem } from './problem.ts';

export const RIGHTS = ['view', 'send', 'pause', 'resend', 'decide', 'admin'] as const satisfies readonly Right[];

export interface Signed {
  readonly Variables: { readonly actor: string };
}

const TOKEN_CHARS_MAX = 512;

export const tokenHash = (token: string): string => createHash('sha256').update(token, 'utf8').digest('base64url');

/** The token of the header, or undefined where there is none, or more than one, or another scheme. */
const bearerOf = (header: string | undefined): string | undefined => {
  const match = header === undefined ? null : /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header);
  return match?.[1] !== undefined && match[1].length <= TOKEN_CHARS_MAX ? match[1] : undefined;
};

const loadToken = async (ledger: Ledger, text: string): Promise<Token | undefined> => {
  const found = await ledger.load({ item: 'token', hash: tokenHash(text) });
  return found.kind === 'found' && found.item.revokedAtMs === undefined ? found.item : undefined;
};

/** Lets a request through whose token has the right; `admin` has them all. */
export const needs =
  (ledger: Ledger, right: Right): MiddlewareHandler<Signed> =>
  async (context, next) => {
    const text = bearerOf(context.req.header('authorization'));
    if (text === undefined) return unsigned(context, 'send a token as "Authorization: Bearer <token>"');
    const token = await loadToken(ledger, text);
    if (token === undefined) return unsigned(context, 'this token is not known or was revoked');
    if (!token.rights.includes(right) && !token.rights.includes('admin')) {
      const detail = `token ${token.name} lacks the right "${right}"`;
      return problem(context, { status: 403, code: 'right-missing', detail });
    }
    context.set('actor', token.name);
    return next();
  };

const unsigned = (context: Context, detail: string): Response =>
  problem(context, { status: 401, code: 'not-signed-in', detail });
