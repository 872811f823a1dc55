/**
 * Every change of a person goes the same way, with or without a script:
 *
 *   a link --GET--> what it will do, and the form --POST, a reason and its own key--> done once --303--> what was changed
 *                              ^                                   |
 *                              +------- refused: why, and the form again, with what was typed
 *
 * The key is made with the form: sent twice, it is one decision.
 */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { parseRequestId, type RequestId } from '../../../core/ids.ts';
import type { Right } from '../../../core/items.ts';
import { REASON_CHARS_MAX } from '../../../core/limits.ts';
import type { Problem } from '../../../http/problem.ts';
import type { Operator } from '../../operator.ts';
import { type Frame, page, problemPage } from '../frame.ts';
import { guarded } from '../guarded.ts';
import { formMark, head, type Page, type Section } from '../layout.ts';
import type { Seen } from '../session.ts';
import { type Html, NOTHING, shown } from '../text.ts';
import { readForm } from './form.ts';

export interface Offer {
  readonly kind: 'offer';
  readonly title: string;
  /** What it is about. */
  readonly about?: Html;
  readonly crumb: Html;
  /** Where one goes who does not want it. */
  readonly back: string;
  readonly section: Section;
  /** What it will do, a sentence each. */
  readonly says: readonly (Html | string)[];
  /** What should be known before. */
  readonly beware?: Html | string;
  readonly fields?: readonly Html[];
  readonly reasonHint?: string;
  readonly submit: string;
}

/** Not possible as things stand, and why. */
export interface NoOffer {
  readonly kind: 'none';
  readonly problem: Problem;
}

export interface Asked {
  readonly form: URLSearchParams;
  readonly request: RequestId;
  readonly actor: string;
}

export type Carried =
  | { readonly kind: 'done'; readonly to: string }
  /** What came of it stands nowhere else. */
  | { readonly kind: 'shown'; readonly page: Omit<Page, 'visitor' | 'nowMs'> }
  | { readonly kind: 'bad'; readonly problem: Problem };

export interface Change {
  readonly path: string;
  readonly right: Right;
  /** Where the form goes, if not to its own address. */
  readonly sendTo?: string;
  offer(frame: Frame, form: URLSearchParams): Promise<Offer | NoOffer>;
  carryOut(frame: Frame, asked: Asked): Promise<Carried>;
}

export const addChange = (app: Hono<Seen>, world: Operator, change: Change): void => {
  const { path, right } = change;
  app.get(
    path,
    guarded(world, right, (frame) => offerPage(frame, change, new URLSearchParams(), {})),
  );
  app.post(
    change.sendTo ?? path,
    guarded(world, right, (frame) => carryOut(frame, change)),
  );
};

interface Again {
  readonly key?: string;
  readonly problem?: Problem;
}

const offerPage = async (frame: Frame, change: Change, form: URLSearchParams, again: Again): Promise<Response> => {
  const offer = await change.offer(frame, form);
  const nowMs = frame.world.clock.nowMs();
  if (offer.kind === 'none') return problemPage(frame.context, again.problem ?? offer.problem, nowMs);
  const main = html`${head({
    title: offer.title,
    crumb: offer.crumb,
    ...(offer.about === undefined ? {} : { says: offer.about }),
  })}<div class="card">${again.problem === undefined ? NOTHING : problemNote(again.problem)}${
    offer.beware === undefined ? NOTHING : html`<div class="note bad"><p>${offer.beware}</p></div>`
  }<ul class="says">${offer.says.map((one) => html`<li>${one}</li>`)}</ul>
<form class="stack" method="post" action="${change.sendTo ?? new URL(frame.context.req.url).pathname}">${formMark(frame.visitor)}<input type="hidden" name="key" value="${again.key ?? newKey(frame)}">
${offer.fields ?? NOTHING}${reasonField(form.get(REASON) ?? '', offer.reasonHint)}
<div class="acts"><button class="primary">${offer.submit}</button><a class="button" href="${offer.back}" data-close>Not now</a></div></form></div>`;
  return page(frame, { title: offer.title, section: offer.section, main }, again.problem?.status ?? 200);
};

const REASON = 'reason';

export const reasonField = (value: string, hint = 'It stands in the record, with your name.'): Html =>
  html`<label class="field"><span>Reason</span><input name="${REASON}" required maxlength="${REASON_CHARS_MAX}" value="${value}" autocomplete="off" autofocus><small>${hint}</small></label>`;

export const problemNote = ({ detail }: Problem): Html =>
  html`<div class="note bad" role="alert"><p>${shown(detail)}</p></div>`;

/** Short enough to stand in a journal as it is. */
export const newKey = ({ world }: Frame): string => `console-${world.dice.id()}`;

const carryOut = async (frame: Frame, change: Change): Promise<Response> => {
  const { context, world, visitor } = frame;
  const read = await readForm(frame);
  if (read.kind === 'bad') return problemPage(context, read.problem, world.clock.nowMs());
  const form = read.value;
  const request = parseRequestId(form.get('key') ?? '');
  if (request.kind === 'bad') {
    const detail = `the form has no key of its own, or a broken one: it ${request.reason}; open the page again`;
    return problemPage(context, { status: 422, code: 'idempotency-key-invalid', detail }, world.clock.nowMs());
  }
  const done = await change.carryOut(frame, { form, request: request.id, actor: visitor.name });
  if (done.kind === 'done') return context.redirect(done.to, 303);
  if (done.kind === 'shown') return page(frame, done.page);
  context.set('code', done.problem.code);
  // An id that stands for something else would be refused again.
  const key = done.problem.code === 'request-reused' ? {} : { key: request.id };
  return offerPage(frame, change, form, { ...key, problem: done.problem });
};
