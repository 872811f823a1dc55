/**
 * A message that comes before its row may be claimed: before its time, or while somebody holds a claim. Most are repeats,
 * and cost nothing: the row's own message comes at its time. But the clocks of two workers may differ by the margin, and
 * then this may be that very message, in time by the clock that planned it: by that of a sweep, say, which has found the
 * lease of a dead worker over. Without it the row would wait for its next look.
 *
 *   early by more than the margin ------> nothing: its own message is still to come
 *   early by no more than the margin ---> once more, behind what is left by this clock
 *
 * This ends: a key names the row version, the whole seconds left and the message, so a message makes five such messages
 * at most, however often it is pushed; and behind that instant + margin no clock of ours finds it early. The message is
 * named because a third clock can be further behind by just the delay, and would find the same seconds left again.
 * Nothing is written. If the queue does not take it, the push is refused: it is pushed again, when it is not early any more.
 */
import { publishKeyOf } from '../core/keys.ts';
import { SKEW_MARGIN_MS } from '../core/limits.ts';
import { deliverBody } from '../core/message.ts';
import type { Claimed, Pending } from '../core/model.ts';
import { claimableFromMs, lapsesAfterMs } from '../core/phase.ts';
import { delaySecOf } from '../steps/effects.ts';
import { notPublished } from '../steps/not-published.ts';
import { ack, later, type Verdict } from './answer.ts';
import type { Receiver, Run } from './run.ts';

export const comesEarly = (world: Receiver, run: Run, row: Pending): Promise<Verdict> =>
  onceMore(world, run, row, claimableFromMs(row), 'early');

export const meetsClaim = (world: Receiver, run: Run, row: Claimed): Promise<Verdict> =>
  onceMore(world, run, row, lapsesAfterMs(row) + 1, 'busy');

const onceMore = async (
  world: Receiver,
  run: Run,
  row: Pending | Claimed,
  fromMs: number,
  note: 'early' | 'busy',
): Promise<Verdict> => {
  const nowMs = world.clock.nowMs();
  if (fromMs - nowMs > SKEW_MARGIN_MS) return ack(note);
  const { event, destination, version } = row;
  const delaySec = delaySecOf(fromMs, nowMs);
  const published = await world.queue.publish({
    key: publishKeyOf('early', event, destination, version, delaySec, run.messageId ?? run.id),
    body: deliverBody(event, destination),
    delaySec,
  });
  if (published.kind === 'published') return ack(note);
  notPublished(world.telemetry, { event, destination }, published);
  return later('queue-unavailable', published.detail);
};
