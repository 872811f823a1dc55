/**
 * Deliberate mistakes in the real code. The run over all orders is worth as much as the mistakes it finds: each of these
 * must be caught, and by a judge that was meant to catch it.
 */

import type { Patch } from '../support/patched-code.ts';
import type { OracleName } from './oracles.ts';
import type { Scene } from './scene.ts';

/** The mistakes that are looked for in the quick tier as well. */
export const FIRST_MISTAKES: readonly string[] = [
  'a live claim is taken over',
  'an attempt in doubt is sent again blindly',
  'the re-check looks at the lease but not at its owner',
  'a settle does not ask whose claim it is',
  'the push is acknowledged before the outcome is recorded',
  'no write is recognised as our own',
];

export interface BrokenMachine {
  readonly name: string;
  readonly patches: readonly Patch[];
  /** Where to look. */
  readonly scene: Scene;
  /** The judge that is there for this mistake. */
  readonly caughtBy: OracleName;
}

const SCENE: Scene = {
  name: 'broken machine',
  repeatSafe: true,
  answer: '200',
  start: 'fresh',
  cast: ['worker', 'worker'],
  limit: 'none',
  pushes: 0,
  skewMs: 0,
  jumps: 0,
  jumpsMs: [36_000],
  crashes: 0,
  faults: 0,
  faultsAt: 'anything',
  messages: 'kept',
};

const patch = (file: string, find: string, put: string): Patch => ({ file, find, put });
const machine = (
  name: string,
  caughtBy: OracleName,
  twist: Partial<Scene>,
  ...patches: readonly Patch[]
): BrokenMachine => ({ name, caughtBy, scene: { ...SCENE, ...twist }, patches });

const UNSAFE: Partial<Scene> = { repeatSafe: false };
const OVER_LEASE: Partial<Scene> = { jumps: 1 };

const CLAIMING: readonly BrokenMachine[] = [
  machine(
    'a live claim is taken over',
    'claim-in-time',
    {},
    patch('core/machine.ts', '    claim: busy,\n', '    claim: takeOver,\n'),
  ),
  machine(
    'a delivered row is claimed again',
    'final-stays',
    {},
    patch('core/machine.ts', '  delivered: {\n    claim: done,\n', '  delivered: {\n    claim: take,\n'),
  ),
  machine(
    'the due time is not looked at',
    'claim-in-time',
    { answer: '500' },
    patch('core/phase.ts', "return nowMs < claimableFromMs(row) ? 'early' : 'due';", "return 'due';"),
  ),
  machine(
    'a lease ends without a margin for other clocks',
    'claim-in-time',
    { jumps: 1, jumpsMs: [30_001] },
    patch('core/phase.ts', 'row.claim.leaseEndsAtMs + SKEW_MARGIN_MS', 'row.claim.leaseEndsAtMs'),
  ),
  machine(
    'a claim does not count its attempt',
    'attempts-add-up',
    {},
    patch('core/moves/claim.ts', '    attempts: attempt,\n', '    attempts: life.attempts,\n'),
  ),
  machine(
    'the budget is not looked at when claiming',
    'budget-holds',
    { start: 'last', crashes: 1 },
    patch('core/moves/claim.ts', "  if (!budgetLeft(life) || life.attempts >= ATTEMPTS_MAX) return 'budget';\n", ''),
  ),
  machine(
    'an attempt in doubt is sent again blindly',
    'one-effect',
    { ...UNSAFE, crashes: 1 },
    patch('core/moves/claim.ts', "  if (life.doubt === 'unsafe') return 'in-doubt';\n", ''),
  ),
  machine(
    'every attempt of a dead worker counts as never sent',
    'one-effect',
    { ...UNSAFE, crashes: 1 },
    patch(
      'core/moves/claim.ts',
      'const nothingLeft = !claim.repeatSafe && claim.sendingAtMs === undefined;',
      'const nothingLeft = !claim.repeatSafe;',
    ),
  ),
];

const SENDING: readonly BrokenMachine[] = [
  machine(
    'the sending mark is left out',
    'mark-before-send',
    UNSAFE,
    patch('receiver/attempt.ts', '  if (row.claim.repeatSafe) return row;\n', '  return row;\n'),
  ),
  machine(
    'the re-check looks at the lease but not at its owner',
    'owner-sends',
    OVER_LEASE,
    patch('receiver/attempt.ts', ' && found.item.claim.id === mine.claim.id;', ';'),
    patch('receiver/attempt.ts', 'if (mine.claim.leaseEndsAtMs - nowMs', 'if (found.item.claim.leaseEndsAtMs - nowMs'),
  ),
  machine(
    'the re-check looks at the owner but not at the lease',
    'owner-sends',
    { jumps: 1, jumpsMs: [29_000] },
    patch(
      'receiver/attempt.ts',
      "< config.timeoutMs) return withheld('short-lease');",
      "< 0) return withheld('short-lease');",
    ),
  ),
  machine(
    'every attempt has a key of its own',
    'same-request',
    { answer: '500' },
    patch(
      'receiver/request.ts',
      'const id = outgoingKey(row.event, row.destination);',
      'const id = outgoingKey(row.event, row.destination) + row.claim.id;',
    ),
  ),
  machine(
    'no answer in time is taken for not sent',
    'certainty-is-true',
    { ...UNSAFE, answer: 'timeout' },
    patch(
      'core/outcome.ts',
      'return classified(answer.kind, answer.cause, undefined);',
      "return classified('not-sent', answer.cause, undefined);",
    ),
  ),
];

