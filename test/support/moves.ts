/** Inputs of the machine as tests need them, and one step of it that must come to a write. */
import type { ClaimInput, Input, Outcome, Rules, SettleInput } from '../../functions/core/inputs.ts';
import { decide } from '../../functions/core/machine.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { claimIdOf, destinationItem, writeIdOf } from './rows.ts';

export const rulesOf = (overrides: Partial<Rules> = {}): Rules => {
  const { repeatSafe, keyLifeHours, scheduleSec, timeoutMs, mode } = destinationItem();
  return { repeatSafe, keyLifeHours, scheduleSec, timeoutMs, mode, ...overrides };
};

export const claimInput = (overrides: Partial<ClaimInput> = {}): ClaimInput => ({
  kind: 'claim',
  claimId: claimIdOf('claim-1'),
  holder: 'receiver-1',
  writeId: writeIdOf('w-claim'),
  cause: 'p:message-1',
  rules: rulesOf(),
  ...overrides,
});

export const outcomeOf = (overrides: Partial<Outcome> = {}): Outcome => ({
  class: 'delivered',
  detail: 'status-200',
  status: 200,
  durationMs: 240,
  mayHaveArrived: true,
  ...overrides,
});

export const settleInput = (overrides: Partial<SettleInput> = {}): SettleInput => ({
  kind: 'settle',
  claimId: claimIdOf('claim-1'),
  attempt: 1,
  outcome: outcomeOf(),
  writeId: writeIdOf('w-settle'),
  cause: 'p:message-1',
  rules: rulesOf(),
  ...overrides,
});

/** The row that the machine writes; a decision that writes nothing fails the test. */
export const moved = (row: Delivery, input: Input, nowMs: number): Delivery => {
  const decision = decide(row, input, nowMs, 0);
  if (decision.kind === 'write') return decision.next;
  throw new Error(`${input.kind} wrote nothing: ${JSON.stringify(decision)}`);
};
