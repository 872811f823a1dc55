/**
 * Who looks at a page. Signing in puts the token into a cookie, and every request looks it up again:
 *
 *   token --sign in--> cookie (HttpOnly, Strict, 12 h) --every request--> the ledger --revoked--> signed out
 *
 * The cookie holds the token itself. Anything else would need either a key that all instances share, to seal it with, or
 * a stored session, to look it up by; and neither would be worth more to a thief, since both open the same door for as
 * long as they live. What the ledger has (a hash) is in no cookie: whoever reads the table cannot make a session of it.
 *
 * A form carries a second text that a stranger's page cannot know: a MAC under the token. It is on top of the cookie's
 * `SameSite=Strict` and of the check of `Origin` and `Sec-Fetch-Site`.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Right, Token } from '../../core/items.ts';
import { type Door, isAllowed, isTokenText, type Signed } from '../../http/auth.ts';

export interface Visitor {
  readonly name: string;
  /** In every form, and checked with every change. */
  readonly formMark: string;
  may(right: Right): boolean;
}

export interface Seen {
  readonly Variables: Signed['Variables'] & { readonly visitor?: Visitor };
}

const SESSION_SEC = 12 * 3_600;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** A browser takes `__Host-` only with Secure, over TLS, for this host alone and the whole of it. */
const PLAIN_NAME = 'onceward';
const SECURE_NAME = `__Host-${PLAIN_NAME}`;

/** Without TLS only on this machine itself, where nobody is in between. */
const isPlain = (context: Context): boolean => {
  const { protocol, hostname } = new URL(context.req.url);
  return protocol === 'http:' && LOOPBACK.test(hostname);
};

const cookieName = (context: Context): string => (isPlain(context) ? PLAIN_NAME : SECURE_NAME);

export const beginSession = (context: Context, token: string): void =>
  setCookie(context, cookieName(context), token, {
    httpOnly: true,
    sameSite: 'Strict',
    secure: !isPlain(context),
    path: '/',
    maxAge: SESSION_SEC,
  });

export const endSession = (context: Context): void => {
  deleteCookie(context, cookieName(context), { path: '/', secure: !isPlain(context) });
};

const markOf = (token: string): string =>
  createHmac('sha256', token).update('onceward console form 1').digest('base64url');

const visitorOf = (token: Token, text: string): Visitor => ({
  name: token.name,
  formMark: markOf(text),
  may: (right) => isAllowed(token, right),
});

export const isOwnForm = ({ formMark }: Visitor, given: string): boolean => {
  const [mine, theirs] = [Buffer.from(formMark), Buffer.from(given)];
  return mine.length === theirs.length && timingSafeEqual(mine, theirs);
};

/** Lets nobody in; says who is there. A token that was revoked, or may not look, is nobody, and its cookie goes. */
export const recognised =
  (door: Door): MiddlewareHandler<Seen> =>
  async (context, next) => {
    const text = getCookie(context, cookieName(context));
    if (text !== undefined) {
      const presented = isTokenText(text) ? await door(text) : undefined;
      if (presented?.kind === 'known' && isAllowed(presented.token, 'view')) {
        context.set('actor', presented.token.name);
        context.set('visitor', visitorOf(presented.token, text));
      } else if (presented?.kind !== 'wait') endSession(context);
    }
    await next();
  };
