/** Pause, resume, test and delete of a destination. */
import { html } from 'hono/html';
import { DRAIN_PER_SECOND_DEFAULT } from '../../../core/limits.ts';
import type { Problem } from '../../../http/problem.ts';
import { readBody } from '../../api/decision-input.ts';
import { alreadyPaused, refusedProblem, testProblem } from '../../api/decisions.ts';
import { absent, destinationSegment, newer } from '../../api/segments.ts';
import { deleteDestination } from '../../commands/delete-destination.ts';
import type { DestinationShown } from '../../commands/destination-list.ts';
import { showDestination } from '../../commands/destinations.ts';
import { type DestinationAsked, pauseDestination, resumeDestination } from '../../commands/pause.ts';
import { COUNT_CAP, type Parked, parkedOf } from '../../commands/stats.ts';
import { testDestination } from '../../commands/test-destination.ts';
import { reasonBody } from '../../contract/inputs.ts';
import { ROUTES } from '../../contract/routes.ts';
import type { Frame } from '../frame.ts';
import { deliveryPath, destinationPath, HOME, withQuery } from '../links.ts';
import type { Done } from '../notes.ts';
import { gateState } from '../states.ts';
import { cappedNumber, type Html, shown } from '../text.ts';
import { coarse } from '../times.ts';
import type { Asked, Carried, Change, NoOffer, Offer } from './change.ts';
import { givenOnly, textIn } from './form.ts';

type Acted = { readonly kind: 'done'; readonly to: string } | { readonly kind: 'bad'; readonly problem: Problem };

interface Kind {
  readonly word: string;
  readonly right: Change['right'];
  readonly title: string;
  readonly submit: string;
  readonly says: (shownHere: DestinationShown, parked: Parked) => readonly (Html | string)[];
  readonly beware?: string;
  readonly act: (frame: Frame, asked: DestinationAsked) => Promise<Acted>;
}

const changeOf = (kind: Kind): Change => ({
  path: `${HOME}/destinations/:destination/${kind.word}`,
  right: kind.right,
  offer: (frame) => offer(frame, kind),
  carryOut: (frame, asked) => carryOut(frame, kind, asked),
});

const offer = async ({ context, world }: Frame, kind: Kind): Promise<Offer | NoOffer> => {
  const segment = destinationSegment(context);
  if (segment.kind === 'bad') return { kind: 'none', problem: segment.problem };
  const found = await showDestination(world, segment.value);
  if (found.kind === 'newer') return { kind: 'none', problem: newer };
  if (found.kind === 'absent') return { kind: 'none', problem: absent(`destination ${segment.value}`) };
  const parked = await parkedOf(world, found.config);
  return {
    kind: 'offer',
    title: kind.title,
    about: html`<a class="id" href="${destinationPath(segment.value)}">${shown(segment.value)}</a>`,
    crumb: html`<a href="${destinationPath(segment.value)}">Destination</a>`,
    back: destinationPath(segment.value),
    section: 'destinations',
    says: [html`Now it is ${gateState(found, world.clock.nowMs())}.`, ...kind.says(found, parked)],
    ...(kind.beware === undefined ? {} : { beware: kind.beware }),
    submit: kind.submit,
  };
};

const carryOut = async (frame: Frame, kind: Kind, { form, request, actor }: Asked): Promise<Carried> => {
  const segment = destinationSegment(frame.context);
  if (segment.kind === 'bad') return segment;
  const read = readBody(givenOnly({ reason: textIn(form, 'reason') }), reasonBody);
  if (read.kind === 'bad') return read;
  return kind.act(frame, { request, actor, reason: read.value.reason, destination: segment.value });
};

const here = (destination: string, done: Done): Acted => ({
  kind: 'done',
  to: withQuery(destinationPath(destination), { done }),
});

const actOn =
  (command: typeof pauseDestination, word: Done) =>
  async ({ world }: Frame, asked: DestinationAsked): Promise<Acted> => {
    const done = await command(world, asked);
    if (done.kind === 'done') return here(asked.destination, word);
    if (done.kind === 'paused') return { kind: 'bad', problem: alreadyPaused(asked.destination, done.pause) };
    return { kind: 'bad', problem: refusedProblem(asked.destination, done.kind) };
  };

const pause = changeOf({
  word: 'pause',
  right: ROUTES.pauseDestination.right,
  title: 'Pause this destination',
  submit: 'Pause it',
  says: (_shown, parked) => [
    'From now on nothing is sent there. An attempt that is under way ends as it will.',
    'What becomes due is parked: visible, with its reason, at no cost to its budget.',
    parked.count === 0
      ? 'Nothing is parked there now.'
      : `${cappedNumber(parked.count, COUNT_CAP)} are parked there already.`,
  ],
  act: actOn(pauseDestination, 'paused'),
});

const resume = changeOf({
  word: 'resume',
  right: ROUTES.resumeDestination.right,
  title: 'Resume this destination',
  submit: 'Resume it',
  says: ({ config }, parked) => {
    const rate = config.ratePerSecond ?? DRAIN_PER_SECOND_DEFAULT;
    return [
      'Its pause and its closing are lifted.',
      parked.count === 0
        ? 'Nothing is parked there.'
        : `${cappedNumber(parked.count, COUNT_CAP)} parked deliveries go on at ${rate} a second: about ${coarse((parked.count / rate) * 1_000)}.`,
    ];
  },
  act: actOn(resumeDestination, 'resumed'),
});

const test = changeOf({
  word: 'test',
  right: ROUTES.testDestination.right,
  title: 'Test this destination',
  submit: 'Send one test event',
  says: () => [
    'One harmless event is sent there the normal way: claimed, signed, journaled. Its payload is {"onceward":"test"}.',
  ],
  act: async ({ world }, asked) => {
    const done = await testDestination(world, asked);
    if (done.kind !== 'done') return { kind: 'bad', problem: testProblem(asked.destination, done) };
    return {
      kind: 'done',
      to: withQuery(deliveryPath({ event: done.event, destination: asked.destination }), { done: 'tested' }),
    };
  },
});

const remove = changeOf({
  word: 'delete',
  right: ROUTES.deleteDestination.right,
  title: 'Delete this destination',
  submit: 'Delete it for good',
  says: () => [
    'Its id stays taken: no other destination can have it.',
    'Its open deliveries are quarantined as no-destination when they are next looked at.',
  ],
  beware: 'This cannot be taken back.',
  act: async ({ world }, asked) => {
    const done = await deleteDestination(world, asked);
    if (done.kind !== 'done') return { kind: 'bad', problem: refusedProblem(asked.destination, done.kind) };
    return { kind: 'done', to: withQuery(`${HOME}/destinations`, { done: 'deleted' }) };
  },
});

export const DESTINATION_CHANGES: readonly Change[] = [pause, resume, test, remove];
