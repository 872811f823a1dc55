/**
 * Joining a dead letter, or a quarantined row, with the ledger: strongly consistent, one row at a time. Broken or newer
 * items are a finding of their own and never in the way of the others.
 */
import { sameSubmission } from '../core/acceptance.ts';
import {
  type Context,
  type Finding,
  findInEvent,
  findInMessage,
  findInQuarantine,
  findInRow,
} from '../core/finding.ts';
import { type GateView, viewGate } from '../core/gate.ts';
import type { DestinationId } from '../core/ids.ts';
import { readMessage } from '../core/message.ts';
import type { Delivery, DeliveryRef } from '../core/model.ts';
import type { Operation } from '../core/operations.ts';
import type { Submission } from '../core/submission.ts';
import { LedgerCorrupt, type World } from '../ports.ts';

export interface Looked {
  readonly finding: Finding;
  readonly row?: Delivery;
  readonly submission?: Submission;
}

export interface Look {
  readonly world: Pick<World, 'ledger' | 'clock'>;
  readonly operation: Pick<Operation, 'source' | 'acceptSecondEffect'>;
  gateOf(destination: DestinationId): Promise<GateView>;
}

/** Settings and gates are read once for each destination: a look is for one turn, or for one plan. */
export const createLook = (world: Look['world'], operation: Look['operation']): Look => {
  const gates = new Map<DestinationId, Promise<GateView>>();
  const load = async (destination: DestinationId): Promise<GateView> => {
    const { config, gate } = await world.ledger.loadDestination(destination);
    return viewGate(config, gate, world.clock.nowMs());
  };
  return {
    world,
    operation,
    gateOf: (destination) => {
      const known = gates.get(destination) ?? load(destination);
      gates.set(destination, known);
      return known;
    },
  };
};

const BROKEN = 'an item of the ledger is broken';

const unbroken = async (look: () => Promise<Looked>, ref: DeliveryRef | undefined): Promise<Looked> => {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    return { finding: { kind: 'unknown', detail: BROKEN, ...(ref === undefined ? {} : { ref }) } };
  }
};

export const lookAtLetter = async (look: Look, body: Uint8Array): Promise<Looked> => {
  const inMessage = findInMessage(readMessage(body, look.world.clock.nowMs()), body);
  if (inMessage.kind === 'look') return lookAtRow(look, inMessage.ref);
  if (inMessage.kind === 'event') return unbroken(() => lookAtEvent(look, inMessage.submission), undefined);
  return { finding: inMessage };
};

export const lookAtRow = (look: Look, ref: DeliveryRef): Promise<Looked> =>
  unbroken(async () => {
    const found = await look.world.ledger.load({ item: 'delivery', event: ref.event, destination: ref.destination });
    if (found.kind === 'later')
      return { finding: { kind: 'unknown', detail: 'its row was written by newer code', ref } };
    if (found.kind === 'absent') return { finding: absent(look, ref) };
    const row = found.item;
    const context: Context = {
      nowMs: look.world.clock.nowMs(),
      acceptSecondEffect: look.operation.acceptSecondEffect,
      gate: await look.gateOf(ref.destination),
    };
    const find = look.operation.source === 'quarantine' ? findInQuarantine : findInRow;
    return { finding: find(row, context), row };
  }, ref);

const absent = (look: Look, ref: DeliveryRef): Finding =>
  look.operation.source === 'quarantine'
    ? { kind: 'drop', detail: 'its row is gone', ref }
    : { kind: 'poison', detail: 'names a delivery that does not exist', ref };

const lookAtEvent = async (look: Look, submission: Submission): Promise<Looked> => {
  const items = await look.world.ledger.loadEvent(submission.event);
  const known = items.find((item) => item.item === 'event');
  const standing = new Set(items.flatMap((item) => (item.item === 'delivery' ? [item.destination] : [])));
  const finding = findInEvent({
    same: known === undefined ? undefined : sameSubmission(known, submission),
    complete: submission.destinations.every((destination) => standing.has(destination)),
    unusable: await unusableOf(look, submission),
  });
  return { finding, submission };
};

const unusableOf = async (look: Look, { destinations }: Submission): Promise<DestinationId | undefined> => {
  for (const destination of destinations) {
    const gate = await look.gateOf(destination);
    if (gate.kind === 'no-destination' || gate.kind === 'newer' || !gate.config.acceptFromQueue) return destination;
  }
  return undefined;
};
