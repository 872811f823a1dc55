/** What a page is made from: the request, the world behind it, and who looks; and how it is answered. */
import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Problem } from '../../http/problem.ts';
import { problemBody } from '../../http/problem.ts';
import type { Operator } from '../operator.ts';
import { bare, brand, head, type Page, render } from './layout.ts';
import { HOME } from './links.ts';
import type { Seen, Visitor } from './session.ts';
import { shown } from './text.ts';

export interface Frame {
  readonly context: Context<Seen>;
  readonly world: Operator;
  readonly visitor: Visitor;
}

export type Show = (frame: Frame) => Promise<Response>;

export type PageStatus = 200 | Problem['status'];

export const page = async (
  { context, visitor, world }: Frame,
  made: Omit<Page, 'visitor' | 'nowMs'>,
  status: PageStatus = 200,
): Promise<Response> => context.html(render({ ...made, visitor, nowMs: world.clock.nowMs() }), status);

/** What went wrong, as a page: for whoever is signed in with all ways out, else bare. */
export const problemPage = (context: Context<Seen>, value: Problem, nowMs: number): Response | Promise<Response> => {
  const { title } = problemBody(value);
  context.set('code', value.code);
  const visitor = context.get('visitor');
  const says = html`${head({ title: String(title), says: shown(value.detail) })}<p><a href="${HOME}">To the overview</a></p>`;
  if (visitor !== undefined)
    return context.html(render({ title: String(title), visitor, nowMs, main: says }), value.status);
  const body = html`<main class="sign"><div class="brand">${brand}</div>${says}</main>`;
  return context.html(bare(String(title), body), value.status);
};
