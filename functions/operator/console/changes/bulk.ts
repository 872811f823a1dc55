/**
 * Many deliveries at once, chosen by hand: counted and asked about first, then each decided by itself, under a request id
 * of its own that comes from the key of the form. Sent twice, each is one decision.
 */
import { createHash } from 'node:crypto';
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { parseRequestId } from '../../../core/ids.ts';
import { GRANT_MAX, LIST_PAGE_MAX } from '../../../core/limits.ts';
import type { Delivery, DeliveryRef } from '../../../core/model.ts';
import type { Problem } from '../../../http/problem.ts';
import { readBody } from '../../api/decision-input.ts';
import { decideDelivery, type Wish } from '../../commands/deliveries.ts';
import { loadListed } from '../../commands/lists.ts';
import { reasonBody, redriveBody } from '../../contract/inputs.ts';
import { ROUTES } from '../../contract/routes.ts';
import type { Operator } from '../../operator.ts';
import { type Frame, page, problemPage } from '../frame.ts';
import { guarded } from '../guarded.ts';
import { formMark, head, table } from '../layout.ts';
import { deliveryLink, destinationLink, HOME } from '../links.ts';
import type { Seen } from '../session.ts';
import { badge, deliveryState } from '../states.ts';
import { counted, type Html, NOTHING, shown } from '../text.ts';
import { newKey, problemNote, reasonField } from './change.ts';
import { grantNeeded, problemOf, refusalOf } from './delivery.ts';
import { givenOnly, isTicked, numberIn, readForm, textIn } from './form.ts';
import { pickOf, readPick } from './picks.ts';

const QUARANTINE = `${HOME}/quarantine`;

export const addBulk = (app: Hono<Seen>, world: Operator): void => {
  app.post(`${QUARANTINE}/preview`, guarded(world, 'view', preview));
  app.post(`${QUARANTINE}/decide`, guarded(world, 'view', decide));
};

type Command = 'redrive' | 'cancel';

const RIGHTS = { redrive: ROUTES.redriveDelivery.right, cancel: ROUTES.cancelDelivery.right } as const;

interface Chosen {
  readonly command: Command;
  readonly refs: readonly DeliveryRef[];
  readonly form: URLSearchParams;
}

type Read = { readonly kind: 'ok'; readonly value: Chosen } | { readonly kind: 'bad'; readonly problem: Problem };

const invalid = (detail: string): Read => ({ kind: 'bad', problem: { status: 422, code: 'invalid', detail } });

const readChosen = async (frame: Frame): Promise<Read> => {
  const form = await readForm(frame);
  if (form.kind === 'bad') return form;
  const command = form.value.get('do');
  if (command !== 'redrive' && command !== 'cancel') return invalid('do must be one of redrive, cancel');
  const right = RIGHTS[command];
  if (!frame.visitor.may(right)) {
    const detail = `token ${frame.visitor.name} lacks the right "${right}"`;
    return { kind: 'bad', problem: { status: 403, code: 'right-missing', detail } };
  }
  const picks = [...new Set(form.value.getAll('pick'))];
  if (picks.length === 0) return invalid('nothing was chosen: go back and tick the deliveries that are meant');
  if (picks.length > LIST_PAGE_MAX) return invalid(`at most ${LIST_PAGE_MAX} deliveries can be chosen at once`);
  const refs = picks.flatMap((pick) => readPick(pick) ?? []);
  if (refs.length < picks.length) return invalid('a choice is not one that the list gave out');
  return { kind: 'ok', value: { command, refs, form: form.value } };
};

const preview = async (frame: Frame): Promise<Response> => {
  const read = await readChosen(frame);
  if (read.kind === 'bad') return problemPage(frame.context, read.problem, frame.world.clock.nowMs());
  return previewPage(frame, read.value, newKey(frame));
};

// ---- before -------------------------------------------------------------------------------------------------------

interface Look {
  readonly row: Delivery;
  /** Undefined: it would be done as it is. */
  readonly obstacle: Problem | undefined;
}

