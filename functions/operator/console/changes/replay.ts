/** Replay: what was delivered is sent once more, as a new event that is linked to the old one. */
import { html } from 'hono/html';
import { readBody } from '../../api/decision-input.ts';
import { replayProblem } from '../../api/decisions.ts';
import { absent, eventSegment } from '../../api/segments.ts';
import { replayEvent } from '../../commands/replay.ts';
import { replayBody } from '../../contract/inputs.ts';
import { ROUTES } from '../../contract/routes.ts';
import { eventPath, HOME, withQuery } from '../links.ts';
import { shown } from '../text.ts';
import type { Change } from './change.ts';
import { givenOnly, textIn } from './form.ts';

export const REPLAY: Change = {
  path: `${HOME}/events/:event/replay`,
  right: ROUTES.replayEvent.right,
  offer: async ({ context, world }, form) => {
    const segment = eventSegment(context);
    if (segment.kind === 'bad') return { kind: 'none', problem: segment.problem };
    const event = segment.value;
    const items = await world.ledger.loadEvent(event);
    const rows = items.filter((item) => item.item === 'delivery');
    const delivered = rows.filter(({ status }) => status === 'delivered').map(({ destination }) => destination);
    if (rows.length === 0) return { kind: 'none', problem: absent(`event ${event}`) };
    if (delivered.length === 0) {
      const detail = `no delivery of ${event} is delivered: only what was delivered can be replayed`;
      return { kind: 'none', problem: { status: 409, code: 'not-delivered', detail } };
    }
    const chosen = form.getAll('destinations');
    return {
      kind: 'offer',
      title: 'Replay this event',
      about: html`<a class="id" href="${eventPath(event)}">${shown(event)}</a>`,
      crumb: html`<a href="${eventPath(event)}">Event</a>`,
      back: eventPath(event),
      section: 'deliveries',
      submit: 'Replay once',
      says: [
        'A new event is made of the same payload, with an id of its own that names the old one.',
        'To its destinations it is new: it has another Idempotency-Key, so it has its effect once more.',
      ],
      fields: [
        html`<fieldset><legend>To</legend>${delivered.map(
          (destination) =>
            html`<label class="tick"><input type="checkbox" name="destinations" value="${destination}"${chosen.length === 0 || chosen.includes(destination) ? html` checked` : ''}><span class="id">${shown(destination)}</span></label>`,
        )}</fieldset>`,
      ],
    };
  },
  carryOut: async ({ context, world }, { form, request, actor }) => {
    const segment = eventSegment(context);
    if (segment.kind === 'bad') return segment;
    const given = givenOnly({ reason: textIn(form, 'reason'), destinations: form.getAll('destinations') });
    const read = readBody(given, replayBody);
    if (read.kind === 'bad') return read;
    const { reason, destinations } = read.value;
    const event = segment.value;
    const asked = { request, actor, reason, event, ...(destinations === undefined ? {} : { destinations }) };
    const done = await replayEvent(world, asked);
    if (done.kind !== 'done') return { kind: 'bad', problem: replayProblem(event, done) };
    return { kind: 'done', to: withQuery(eventPath(done.event.event), { done: 'replayed' }) };
  },
};
