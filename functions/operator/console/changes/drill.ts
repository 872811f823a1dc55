/** A drill against a destination: what it will send, and then what came back, on a page of its own. */
import { html } from 'hono/html';
import { requestsOf, roundsOf, wishOf } from '../../../core/drill.ts';
import { PART_SAYS } from '../../../core/drill-words.ts';
import { readBody } from '../../api/decision-input.ts';
import { proveProblem } from '../../api/drills.ts';
import { absent, destinationSegment, newer } from '../../api/segments.ts';
import { showDestination } from '../../commands/destinations.ts';
import { drillReportOf } from '../../commands/drill-report.ts';
import { prove } from '../../commands/prove.ts';
import { proveBody } from '../../contract/inputs.ts';
import { ROUTES } from '../../contract/routes.ts';
import { drillPage } from '../drill.ts';
import type { Frame } from '../frame.ts';
import { destinationPath, HOME } from '../links.ts';
import { gateState, stateOfGate } from '../states.ts';
import { shown } from '../text.ts';
import type { Asked, Carried, Change, NoOffer, Offer } from './change.ts';
import { givenOnly, isTicked, textIn } from './form.ts';

const { parts: PARTS } = wishOf(undefined, undefined);

const offer = async ({ context, world }: Frame, form: URLSearchParams): Promise<Offer | NoOffer> => {
  const segment = destinationSegment(context);
  if (segment.kind === 'bad') return { kind: 'none', problem: segment.problem };
  const found = await showDestination(world, segment.value);
  if (found.kind === 'newer') return { kind: 'none', problem: newer };
  if (found.kind === 'absent') return { kind: 'none', problem: absent(`destination ${segment.value}`) };
  const nowMs = world.clock.nowMs();
  const path = destinationPath(segment.value);
  return {
    kind: 'offer',
    title: 'What does it do with a key that comes again?',
    about: html`<a class="id" href="${path}">${shown(segment.value)}</a>`,
    crumb: html`<a href="${path}">Destination</a>`,
    back: path,
    section: 'destinations',
    says: [
      html`Now it is ${gateState(found, nowMs)}, and set to: a repeat is ${found.config.repeatSafe ? 'safe' : 'not safe'}.`,
      `It gets up to ${requestsOf({ parts: PARTS, burst: 0 })} test requests, signed and sent as deliveries are. Each payload begins with {"onceward":"test".`,
      ...PARTS.map((part) => `${PART_SAYS[part]}: ${roundsOf(part, 0).flat().length}`),
      'No delivery is touched. It takes up to 45 seconds, and the page behind it is all that keeps what came back.',
    ],
    fields:
      stateOfGate(found, nowMs) === 'paused'
        ? [
            html`<label class="tick"><input type="checkbox" name="evenIfPaused" value="yes"${isTicked(form, 'evenIfPaused') ? html` checked` : ''}><span>Send them although it is paused</span></label>`,
          ]
        : [],
    submit: 'Run the drill',
  };
};

const carryOut = async (frame: Frame, { form, request, actor }: Asked): Promise<Carried> => {
  const segment = destinationSegment(frame.context);
  if (segment.kind === 'bad') return segment;
  const given = givenOnly({ reason: textIn(form, 'reason'), evenIfPaused: isTicked(form, 'evenIfPaused') });
  const read = readBody(given, proveBody);
  if (read.kind === 'bad') return read;
  const { reason, evenIfPaused } = read.value;
  const destination = segment.value;
  const wish = wishOf(PARTS, undefined);
  const done = await prove(frame.world, { request, actor, reason, destination, wish, evenIfPaused });
  if (done.kind !== 'done') return { kind: 'bad', problem: proveProblem(destination, done) };
  const { config, parts } = done;
  const at = new Date(done.atMs).toISOString();
  const report = drillReportOf({ destination, at, repeatSafe: config.repeatSafe, parts });
  return { kind: 'shown', page: drillPage({ ...report, decisions: [request] }, frame.visitor) };
};

export const PROVE: Change = {
  path: `${HOME}/destinations/:destination/prove`,
  right: ROUTES.proveDestination.right,
  offer,
  carryOut,
};