const lookAtAll = async (frame: Frame, { command, refs }: Chosen): Promise<readonly Look[]> => {
  const listed = await loadListed(
    frame.world,
    refs.map((ref) => ({ item: 'delivery', ...ref })),
  );
  const rows = listed.flatMap((one) => (one.kind === 'row' ? [one.row] : []));
  return Promise.all(rows.map(async (row) => ({ row, obstacle: await refusalOf(frame, row, plainWish(command)) })));
};

const plainWish = (command: Command): Wish =>
  command === 'cancel' ? { command } : { command, grant: 0, acceptSecondEffect: false };

/** What a person has to add for some of them: a grant, or the word that a second effect is accepted. */
const previewPage = async (frame: Frame, chosen: Chosen, key: string, problem?: Problem): Promise<Response> => {
  const looks = await lookAtAll(frame, chosen);
  const { command, form } = chosen;
  const count = (code: string | undefined): number => looks.filter(({ obstacle }) => obstacle?.code === code).length;
  const grants = Math.max(0, ...looks.map(({ row }) => grantNeeded(row)));
  const others = looks.length - count(undefined) - count('over-budget') - count('second-effect');
  const title = `${TITLES[command]} ${counted(looks.length, 'delivery', 'deliveries')}`;
  const main = html`${head({ title, crumb: html`<a href="${QUARANTINE}">Quarantine</a>` })}<div class="card">${problem === undefined ? NOTHING : problemNote(problem)}
<ul class="says"><li><strong>${counted(count(undefined), 'delivery', 'deliveries')}</strong> ${SAYS[command]}.</li>
${count('over-budget') === 0 ? '' : html`<li><strong>${counted(count('over-budget'), 'delivery', 'deliveries')}</strong> have spent their budget: they are refused without a grant of up to ${grants}.</li>`}
${count('second-effect') === 0 ? '' : html`<li><strong>${counted(count('second-effect'), 'delivery', 'deliveries')}</strong> may have arrived before: they are refused unless a second effect is accepted.</li>`}
${others === 0 ? '' : html`<li><strong>${counted(others, 'delivery', 'deliveries')}</strong> cannot be had as they are: see below.</li>`}</ul>
<form class="stack" method="post" action="${QUARANTINE}/decide">${formMark(frame.visitor)}<input type="hidden" name="key" value="${key}"><input type="hidden" name="do" value="${command}">
${form.getAll('pick').map((pick) => html`<input type="hidden" name="pick" value="${pick}">`)}
${command === 'redrive' && grants > 0 ? html`<label class="field"><span>Attempts to grant each</span><input type="number" name="grant" min="0" max="${GRANT_MAX}" value="${form.get('grant') ?? 0}"><small>On top of the budget of each, and on record.</small></label>` : NOTHING}
${count('second-effect') === 0 ? NOTHING : html`<label class="tick"><input type="checkbox" name="acceptSecondEffect" value="yes"><span>I accept that some may have a second effect</span></label>`}
${reasonField(form.get('reason') ?? '')}<div class="acts"><button class="primary">${TITLES[command]} ${counted(looks.length, 'delivery', 'deliveries')}</button><a class="button" href="${QUARANTINE}">Not now</a></div></form></div>
<section class="after">${table('Chosen', looks, lookColumns)}</section>`;
  return page(frame, { title, section: 'quarantine', main }, problem?.status ?? 200);
};

const TITLES = { redrive: 'Redrive', cancel: 'Cancel' } as const;
const SAYS = {
  redrive: 'would be due at once, under the same key',
  cancel: 'would end as cancelled, for good',
} as const;

const lookColumns = [
  { title: 'Event', of: ({ row }: Look) => deliveryLink(row), lead: true },
  { title: 'To', of: ({ row }: Look) => destinationLink(row.destination) },
  { title: 'State', of: ({ row }: Look) => deliveryState(row) },
  {
    title: 'Would be',
    of: ({ obstacle }: Look) =>
      obstacle === undefined ? badge('good', 'done') : badge('wait', 'refused', obstacle.code),
  },
];

