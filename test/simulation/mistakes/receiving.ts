/** Mistakes between a push and its claim, and in what is accepted. */
import { type Mistake, mistake, patch, survivor } from './mistake.ts';

const ANSWERING: readonly Mistake[] = [
  mistake(
    'a push is acknowledged although the ledger is away',
    patch(
      'receiver/receive.ts',
      "    return later('ledger-unavailable', ",
      "    if (error) return ack('done');\n    return later('ledger-unavailable', ",
    ),
  ),
  mistake(
    'a push without a signature is received',
    patch(
      'receiver/receive.ts',
      "if (verified.kind === 'refused') {",
      "if (verified.kind === 'refused' && push.runId === '') {",
    ),
  ),
  mistake(
    'a message of a later kind is acknowledged',
    patch('receiver/receive.ts', "return later('newer-message', read.reason);", "return ack('done');"),
  ),
  mistake(
    'a senseless message is acknowledged and not filed',
    patch('receiver/poison.ts', '  await world.ledger.create<Poison>(poison);\n', ''),
  ),
  mistake(
    'a reference to nothing is acknowledged and not filed',
    patch(
      'receiver/receive.ts',
      "return filePoison(world, body, run.messageId, 'names a delivery that does not exist');",
      "return ack('no-such-delivery');",
    ),
  ),
  mistake(
    'the gate is asked before the row',
    patch(
      'receiver/receive.ts',
      "      return ack('done');\n    case 'quarantined':\n      return held(world, row);\n    case 'live':\n",
      "    case 'quarantined':\n    case 'live':\n      if (row) return deliverClaimable(world, run, row);\n",
    ),
  ),
];

/** Seen once in the million that was run before they were mended: too seldom for a hunt. `test/e2e/early.test.ts` sees both. */
const EARLY: readonly Mistake[] = [
  survivor(
    'a message for a claim that is about to lapse is not published again',
    'all messages of the row must be gone, and a look fall into the seconds by which two clocks differ, when all faults are over',
    patch(
      'receiver/early.ts',
      "onceMore(world, run, row, lapsesAfterMs(row) + 1, 'busy')",
      "Promise.resolve(ack('busy'))",
    ),
  ),
  survivor(
    'a message that comes a little early is not published again',
    'the same, with a look that finds the row due; without one, its sweep comes inside the bound',
    patch(
      'receiver/early.ts',
      "onceMore(world, run, row, claimableFromMs(row), 'early')",
      "Promise.resolve(ack('early'))",
    ),
  ),
];

const ACCEPTING: readonly Mistake[] = [
  mistake(
    'an event message is acknowledged before the event stands',
    patch(
      'receiver/receive.ts',
      '  switch (accepted.kind) {\n',
      "  if (accepted.kind !== 'conflict') return ack('accepted');\n  switch (accepted.kind) {\n",
    ),
    patch(
      'receiver/receive.ts',
      "const accepted = await accept(world, submission, { kind: 'queue', cause: run.cause });",
      "const pending = accept(world, submission, { kind: 'queue', cause: run.cause });\n  pending.catch(() => undefined);\n  const accepted = { kind: 'accepted' } as Awaited<typeof pending>;",
    ),
  ),
  mistake(
    'an event is promised before its deliveries stand',
    patch(
      'steps/accept.ts',
      'await createDeliveries(world, mine, usable, source, mine.acceptedAtMs);',
      'createDeliveries(world, mine, usable, source, mine.acceptedAtMs).catch(() => undefined);',
    ),
  ),
  mistake(
    'a repeat does not complete what is missing',
    patch('steps/accept.ts', '  await createDeliveries(world, present, usable, source, world.clock.nowMs());\n', ''),
  ),
  mistake(
    'other content under a known id is taken for a repeat',
    patch(
      'steps/accept.ts',
      '  if (!source.own && !sameSubmission(present, submission)) return conflict(world, present, submission, source);\n',
      '',
    ),
  ),
  mistake(
    'a conflict leaves no record',
    patch(
      'steps/accept.ts',
      'for (let n = kept.length; n < CONFLICTS_PER_EVENT_MAX; n += 1) {',
      'for (let n = kept.length; n < 0; n += 1) {',
    ),
  ),
  mistake(
    'the order of keys makes another event of it',
    patch(
      'core/acceptance.ts',
      '  event.fingerprint === submission.fingerprint &&\n',
      '  Buffer.from(event.payload).equals(Buffer.from(submission.payload)) &&\n',
    ),
  ),
  mistake(
    'a rescued event is discarded before it is accepted',
    patch(
      'receiver/rescue.ts',
      'const { submission } = message.message;\n',
      'const { submission } = message.message;\n  await world.deadLetters.discard(letter);\n',
    ),
  ),
];

export const RECEIVING: readonly Mistake[] = [...ANSWERING, ...EARLY, ...ACCEPTING];
