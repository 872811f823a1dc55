/**
 * Recording the outcome, and only then answering the queue.
 *
 * The claim is never released on a failed write: a request may have arrived, and whoever forgot that would send it
 * again as if nothing had happened. The write is repeated in place; if the ledger stays away, the lease ends by itself
 * and the next holder records this attempt as in doubt.
 */
import type { WriteId } from '../core/ids.ts';
import type { SettleInput } from '../core/inputs.ts';
import { outgoingKey } from '../core/keys.ts';
import { SETTLE_TRIES_MAX } from '../core/limits.ts';
import type { Claimed, Delivery } from '../core/model.ts';
import { isNoticeEvent, noticesOfGate } from '../core/notice.ts';
import { traceIdOf } from '../core/trace.ts';
import { PortUnavailable } from '../ports.ts';
import { noteOutcome } from '../steps/gate.ts';
import { raise } from '../steps/notices.ts';
import { resume } from '../steps/resume.ts';
import { type Transition, transition } from '../steps/transition.ts';
import { type Verdict, verdictOf } from './answer.ts';
import type { AttemptMade } from './attempt.ts';
import type { ClaimMade } from './claim.ts';
import { rulesOf } from './gate.ts';
import type { Receiver, Run } from './run.ts';

const FIRST_PAUSE_MS = 200;

export const settle = async (world: Receiver, run: Run, claimed: ClaimMade, made: AttemptMade): Promise<Verdict> => {
  const input: SettleInput = {
    kind: 'settle',
    claimId: claimed.row.claim.id,
    attempt: claimed.row.claim.attempt,
    outcome: made.outcome,
    rules: rulesOf(claimed.config),
    writeId: world.dice.id() as WriteId,
    cause: run.cause,
    ...(made.withheld ? { withheld: made.withheld } : {}),
  };
  const result = await settleInPlace(world, made.marked ?? claimed.row, input);
  report(world, run, claimed, made, result);
  await noteForDestination(world, claimed, made);
  return verdictOf(result);
};

/** The row is safe by now. What this costs the destination's gate can wait for the next attempt if the ledger is away. */
const noteForDestination = async (world: Receiver, claimed: ClaimMade, made: AttemptMade): Promise<void> => {
  const { event, destination } = claimed.row;
  try {
    const gate = await noteOutcome(world, destination, made.outcome, made.sawFailures ?? false);
    // Nothing is told about the delivery of a notice: else a destination that fails would hear of it, and fail again.
    if (gate !== undefined && !isNoticeEvent(event)) await raise(world, noticesOfGate(gate, world.clock.nowMs()));
    if (claimed.passed.probe && made.outcome.class === 'delivered')
      await resume(world, destination, world.clock.nowMs());
  } catch (error) {
    if (!(error instanceof PortUnavailable)) throw error;
    world.telemetry.line('gate.not-noted', { destination, detail: error.message });
  }
};

const settleInPlace = async (world: Receiver, row: Claimed, input: SettleInput): Promise<Transition> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transition(world, await latest(world, row, tries), input);
    } catch (error) {
      if (!(error instanceof PortUnavailable) || tries >= SETTLE_TRIES_MAX) throw error;
      world.telemetry.count('settle-repeated');
      await world.clock.sleep(FIRST_PAUSE_MS * 2 ** (tries - 1));
    }
  }
};

/** The first try writes over the claim as it was made: one write, no read. A stale row only costs a refusal. */
const latest = async (world: Receiver, row: Claimed, tries: number): Promise<Delivery> => {
  if (tries === 1) return row;
  const found = await world.ledger.load({ item: 'delivery', event: row.event, destination: row.destination });
  return found.kind === 'found' ? found.item : row;
};

/** One wide line an attempt: identities first, then what happened and what follows. */
const report = (world: Receiver, run: Run, claimed: ClaimMade, made: AttemptMade, result: Transition): void => {
  const { row } = claimed;
  const after = result.kind === 'applied' || result.kind === 'kept' ? result.row : undefined;
  const { class: outcome, detail, status: httpStatus, durationMs } = made.outcome;
  const fields = {
    event: row.event,
    destination: row.destination,
    // What the destination finds in its own log as `webhook-id`, and the trace that both sides share.
    key: outgoingKey(row.event, row.destination),
    traceId: traceIdOf(row.event, claimed.event.traceparent),
    attempt: row.claim.attempt,
    requestId: run.id,
    messageId: run.messageId,
    class: outcome,
    detail,
    httpStatus,
    durationMs,
    settled: result.kind === 'applied' || result.kind === 'kept' ? result.note : result.kind,
    status: after?.status,
    nextAtMs: after?.status === 'pending' ? after.dueAtMs : undefined,
    spent: after ? after.attempts - after.refunds : undefined,
    budget: after?.budget,
    journalLength: after?.journal.lines.length,
    head: after?.journal.head,
  };
  world.telemetry.line('delivery.attempted', fields, {
    [`attempt-${outcome}`]: 1,
    ...(durationMs === undefined ? {} : { 'attempt-ms': durationMs }),
  });
};
