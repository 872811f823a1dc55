/** Redrive, resolve and cancel of one delivery. */
import { html } from 'hono/html';
import type * as z from 'zod/mini';
import { parseRequestId } from '../../../core/ids.ts';
import { GRANT_MAX, REASON_CHARS_MAX } from '../../../core/limits.ts';
import type { Delivery, DeliveryRef } from '../../../core/model.ts';
import type { Problem } from '../../../http/problem.ts';
import { readBody } from '../../api/decision-input.ts';
import { refusal, reused } from '../../api/decision-problems.ts';
import { absent, deliverySegments, newer } from '../../api/segments.ts';
import { type DeliveryDecided, decideDelivery, previewDelivery, type Wish } from '../../commands/deliveries.ts';
import { showDestination } from '../../commands/destinations.ts';
import { reasonBody, redriveBody, resolveBody } from '../../contract/inputs.ts';
import { ROUTES } from '../../contract/routes.ts';
import type { Frame } from '../frame.ts';
import { deliveryPath, HOME, withQuery } from '../links.ts';
import type { Done } from '../notes.ts';
import { deliveryState, gateState, reasonText, stateOfGate } from '../states.ts';
import { counted, type Html, shown } from '../text.ts';
import type { Asked, Carried, Change, NoOffer, Offer } from './change.ts';
import { givenOnly, isTicked, numberIn, textIn } from './form.ts';

const PATH = `${HOME}/events/:event/deliveries/:destination`;

interface Kind<Body extends { readonly reason: string }> {
  readonly command: Wish['command'];
  readonly right: Change['right'];
  readonly done: Done;
  readonly schema: z.ZodMiniType<Body>;
  readonly bodyOf: (form: URLSearchParams) => Readonly<Record<string, unknown>>;
  readonly wishOf: (body: Body) => Wish;
  /** Asked for as generously as can be: what is refused then cannot be had at all. */
  readonly atMost: (row: Delivery) => Wish;
  readonly offer: (
    frame: Frame,
    row: Delivery,
    form: URLSearchParams,
  ) => Promise<Pick<Offer, 'says' | 'beware' | 'fields'>>;
  readonly title: string;
  readonly submit: string;
}

const changeOf = <Body extends { readonly reason: string }>(kind: Kind<Body>): Change => ({
  path: `${PATH}/${kind.command}`,
  right: kind.right,
  offer: (frame, form) => offer(frame, kind, form),
  carryOut: (frame, asked) => carryOut(frame, kind, asked),
});

const offer = async <Body extends { readonly reason: string }>(
  frame: Frame,
  kind: Kind<Body>,
  form: URLSearchParams,
): Promise<Offer | NoOffer> => {
  const segments = deliverySegments(frame.context);
  if (segments.kind === 'bad') return { kind: 'none', problem: segments.problem };
  const found = await frame.world.ledger.load({ item: 'delivery', ...segments.value });
  if (found.kind !== 'found')
    return { kind: 'none', problem: found.kind === 'later' ? newer : unknown(segments.value) };
  const row = found.item;
  const refused = await refusalOf(frame, row, kind.atMost(row));
  if (refused !== undefined) return { kind: 'none', problem: refused };
  return {
    kind: 'offer',
    title: kind.title,
    about: html`<a class="id" href="${deliveryPath(row)}">${shown(row.event)}</a> to <span class="id">${shown(row.destination)}</span>`,
    crumb: html`<a href="${deliveryPath(row)}">Delivery</a>`,
    back: deliveryPath(row),
    section: row.status === 'quarantined' ? 'quarantine' : 'deliveries',
    submit: kind.submit,
    ...(await kind.offer(frame, row, form)),
  };
};

const unknown = ({ event, destination }: DeliveryRef): Problem => absent(`delivery of ${event} to ${destination}`);

/** Why this wish would be refused as things stand; undefined: it would not. */
export const refusalOf = async ({ world, visitor }: Frame, row: Delivery, wish: Wish): Promise<Problem | undefined> => {
  const request = parseRequestId('preview');
  if (request.kind === 'bad') throw new TypeError('the request id of a preview');
  const { event, destination } = row;
  const asked = { request: request.id, actor: visitor.name, reason: '', event, destination, wish };
  const preview = await previewDelivery(world, asked);
  switch (preview.kind) {
    case 'ready':
      return undefined;
    case 'refused':
      return refusal(preview.code, preview.row, wish);
    case 'absent':
      return unknown(row);
    case 'newer':
      return newer;
  }
};

const carryOut = async <Body extends { readonly reason: string }>(
  { context, world }: Frame,
  kind: Kind<Body>,
  { form, request, actor }: Asked,
): Promise<Carried> => {
  const segments = deliverySegments(context);
  if (segments.kind === 'bad') return segments;
  const read = readBody(givenOnly({ reason: textIn(form, 'reason'), ...kind.bodyOf(form) }), kind.schema);
  if (read.kind === 'bad') return read;
  const wish = kind.wishOf(read.value);
  const asked = { request, actor, reason: read.value.reason, ...segments.value, wish };
  const problem = problemOf(await decideDelivery(world, asked), segments.value, wish);
  if (problem !== undefined) return { kind: 'bad', problem };
  return { kind: 'done', to: withQuery(deliveryPath(segments.value), { done: kind.done }) };
};

/** Undefined: it is done. */
export const problemOf = (done: DeliveryDecided, ref: DeliveryRef, wish: Wish): Problem | undefined => {
  switch (done.kind) {
    case 'done':
      return undefined;
    case 'refused':
      return refusal(done.code, done.row, wish);
    case 'absent':
      return unknown(ref);
    case 'reused':
      return reused;
    case 'newer':
      return newer;
  }
};

