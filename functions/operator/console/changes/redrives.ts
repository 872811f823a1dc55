/** A redrive over many: planned, run, stopped. */
import { html } from 'hono/html';
import { isOwnId } from '../../../core/ids.ts';
import { QUARANTINE_REASONS } from '../../../core/model.ts';
import type { Operation } from '../../../core/operations.ts';
import { FINDINGS } from '../../../core/operations.ts';
import { readBody } from '../../api/decision-input.ts';
import { planProblem, runProblem } from '../../api/redrives.ts';
import { absent, newer } from '../../api/segments.ts';
import { planRedrive, showRedrive } from '../../commands/redrives.ts';
import { type RunAsked, type RunDecided, runRedrive, stopRedrive } from '../../commands/run-redrive.ts';
import { planBody, reasonBody } from '../../contract/inputs.ts';
import { ROUTES } from '../../contract/routes.ts';
import { FINDING_SAYS } from '../findings.ts';
import type { Frame } from '../frame.ts';
import { HOME, redrivePath, withQuery } from '../links.ts';
import type { Done } from '../notes.ts';
import { counted, type Html, shown } from '../text.ts';
import { coarse } from '../times.ts';
import type { Asked, Carried, Change } from './change.ts';
import { givenOnly, isTicked, numberIn, textIn } from './form.ts';

const REDRIVES = `${HOME}/redrives`;
const LIMIT_DEFAULT = 100;
const RECOVERY_MINUTES_DEFAULT = 60;
const STOP_ABOVE_PERCENT_DEFAULT = 50;

const plan: Change = {
  path: `${REDRIVES}/new`,
  sendTo: REDRIVES,
  right: ROUTES.planRedrive.right,
  offer: async ({ context }, sent) => {
    const form = sent.size === 0 ? new URL(context.req.url).searchParams : sent;
    return {
      kind: 'offer',
      title: 'Plan a redrive',
      crumb: html`<a href="${REDRIVES}">Redrives</a>`,
      back: REDRIVES,
      section: 'redrives',
      submit: 'Make the plan',
      reasonHint: 'Why now: it stands in the record, with your name.',
      says: [
        'A plan reads a bounded number, holds each against the ledger and says what a run would do. It sends nothing.',
        'Dead letters that it reads are out of the sight of others for a while.',
        'A run never adds to a budget, and stops itself when too much of it fails.',
      ],
      fields: planFields(form),
    };
  },
  carryOut: async ({ world }, { form, request, actor }) => {
    const percent = numberIn(form, 'stopAbovePercent');
    const read = readBody(
      givenOnly({
        source: textIn(form, 'source'),
        destination: textIn(form, 'destination'),
        reason: textIn(form, 'held'),
        limit: numberIn(form, 'limit'),
        recoveryMinutes: numberIn(form, 'recoveryMinutes'),
        stopAbove: typeof percent === 'number' ? percent / 100 : percent,
        acceptSecondEffect: isTicked(form, 'acceptSecondEffect') ? true : undefined,
        why: textIn(form, 'reason') ?? '',
      }),
      planBody,
    );
    if (read.kind === 'bad') return read;
    const { destination, reason, ...rest } = read.value;
    const planned = await planRedrive(world, request, {
      ...rest,
      ...(destination === undefined ? {} : { destination }),
      ...(reason === undefined ? {} : { reason }),
      actor,
    });
    if (planned.kind !== 'planned') return { kind: 'bad', problem: planProblem(planned, destination) };
    return { kind: 'done', to: withQuery(redrivePath(planned.operation.operation), { done: 'planned' }) };
  },
};

