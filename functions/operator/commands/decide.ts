/**
 * One request of a person becomes one decision, however often it is sent and wherever it was cut off.
 *
 *   request --known, ended----------------------------------------------> the answer that it had
 *      +------known, not ended---+
 *      +------new: look, refuse--|--> refused: nothing was written, the same request may be sent again later
 *                  +--record-----+--> act: gate or row names the request --> conclude --> answer
 */
import { type Asked, fingerprintOfAsked } from '../../core/decision.ts';
import { causeOf } from '../../core/journal.ts';
import { SWAP_TRIES_MAX } from '../../core/limits.ts';
import type { Decided } from '../../core/operations.ts';
import { type Found, PortUnavailable, type World } from '../../ports.ts';

type Needs = Pick<World, 'ledger' | 'clock' | 'telemetry'>;

/** It has acted. Any other result is the code by which it was refused. */
export const DONE = 'done';

export interface Ready {
  readonly kind: 'ready';
  /** What it is about to change, in a few words. */
  readonly before: string;
  /** Which settings, one line each. */
  readonly changes?: readonly string[];
}

export interface Work<Refused> {
  /** Looks without writing. */
  look(): Promise<Ready | Refused>;
  /**
   * Does what was decided, or finds it done; gives the result. Must be safe to repeat after any failure. `isNew`: this
   * call has recorded it; if not, an earlier one has, which may still be at it or may have been cut off. A refusal
   * concludes nothing: the same request may be sent again later.
   */
  act(decision: Decided, isNew: boolean): Promise<string | Refused>;
}

export type Once<Refused> =
  | { readonly kind: 'decided'; readonly decision: Decided; readonly result: string }
  /** The request id was used before, for something else or by somebody else. */
  | { readonly kind: 'reused' }
  | { readonly kind: 'newer' }
  | Refused;

export const decideOnce = async <Refused extends { readonly kind: string }>(
  world: Needs,
  asked: Asked,
  work: Work<Refused>,
): Promise<Once<Refused>> => {
  const earlier = await recall(world, asked);
  if (earlier.kind !== 'none') return goOn(world, earlier, work);
  const looked = await work.look();
  if (isReady(looked)) return goOn(world, await record(world, asked, looked), work);
  // The state may be refused for what this very request, sent twice at once, has just made of it.
  const since = await recall(world, asked);
  return since.kind === 'none' ? looked : goOn(world, since, work);
};

const recall = async ({ ledger }: Needs, asked: Asked): Promise<Standing> =>
  standing(asked, await ledger.load({ item: 'decision', cause: causeOf('actor', asked.request) }));

const isReady = (looked: { readonly kind: string }): looked is Ready => looked.kind === 'ready';

type Standing =
  | { readonly kind: 'none' }
  | { readonly kind: 'known'; readonly decision: Decided; readonly isNew?: true }
  | { readonly kind: 'reused' }
  | { readonly kind: 'newer' };

const standing = (asked: Asked, found: Found<Decided>): Standing => {
  if (found.kind === 'absent') return { kind: 'none' };
  if (found.kind === 'later') return { kind: 'newer' };
  const same = found.item.fingerprint === fingerprintOfAsked(asked);
  return same ? { kind: 'known', decision: found.item } : { kind: 'reused' };
};

type Recorded = Exclude<Standing, { kind: 'none' }>;

const record = async (world: Needs, asked: Asked, { before, changes }: Ready): Promise<Recorded> => {
  const { more: _more, ...said } = asked;
  const decision: Decided = {
    item: 'decision',
    version: 1,
    ...said,
    fingerprint: fingerprintOfAsked(asked),
    before,
    ...(changes === undefined ? {} : { changes }),
    decidedAtMs: world.clock.nowMs(),
    carried: {},
  };
  const created = await world.ledger.create<Decided>(decision);
  if (created.kind === 'written') return { kind: 'known', decision, isNew: true };
  const there = standing(asked, created.present);
  if (there.kind === 'none')
    throw new PortUnavailable('ledger', `decision ${asked.request} vanished while it was made`);
  return there;
};

const goOn = async <Refused>(world: Needs, recorded: Recorded, work: Work<Refused>): Promise<Once<Refused>> =>
  recorded.kind === 'known' ? carryOut(world, recorded, work) : recorded;

const carryOut = async <Refused>(
  world: Needs,
  { decision, isNew }: Extract<Recorded, { kind: 'known' }>,
  work: Work<Refused>,
): Promise<Once<Refused>> => {
  if (decision.result !== undefined) return { kind: 'decided', decision, result: decision.result };
  const acted = await work.act(decision, isNew === true);
  if (typeof acted !== 'string') return acted;
  const result = await conclude(world, decision, acted);
  const { request, command, actor, before, event, destination } = decision;
  world.telemetry.line('decision.made', { request, command, actor, before, event, destination, result });
  return { kind: 'decided', decision, result };
};

/** Writes down how it ended, and gives what stands: of two that ran at once, the one that acted is right. */
export const conclude = async (world: Pick<World, 'ledger'>, decision: Decided, result: string): Promise<string> => {
  let read = decision;
  for (let tries = 0; tries < SWAP_TRIES_MAX; tries += 1) {
    if (read.result === DONE || read.result === result) return read.result;
    const written = await world.ledger.replace<Decided>(read, { ...read, version: read.version + 1, result });
    if (written.kind === 'written') return result;
    if (written.present.kind !== 'found') break;
    read = written.present.item;
    if (read.result !== undefined && result !== DONE) return read.result;
  }
  throw new PortUnavailable('ledger', `decision ${decision.request} could not be concluded; repeat the same request`);
};