const SETTLING: readonly BrokenMachine[] = [
  machine(
    'a settle does not ask whose claim it is',
    'attempts-add-up',
    OVER_LEASE,
    patch('core/moves/settle.ts', '  if (row.claim.id !== input.claimId) return late(row, input, at);\n', ''),
  ),
  machine(
    'the push is acknowledged before the outcome is recorded',
    'record-before-ack',
    {},
    patch(
      'receiver/receive.ts',
      'return await settle(world, run, claimed, made);',
      "void settle(world, run, claimed, made);\n    return ack('settled');",
    ),
  ),
  machine(
    'a settle that fails is given up and the push acknowledged',
    'record-before-ack',
    { faults: 1 },
    patch(
      'receiver/settle.ts',
      ' || tries >= SETTLE_TRIES_MAX) throw error;',
      ") throw error;\n      return { kind: 'absent' };",
    ),
  ),
  machine(
    'no write is recognised as our own',
    'record-before-ack',
    { faults: 1 },
    patch(
      'core/machine.ts',
      '  const { writeId, claimId } = signatureOf(input);\n',
      '  if (input) return false;\n  const { writeId, claimId } = signatureOf(input);\n',
    ),
  ),
  machine(
    'a refused write is repeated over what stands there',
    'journal-grows',
    {},
    patch('steps/transition.ts', 'row = present.item;', 'row = { ...row, version: present.item.version };'),
  ),
  machine(
    'a decision that is repeated is taken twice',
    'once-decided',
    { ...UNSAFE, answer: 'timeout', start: 'doubted', cast: ['worker', 'redrive'], pushes: 1, faults: 1 },
    patch(
      'core/moves/decisions.ts',
      'const known = (row: Delivery, input: Person): boolean =>\n',
      'const known = (row: Delivery, input: Person): boolean => false &&\n',
    ),
  ),
  machine(
    'a late outcome overwrites the row',
    'final-stays',
    { ...OVER_LEASE, answer: '500' },
    patch(
      'core/moves/settle.ts',
      "return write({ ...row, version: life.version, journal: life.journal }, 'late', effects);",
      "return write(nextState(life, life, input, at), 'late', effects);",
    ),
  ),
  machine(
    'a late success is ignored',
    'success-is-kept',
    OVER_LEASE,
    patch('core/moves/settle.ts', "if (input.outcome.class === 'delivered' && !final) {", 'if (final && !final) {'),
  ),
  machine(
    'an attempt in doubt gives its unit of the budget back',
    'budget-holds',
    { start: 'last', answer: 'timeout' },
    patch(
      'core/moves/settle.ts',
      "const refunded = outcome.class === 'withheld' && ",
      "const refunded = outcome.class !== 'delivered' && ",
    ),
  ),
];

const LOOKING_AFTER: readonly BrokenMachine[] = [
  machine(
    'a sweep passes over claims that have lapsed',
    'nothing-stranded',
    { crashes: 1 },
    patch('core/machine.ts', '    sweep: lookLapsed,\n', '    sweep: done,\n'),
  ),
  machine(
    'a sweep passes over rows that are due',
    'nothing-stranded',
    { answer: '500', messages: 'lost' },
    patch('core/machine.ts', '    sweep: lookDue,\n', '    sweep: done,\n'),
  ),
  machine(
    'a claim is looked after a day later',
    'looks-planned',
    {},
    patch(
      'core/moves/claim.ts',
      'Math.min(row.lookAfterMs, leaseEndsAtMs + SKEW_MARGIN_MS)',
      'row.lookAfterMs + 86_400_000',
    ),
  ),
];

const AT_THE_GATE: readonly BrokenMachine[] = [
  machine(
    'the re-check does not look at the gate',
    'pause-obeyed',
    { cast: ['worker', 'pause'] },
    patch('receiver/attempt.ts', 'return withheld(view.reason, parkPlan(view));', 'return undefined;'),
  ),
  machine(
    'a parked row does not look at the gate again',
    'prompt-when-well',
    { start: 'shut', cast: ['worker', 'resume'], pushes: 1 },
    patch('steps/effects.ts', 'return rereadGate(world, ref, effect.version);', 'return true;'),
  ),
  machine(
    'a destination that is opened again does not let go what is parked',
    'prompt-when-well',
    { start: 'shut', cast: ['worker', 'resume'] },
    patch('steps/resume.ts', 'return enqueueDrain(world, destination, drain);', 'return true;'),
  ),
  machine(
    'a place is taken from its holder',
    'places-hold',
    { limit: 'place' },
    patch('steps/places.ts', 'nowMs > slot.leaseEndsAtMs + SKEW_MARGIN_MS', 'nowMs > 0'),
  ),
];

export const BROKEN_MACHINES: readonly BrokenMachine[] = [
  ...CLAIMING,
  ...SENDING,
  ...SETTLING,
  ...LOOKING_AFTER,
  ...AT_THE_GATE,
];