const planFields = (form: URLSearchParams): readonly Html[] => {
  const source = form.get('source') === 'quarantine' ? 'quarantine' : 'dead-letters';
  const choice = (value: typeof source, says: string): Html =>
    html`<label class="tick"><input type="radio" name="source" value="${value}" required${value === source ? html` checked` : ''}><span>${says}</span></label>`;
  return [
    html`<fieldset><legend>Over</legend>${choice('dead-letters', 'dead letters: what the queue has given up')}${choice('quarantine', 'quarantined deliveries: what waits for a person')}</fieldset>`,
    html`<div class="row"><label class="field"><span>Destination</span><input name="destination" value="${form.get('destination') ?? ''}" maxlength="1024" autocomplete="off"><small>Empty: all of them.</small></label>
<label class="field"><span>Held because of</span><select name="held"><option value="">any reason</option>${QUARANTINE_REASONS.map((one) => html`<option${form.get('held') === one ? html` selected` : ''}>${one}</option>`)}</select><small>Of the quarantine only.</small></label></div>`,
    html`<div class="row">${numberField('limit', 'At most', form.get('limit') ?? LIMIT_DEFAULT, 'So many are read.')}${numberField('recoveryMinutes', 'Over within, in minutes', form.get('recoveryMinutes') ?? RECOVERY_MINUTES_DEFAULT, 'A plan that may take longer is refused.')}${numberField('stopAbovePercent', 'Stop above, in percent', form.get('stopAbovePercent') ?? STOP_ABOVE_PERCENT_DEFAULT, 'Of a batch that fails.')}</div>`,
    html`<label class="tick"><input type="checkbox" name="acceptSecondEffect" value="yes"${isTicked(form, 'acceptSecondEffect') ? html` checked` : ''}><span>I accept second effects, where an attempt may have arrived or its key is forgotten</span></label>`,
  ];
};

const numberField = (name: string, title: string, value: string | number, hint: string): Html =>
  html`<label class="field"><span>${title}</span><input type="number" name="${name}" value="${value}" min="0" step="any" inputmode="decimal"><small>${hint}</small></label>`;

// ---- run, stop ----------------------------------------------------------------------------------------------------

interface Kind {
  readonly word: 'run' | 'stop';
  readonly right: Change['right'];
  readonly title: string;
  readonly submit: string;
  readonly done: Done;
  readonly command: (world: Frame['world'], asked: RunAsked) => Promise<RunDecided>;
  readonly says: (operation: Operation) => readonly (Html | string)[];
}

/** An id that is not one of ours names nothing. */
const operationIn = ({ context }: Frame): string => {
  const text = context.req.param('operation') ?? '';
  return isOwnId(text) ? text : '';
};

const changeOf = (kind: Kind): Change => ({
  path: `${REDRIVES}/:operation/${kind.word}`,
  right: kind.right,
  offer: async (frame) => {
    const found = await showRedrive(frame.world, operationIn(frame));
    if (found.kind === 'newer') return { kind: 'none', problem: newer };
    if (found.kind === 'absent') return { kind: 'none', problem: absent('this redrive') };
    const { operation } = found;
    return {
      kind: 'offer',
      title: kind.title,
      about: html`<span class="id">${shown(operation.operation)}</span>`,
      crumb: html`<a href="${redrivePath(operation.operation)}">Redrive</a>`,
      back: redrivePath(operation.operation),
      section: 'redrives',
      submit: kind.submit,
      says: kind.says(operation),
    };
  },
  carryOut: (frame, asked) => carryOut(frame, kind, asked),
});

const carryOut = async (frame: Frame, kind: Kind, { form, request, actor }: Asked): Promise<Carried> => {
  const read = readBody(givenOnly({ reason: textIn(form, 'reason') }), reasonBody);
  if (read.kind === 'bad') return read;
  const operation = operationIn(frame);
  const done = await kind.command(frame.world, { request, actor, reason: read.value.reason, operation });
  if (done.kind !== 'done') return { kind: 'bad', problem: runProblem(done, operation) };
  return { kind: 'done', to: withQuery(redrivePath(operation), { done: kind.done }) };
};

const run = changeOf({
  word: 'run',
  right: ROUTES.runRedrive.right,
  title: 'Run this plan',
  submit: 'Run it once',
  done: 'run',
  command: runRedrive,
  says: (operation) => [
    ...FINDINGS.flatMap((finding) => {
      const count = operation.found[finding] ?? 0;
      return count === 0 ? [] : [html`<strong>${counted(count, 'message')}</strong>: ${FINDING_SAYS[finding]}.`];
    }),
    `It may take ${coarse(operation.estimateMs)} at most, and stops itself when more than ${Math.round(operation.stopAbove * 100)} % of a batch fail.`,
  ],
});

const stop = changeOf({
  word: 'stop',
  right: ROUTES.stopRedrive.right,
  title: 'Stop this run',
  submit: 'Stop it for good',
  done: 'stopped',
  command: stopRedrive,
  says: () => [
    'Nothing more is put back. What is on its way goes on, and its results are filled in.',
    'It stays stopped: what is left needs a new plan.',
  ],
});

export const REDRIVE_CHANGES: readonly Change[] = [plan, run, stop];
