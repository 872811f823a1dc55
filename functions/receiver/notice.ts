/**
 * Telling what a notice refers to, as far as the ledger says so too.
 *
 *   who is marked --nobody------------------------------> nothing
 *     +--> what stands in the ledger --not so any more--> nothing
 *            +--> for each of them, but the one that it is about: an event of our own, accepted as any other
 *
 * From there on it is a delivery like all others. A message that comes again finds its events accepted, and completes
 * what is missing.
 */
import type { DestinationId } from '../core/ids.ts';
import { DUE_SHARDS } from '../core/limits.ts';
import {
  type Fact,
  failingFact,
  finishedFact,
  type Notice,
  noticeSubmission,
  pausedFact,
  quarantinedFact,
  silentFact,
} from '../core/notice.ts';
import { LedgerCorrupt } from '../ports.ts';
import { accept } from '../steps/accept.ts';
import { brokenItem } from '../steps/broken-item.ts';
import { ack, type Verdict } from './answer.ts';
import type { Receiver, Run } from './run.ts';

export const tellNotice = async (world: Receiver, run: Run, notice: Notice): Promise<Verdict> => {
  const marked = (await world.notices?.marked()) ?? [];
  const fact = marked.length === 0 ? undefined : await factOf(world, notice);
  if (fact === undefined) return ack('nothing-to-tell');
  for (const to of marked) {
    if (to === fact.destination) continue;
    try {
      await tellOne(world, run, fact, to);
    } catch (error) {
      // Settings that nobody can read take no notice from the others.
      if (!(error instanceof LedgerCorrupt)) throw error;
      brokenItem(world.telemetry, { run: run.id, destination: to }, error);
    }
  }
  return ack('told');
};

const tellOne = async (world: Receiver, run: Run, fact: Fact, to: DestinationId): Promise<void> => {
  const config = await world.ledger.load({ item: 'destination', destination: to });
  // The register is only where to look: the settings say whether it is still marked.
  if (config.kind !== 'found' || config.item.notices !== true || config.item.deletedAtMs !== undefined) return;
  await accept(world, noticeSubmission(fact, to), { kind: 'queue', cause: run.cause, own: true });
  world.telemetry.line('notice.told', { notice: fact.kind, about: fact.about, destination: to });
};

const factOf = async (world: Receiver, notice: Notice): Promise<Fact | undefined> => {
  const { ledger, clock } = world;
  switch (notice.kind) {
    case 'delivery-quarantined': {
      const { event, destination } = notice;
      const row = await ledger.load({ item: 'delivery', event, destination });
      return row.kind === 'found' ? quarantinedFact(row.item) : undefined;
    }
    case 'destination-paused':
    case 'destination-failing': {
      const { gate } = await ledger.loadDestination(notice.destination);
      if (gate.kind !== 'found') return undefined;
      return notice.kind === 'destination-paused' ? pausedFact(gate.item) : failingFact(gate.item, clock.nowMs());
    }
    case 'redrive-finished': {
      const found = await ledger.load({ item: 'operation', operation: notice.operation });
      return found.kind === 'found' ? finishedFact(found.item) : undefined;
    }
    case 'sweep-silent': {
      const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => shard);
      const found = await Promise.all(shards.map((shard) => ledger.load({ item: 'heartbeat', shard })));
      const beats = found.flatMap((one) => (one.kind === 'found' ? [one.item] : []));
      return silentFact(beats, clock.nowMs());
    }
  }
};
