/** Who may see a page, or make a change: asked by the server, whatever the pages show. */
import type { Context, Handler } from 'hono';
import type { Right } from '../../core/items.ts';
import type { Operator } from '../operator.ts';
import { type Frame, problemPage } from './frame.ts';
import { HOME, withQuery } from './links.ts';
import type { Seen } from './session.ts';

export const guarded =
  (world: Operator, right: Right, show: (frame: Frame) => Promise<Response>): Handler<Seen> =>
  (context) => {
    const visitor = context.get('visitor');
    if (visitor === undefined) return toSignIn(context);
    if (visitor.may(right)) return show({ context, world, visitor });
    const detail = `token ${visitor.name} lacks the right "${right}"`;
    return problemPage(context, { status: 403, code: 'right-missing', detail }, world.clock.nowMs());
  };

/** A look goes on where it wanted to; a change has to be made anew, on a page of the new session. */
const toSignIn = (context: Context): Response => {
  const { pathname, search } = new URL(context.req.url);
  const next = context.req.method === 'GET' && pathname !== HOME ? `${pathname}${search}` : undefined;
  return context.redirect(withQuery(`${HOME}/sign-in`, { next }), 303);
};