// ---- done ---------------------------------------------------------------------------------------------------------

interface Ended {
  readonly ref: DeliveryRef;
  /** Undefined: it was done. */
  readonly problem: Problem | undefined;
}

const decide = async (frame: Frame): Promise<Response> => {
  const read = await readChosen(frame);
  if (read.kind === 'bad') return problemPage(frame.context, read.problem, frame.world.clock.nowMs());
  const { form, command } = read.value;
  const wish = wishIn(form, command);
  const key = form.get('key') ?? newKey(frame);
  if (wish.kind === 'bad') return previewPage(frame, read.value, key, wish.problem);
  const ended: Ended[] = [];
  // One after the other: each is a few writes, and a person who has chosen a page can wait for them.
  for (const ref of read.value.refs) ended.push({ ref, problem: await decideOne(frame, ref, key, wish.value) });
  return resultPage(frame, command, ended);
};

interface Decision {
  readonly reason: string;
  readonly wish: Wish;
}

const wishIn = (
  form: URLSearchParams,
  command: Command,
): { kind: 'ok'; value: Decision } | { kind: 'bad'; problem: Problem } => {
  const reason = textIn(form, 'reason');
  if (command === 'cancel') {
    const read = readBody(givenOnly({ reason }), reasonBody);
    return read.kind === 'bad' ? read : { kind: 'ok', value: { reason: read.value.reason, wish: { command } } };
  }
  const accept = isTicked(form, 'acceptSecondEffect') ? true : undefined;
  const read = readBody(givenOnly({ reason, grant: numberIn(form, 'grant'), acceptSecondEffect: accept }), redriveBody);
  if (read.kind === 'bad') return read;
  const { grant, acceptSecondEffect } = read.value;
  return { kind: 'ok', value: { reason: read.value.reason, wish: { command, grant, acceptSecondEffect } } };
};

/** By what was ticked, and not by its place in the form; short enough to stand in a journal as it is. */
const requestIdFor = (key: string, ref: DeliveryRef): string =>
  `${key}.${createHash('sha256').update(pickOf(ref)).digest('base64url').slice(0, 16)}`;

const decideOne = async (
  frame: Frame,
  ref: DeliveryRef,
  key: string,
  { reason, wish }: Decision,
): Promise<Problem | undefined> => {
  const request = parseRequestId(requestIdFor(key, ref));
  if (request.kind === 'bad') {
    return {
      status: 422,
      code: 'idempotency-key-invalid',
      detail: `the key of the form ${request.reason}; open the page again`,
    };
  }
  const asked = { request: request.id, actor: frame.visitor.name, reason, ...ref, wish };
  return problemOf(await decideDelivery(frame.world, asked), ref, wish);
};

const resultPage = (frame: Frame, command: Command, ended: readonly Ended[]): Promise<Response> => {
  const done = ended.filter(({ problem }) => problem === undefined).length;
  const main = html`${head({
    title: `${counted(done, 'delivery', 'deliveries')} ${command === 'redrive' ? 'redriven' : 'cancelled'}`,
    crumb: html`<a href="${QUARANTINE}">Quarantine</a>`,
    says:
      done === ended.length ? 'All that were chosen.' : `${ended.length - done} were refused, and stay as they are.`,
  })}${table('What was done', ended, [
    { title: 'Event', of: ({ ref }) => deliveryLink(ref), lead: true },
    { title: 'To', of: ({ ref }) => destinationLink(ref.destination) },
    { title: 'Result', of: resultCell },
  ])}`;
  return page(frame, { title: 'Result', section: 'quarantine', main });
};

const resultCell = ({ problem }: Ended): Html =>
  problem === undefined
    ? badge('good', 'done')
    : html`${badge('bad', 'refused')} <small>${shown(problem.detail)}</small>`;
