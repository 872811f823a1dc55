/** Signing in by a token, and out again. */
import type { Context, Hono } from 'hono';
import { html } from 'hono/html';
import { type Door, isAllowed, isTokenText } from '../../http/auth.ts';
import { rawBody } from '../../http/body.ts';
import type { Operator } from '../operator.ts';
import { readForm } from './changes/form.ts';
import { problemPage } from './frame.ts';
import { bare, brand } from './layout.ts';
import { HOME } from './links.ts';
import { beginSession, endSession, type Seen } from './session.ts';
import { NOTHING, shown } from './text.ts';

const PATH = `${HOME}/sign-in`;

export const addSignIn = (app: Hono<Seen>, world: Operator, door: Door): void => {
  app.get(PATH, (context) => {
    const next = nextIn(context.req.query('next'));
    return context.get('visitor') === undefined ? signInPage(context, next) : context.redirect(next ?? HOME, 303);
  });
  app.post(PATH, (context) => signIn(context, door));
  app.post(`${HOME}/sign-out`, async (context) => {
    const visitor = context.get('visitor');
    if (visitor === undefined) return context.redirect(PATH, 303);
    const form = await readForm({ context, world, visitor });
    if (form.kind === 'bad') return problemPage(context, form.problem, world.clock.nowMs());
    endSession(context);
    return context.redirect(PATH, 303);
  });
};

const signIn = async (context: Context<Seen>, door: Door): Promise<Response> => {
  const form = new URLSearchParams(Buffer.from(await rawBody(context)).toString('utf8'));
  const text = (form.get('token') ?? '').trim();
  const next = nextIn(form.get('next') ?? undefined);
  const presented = isTokenText(text) ? await door(text) : ({ kind: 'unknown' } as const);
  switch (presented.kind) {
    case 'wait':
      context.header('retry-after', String(presented.waitSec));
      return signInPage(context, next, `This token has failed too often. Try again in ${presented.waitSec} s.`, 429);
    case 'unknown':
      return signInPage(context, next, 'This token is not known, or was revoked.', 401);
    case 'known': {
      const { token } = presented;
      if (!isAllowed(token, 'view')) {
        return signInPage(context, next, `Token ${token.name} lacks the right "view".`, 403);
      }
      context.set('actor', token.name);
      beginSession(context, text);
      return context.redirect(next ?? HOME, 303);
    }
  }
};

const signInPage = (
  context: Context<Seen>,
  next: string | undefined,
  says?: string,
  status: 200 | 401 | 403 | 429 = 200,
): Response | Promise<Response> => {
  const body = html`<main class="sign" id="main"><div class="brand">${brand}</div><h1>Sign in</h1><p>With a token that may view. What you do here is recorded under its name.</p>
${says === undefined ? NOTHING : html`<div class="note bad" role="alert"><p>${shown(says)}</p></div>`}
<form class="stack" method="post" action="${PATH}">${next === undefined ? NOTHING : html`<input type="hidden" name="next" value="${next}">`}
<label class="field"><span>Token</span><input type="password" name="token" required autocomplete="current-password" autofocus maxlength="512"></label>
<button class="primary">Sign in</button></form></main>`;
  return context.html(bare('Sign in', body), status);
};

/** Only to a page of the console: an address from outside must not lead anywhere else. */
const nextIn = (text: string | undefined): string | undefined => {
  const url = text === undefined ? null : URL.parse(text, NOWHERE);
  if (url === null || url.origin !== NOWHERE || url.pathname === PATH) return undefined;
  return /^\/console(\/|$)/.test(url.pathname) ? `${url.pathname}${url.search}` : undefined;
};

/** What an address without a host is read against, so that one with a host is told from it. */
const NOWHERE = 'https://console.invalid';

/** A link from elsewhere comes without the cookie, which is Strict: the same address once more, from here, comes with it. */
export const comeAgain = (context: Context<Seen>): Response | Promise<Response> => {
  const { pathname, search } = new URL(context.req.url);
  const again = html`<meta http-equiv="refresh" content="0">`;
  const body = html`<main class="sign"><div class="brand">${brand}</div><p><a href="${`${pathname}${search}`}">Open the console</a></p></main>`;
  return context.html(bare('Opening', body, again));
};
