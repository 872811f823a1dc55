/**
 * Letting go what is parked at a destination that is open again, page by page, at its rate.
 *
 *   resume --> drain page 0 --> publishes row i with delay i / rate --> enqueues page 1 --> ... --> nothing parked is left
 *
 * No lease: a repeated page publishes the same rows under the same keys. A row is taken out of its parking by its claim,
 * so a message that is lost costs nothing but the hour after which a sweep looks.
 */
import { slotStepMs, viewGate } from '../core/gate.ts';
import { publishKeyOf } from '../core/keys.ts';
import { DRAIN_PAGE_ROWS } from '../core/limits.ts';
import { type DrainMessage, drainBody } from '../core/message.ts';
import type { Pending } from '../core/model.ts';
import { LedgerCorrupt, type Ref } from '../ports.ts';
import { publishDelivery } from '../steps/effects.ts';
import { ack, type Verdict } from './answer.ts';
import type { Receiver, Run } from './run.ts';

export const drain = async (world: Receiver, run: Run, message: DrainMessage): Promise<Verdict> => {
  const { destination } = message;
  const { config, gate } = await world.ledger.loadDestination(destination);
  const view = viewGate(config, gate, world.clock.nowMs());
  // Closed again, or gone: what is parked stays, and whoever opens the gate next starts a drain of its own.
  if (view.kind !== 'open') return ack('waiting');
  const page = await world.pages.list({
    list: 'parked',
    destination,
    limit: DRAIN_PAGE_ROWS,
    ...(message.cursor === undefined ? {} : { cursor: message.cursor }),
  });
  const stepMs = slotStepMs(view.config);
  let sent = message.sent;
  for (const ref of page.refs) {
    const row = await parkedRow(world, ref);
    if (row === undefined) continue;
    const dueAtMs = Math.ceil(message.fromMs + sent * stepMs);
    await publishDelivery(world, row, { kind: 'publish', version: row.version, tick: message.drain, dueAtMs });
    sent += 1;
  }
  world.telemetry.line('drain.page', { destination, run: run.id, page: message.page, rows: sent - message.sent });
  if (page.next === undefined) return ack('drained');
  return enqueueNext(world, { ...message, page: message.page + 1, sent, cursor: page.next });
};

/** The next page is enqueued before this one is acknowledged: if that fails, the queue repeats this page. */
const enqueueNext = async (world: Receiver, next: DrainMessage): Promise<Verdict> => {
  const published = await world.queue.publish({
    key: publishKeyOf('drain', next.destination, next.drain, next.page),
    body: drainBody(next),
    delaySec: 0,
  });
  if (published.kind === 'published') return ack('drained');
  world.telemetry.line('publish.failed', { destination: next.destination, code: published.code });
  return { kind: 'later', code: 'queue-unavailable', detail: published.detail };
};

const parkedRow = async (world: Receiver, ref: Ref): Promise<Pending | undefined> => {
  if (ref.item !== 'delivery') return undefined;
  try {
    const found = await world.ledger.load({ item: 'delivery', event: ref.event, destination: ref.destination });
    if (found.kind !== 'found' || found.item.status !== 'pending' || !found.item.parking) return undefined;
    return found.item;
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    world.telemetry.count('ledger-corrupt');
    return undefined;
  }
};
