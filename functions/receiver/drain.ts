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
import { delaySecOf, publishDelivery } from '../steps/effects.ts';
import { notPublished } from '../steps/not-published.ts';
import { ack, type Verdict } from './answer.ts';
import type { Receiver, Run } from './run.ts';

export const drain = async (world: Receiver, run: Run, message: DrainMessage): Promise<Verdict> => {
  const { destination } = message;
  const { config, gate } = await world.ledger.loadDestination(destination);
  const view = viewGate(config, gate, world.clock.nowMs());
  // The destination asks for a moment: the same page again behind it, and once more if a clock that is behind meets it.
  if (view.kind === 'wait') return enqueue(world, message, view.untilMs, `${view.untilMs}:${run.messageId ?? run.id}`);
  // Paused again, closed for long, or gone: what is parked stays, and sweep or resume find it.
  if (view.kind !== 'open') return ack('waiting');
  const stepMs = slotStepMs(view.config);
  const page = await world.pages.list({
    list: 'parked',
    destination,
    limit: rowsAPage(world, stepMs),
    ...(message.cursor === undefined ? {} : { cursor: message.cursor }),
  });
  // A page that comes late, behind a closing say, begins now: due times in the past would all be due at once.
  const nowMs = world.clock.nowMs();
  const fromMs = message.fromMs + Math.max(0, nowMs - (message.fromMs + message.sent * stepMs));
  let sent = message.sent;
  for (const ref of page.refs) {
    const row = await parkedRow(world, ref);
    if (row === undefined) continue;
    const dueAtMs = Math.ceil(fromMs + sent * stepMs);
    const published = await publishDelivery(world, row, {
      kind: 'publish',
      version: row.version,
      tick: message.drain,
      dueAtMs,
    });
    // The queue repeats this page; what it has published already it publishes under the same keys.
    if (!published || world.clock.nowMs() - nowMs > PAGE_MS_MAX) {
      return { kind: 'later', code: 'queue-unavailable', detail: 'the queue does not take the messages of this drain' };
    }
    sent += 1;
  }
  world.telemetry.line('drain.page', { destination, run: run.id, page: message.page, rows: sent - message.sent });
  if (page.next === undefined) return ack('drained');
  const next = { ...message, page: message.page + 1, fromMs: Math.ceil(fromMs), sent, cursor: page.next };
  // Not long before its first row is due: a page far ahead would need delays that the queue does not have.
  return enqueue(world, next, fromMs + sent * stepMs - AHEAD_MS, undefined);
};

const AHEAD_MS = 30_000;
const PAGE_MS_MAX = 20_000;

/** No more than have their time within half of the queue's longest delay: a slow rate makes small pages. */
const rowsAPage = (world: Receiver, stepMs: number): number =>
  Math.max(1, Math.min(DRAIN_PAGE_ROWS, Math.floor(world.queue.limits.delayMsMax / 2 / stepMs)));

/** The next page is enqueued before this one is acknowledged: if that fails, the queue repeats this page. */
const enqueue = async (
  world: Receiver,
  next: DrainMessage,
  notBeforeMs: number,
  again: string | undefined,
): Promise<Verdict> => {
  const delaySec = Math.min(
    delaySecOf(notBeforeMs, world.clock.nowMs()),
    Math.floor(world.queue.limits.delayMsMax / 1_000),
  );
  const published = await world.queue.publish({
    key: publishKeyOf('drain', next.destination, next.drain, next.page, ...(again === undefined ? [] : [again])),
    body: drainBody(next),
    delaySec,
  });
  if (published.kind === 'published') return ack('drained');
  notPublished(world.telemetry, { destination: next.destination }, published);
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