// ---- redrive ------------------------------------------------------------------------------------------------------

const spentOf = (row: Delivery): number => row.attempts - row.refunds;

/** Attempts that have to be granted before there can be another one. */
export const grantNeeded = (row: Delivery): number => Math.max(0, spentOf(row) - row.budget + 1);

const redrive = changeOf({
  command: 'redrive',
  right: ROUTES.redriveDelivery.right,
  done: 'redriven',
  title: 'Redrive this delivery',
  submit: 'Redrive once',
  schema: redriveBody,
  bodyOf: (form) => ({
    grant: numberIn(form, 'grant'),
    acceptSecondEffect: isTicked(form, 'acceptSecondEffect') ? true : undefined,
  }),
  wishOf: ({ grant, acceptSecondEffect }) => ({ command: 'redrive', grant, acceptSecondEffect }),
  atMost: (row) => ({ command: 'redrive', grant: Math.min(GRANT_MAX, grantNeeded(row)), acceptSecondEffect: true }),
  offer: async (frame, row, form) => {
    const needed = grantNeeded(row);
    const plain: Wish = { command: 'redrive', grant: Math.min(GRANT_MAX, needed), acceptSecondEffect: false };
    const isDoubtful = (await refusalOf(frame, row, plain))?.code === 'second-effect';
    return {
      says: [
        html`Now it is ${deliveryState(row)}${row.status === 'quarantined' ? `: ${reasonText(row.reason)}` : ''}.`,
        'It becomes pending and is due at once: the same bytes, under the same Idempotency-Key.',
        needed === 0
          ? `${spentOf(row)} of ${row.budget} attempts are spent; a redrive does not add to them.`
          : `Its budget of ${counted(row.budget, 'attempt')} is spent: it needs at least ${counted(needed, 'more attempt')}, and a grant stays on record.`,
        ...(await gateSays(frame, row)),
      ],
      ...(isDoubtful
        ? {
            beware:
              'An earlier attempt may have arrived, and a repeat is not safe there. Find out first: a redrive may have a second effect.',
          }
        : {}),
      fields: [
        grantField(needed, form),
        isDoubtful
          ? html`<label class="tick"><input type="checkbox" name="acceptSecondEffect" value="yes" required${isTicked(form, 'acceptSecondEffect') ? html` checked` : ''}><span>I accept that it may have a second effect</span></label>`
          : html``,
      ],
    };
  },
});

const grantField = (needed: number, form: URLSearchParams): Html =>
  html`<label class="field"><span>Attempts to grant</span><input type="number" name="grant" min="${needed}" max="${GRANT_MAX}" value="${form.get('grant') ?? needed}" inputmode="numeric"><small>On top of its budget, ${GRANT_MAX} at most.</small></label>`;

const gateSays = async ({ world }: Frame, row: Delivery): Promise<readonly Html[]> => {
  const found = await showDestination(world, row.destination);
  if (found.kind !== 'found') return [];
  const nowMs = world.clock.nowMs();
  const isShut = stateOfGate(found, nowMs) === 'paused' || stateOfGate(found, nowMs) === 'closed';
  const then = isShut ? ' It is parked there until the gate opens.' : '';
  return [html`Its destination is ${gateState(found, nowMs)}.${then}`];
};

// ---- resolve, cancel ----------------------------------------------------------------------------------------------

const resolve = changeOf({
  command: 'resolve',
  right: ROUTES.resolveDelivery.right,
  done: 'resolved',
  title: 'Resolve this delivery',
  submit: 'Resolve once',
  schema: resolveBody,
  bodyOf: (form) => ({ as: textIn(form, 'as'), evidence: textIn(form, 'evidence') }),
  wishOf: ({ as, evidence }) => ({ command: 'resolve', as, evidence }),
  atMost: () => ({ command: 'resolve', as: 'delivered', evidence: '' }),
  offer: async (_frame, row, form) => ({
    says: [
      html`Now it is ${deliveryState(row)}${row.status === 'quarantined' ? `: ${reasonText(row.reason)}` : ''}.`,
      'You say what happened at the destination. It is recorded with your name and your evidence.',
    ],
    fields: [
      html`<fieldset><legend>It was</legend>${asChoice('delivered', 'delivered: it ends as delivered, and nothing is sent', form)}${asChoice('not-delivered', 'not delivered: it is due now, as far as its budget goes', form)}</fieldset>`,
      html`<label class="field"><span>Evidence</span><input name="evidence" required maxlength="${REASON_CHARS_MAX}" value="${form.get('evidence') ?? ''}" autocomplete="off"><small>How you know: their order number, a log line, who said so.</small></label>`,
    ],
  }),
});

const asChoice = (value: 'delivered' | 'not-delivered', says: string, form: URLSearchParams): Html =>
  html`<label class="tick"><input type="radio" name="as" value="${value}" required${form.get('as') === value ? html` checked` : ''}><span>${says}</span></label>`;

const cancel = changeOf({
  command: 'cancel',
  right: ROUTES.cancelDelivery.right,
  done: 'cancelled',
  title: 'Cancel this delivery',
  submit: 'Cancel it for good',
  schema: reasonBody,
  bodyOf: () => ({}),
  wishOf: () => ({ command: 'cancel' }),
  atMost: () => ({ command: 'cancel' }),
  offer: async (_frame, row) => ({
    says: [html`Now it is ${deliveryState(row)}.`, 'It ends as cancelled, and stays so. Nothing more is sent.'],
    ...(row.doubt === 'none'
      ? {}
      : { beware: 'An earlier attempt may have arrived. To cancel it does not take that back.' }),
  }),
});

export const DELIVERY_CHANGES: readonly Change[] = [redrive, resolve, cancel];
