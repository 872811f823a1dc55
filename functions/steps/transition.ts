/**
 * One step of one delivery: decide from the row that was read, write it under the version that was read, act.
 *
 *   row --decide--> next --replace--> written: effects
 *    ^                        |
 *    +------- refused: the present row comes back; if our own write stands in it, it had been applied
 */
import type { Input, Note, RefusalCode } from '../core/inputs.ts';
import { SWAP_TRIES_MAX } from '../core/limits.ts';
import { decide, effectsAgain, isOurs } from '../core/machine.ts';
import type { Delivery } from '../core/model.ts';
import { noticesOfChange } from '../core/notice.ts';
import { PortUnavailable } from '../ports.ts';
import { type Effects, perform } from './effects.ts';
import { raise } from './notices.ts';

export type Transition =
  /** The write stands. `row` is what is there now: ours, or what a rival has made of it since. */
  | { readonly kind: 'applied'; readonly row: Delivery; readonly note: Note }
  | { readonly kind: 'kept'; readonly row: Delivery; readonly note: Note }
  | {
      readonly kind: 'refused';
      readonly row: Delivery;
      readonly code: RefusalCode;
      readonly leaseEndsAtMs?: number;
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer'; readonly format: number };

/**
 * Throws `PortUnavailable` when the ledger is out of reach, or when the row kept changing under every try. A repeat
 * with the same input (same write id, same claim id) is safe after any failure.
 */
export const transition = async (world: Effects, read: Delivery, input: Input): Promise<Transition> => {
  let row = read;
  // A repeat of an input whose first write was applied, while its answer was lost: deciding again would do it twice.
  if (isOurs(row, input)) {
    await perform(world, row, effectsAgain(row, input, world.clock.nowMs()));
    return { kind: 'applied', row, note: 'repeated' };
  }
  for (let tries = 0; tries < SWAP_TRIES_MAX; tries += 1) {
    const decision = decide(row, input, world.clock.nowMs(), world.dice.draw());
    if (decision.kind === 'keep') return { kind: 'kept', row, note: decision.note };
    if (decision.kind === 'refused') return { ...decision, row };
    // A sweep publishes first and moves the row only if that went well: the next tick tries again.
    if (!(await perform(world, row, decision.before))) return { kind: 'kept', row, note: 'unpublished' };
    const written = await world.ledger.replace<Delivery>(row, decision.next);
    if (written.kind === 'written') {
      announce(world, row, decision.next, input);
      await perform(world, row, decision.after);
      await tell(world, row, decision.next);
      return { kind: 'applied', row: decision.next, note: decision.note };
    }
    const { present } = written;
    if (present.kind === 'absent') return { kind: 'absent' };
    if (present.kind === 'later') return { kind: 'newer', format: present.format };
    if (isOurs(present.item, input)) {
      announce(world, row, decision.next, input);
      await perform(world, row, decision.after);
      await tell(world, row, decision.next);
      return { kind: 'applied', row: present.item, note: decision.note };
    }
    row = present.item;
  }
  throw new PortUnavailable('ledger', `delivery ${read.event} to ${read.destination} kept changing`);
};

/** What a person should hear of, whichever step has found it out. A step that is repeated after it stands says nothing. */
const announce = ({ telemetry }: Pick<Effects, 'telemetry'>, before: Delivery, after: Delivery, input: Input): void => {
  if (before.status === 'claimed' && CLOSES_LAPSED.has(input.kind)) telemetry.count('lease-lapsed');
  if (after.status === 'quarantined' && before.status !== 'quarantined') {
    telemetry.count(`quarantined-${after.reason}`);
  }
};

/** Mostly there is nothing to tell. */
const tell = (world: Effects, before: Delivery, after: Delivery): Promise<void> | undefined => {
  const notices = noticesOfChange(before, after);
  return notices.length === 0 ? undefined : raise(world, notices);
};

/** Inputs that find a claim and end it have found it lapsed: its worker died, or was cut off. */
const CLOSES_LAPSED: ReadonlySet<Input['kind']> = new Set(['claim', 'refuse', 'cancel']);
