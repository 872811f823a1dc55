/** The gate of a destination, asked only for a row that could be claimed. A closed gate spends no budget. */
import { viewGate } from '../core/gate.ts';
import type { WriteId } from '../core/ids.ts';
import type { Input, Rules } from '../core/inputs.ts';
import type { Destination } from '../core/items.ts';
import type { Delivery } from '../core/model.ts';
import { type Transition, transition } from '../steps/transition.ts';
import { ack, type Verdict } from './answer.ts';
import type { Receiver, Run } from './run.ts';

export type GatePassed =
  | { readonly kind: 'open'; readonly config: Destination }
  | { readonly kind: 'answered'; readonly verdict: Verdict };

export const rulesOf = (config: Destination): Rules => ({
  repeatSafe: config.repeatSafe,
  keyLifeHours: config.keyLifeHours,
  scheduleSec: config.scheduleSec,
  timeoutMs: config.timeoutMs,
  mode: config.mode,
});

export const passGate = async (world: Receiver, run: Run, row: Delivery): Promise<GatePassed> => {
  const { config, gate } = await world.ledger.loadDestination(row.destination);
  const view = viewGate(config, gate, world.clock.nowMs(), world.dice.draw());
  const recorded = { writeId: world.dice.id() as WriteId, cause: run.cause };
  switch (view.kind) {
    case 'open':
      return { kind: 'open', config: view.config };
    case 'newer':
      world.telemetry.count('row-of-later-format');
      return { kind: 'answered', verdict: ack('row-of-later-format') };
    case 'no-destination':
      return answered(world, row, { kind: 'refuse', reason: 'no-destination', ...recorded });
    case 'park':
      return answered(world, row, { kind: 'park', reason: view.reason, rules: rulesOf(view.config), ...recorded });
    case 'wait':
      return answered(world, row, {
        kind: 'defer',
        reason: 'closed',
        untilMs: view.untilMs,
        rules: rulesOf(view.config),
        ...recorded,
      });
  }
};

const answered = async (world: Receiver, row: Delivery, input: Input): Promise<GatePassed> => ({
  kind: 'answered',
  verdict: verdictOf(await transition(world, row, input)),
});

/** What a step came to, as an answer to the queue: whatever it was, the ledger has it. */
export const verdictOf = (result: Transition): Verdict => {
  switch (result.kind) {
    case 'applied':
    case 'kept':
      return ack(result.note);
    case 'absent':
      return ack('no-such-delivery');
    case 'newer':
      return ack('row-of-later-format');
    case 'refused':
      throw new TypeError(`a push was refused as if a person had asked: ${result.code}`);
  }
};
