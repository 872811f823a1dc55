/**
 * A message that comes before its row may be claimed. Most are repeats, and cost nothing: the row's own message comes at
 * its time. But the clocks of two workers may differ by the margin, and then this may be that very message, which has
 * come in time by the clock that planned it: without it the row would wait for its sweep.
 *
 *   early by more than the margin ------> nothing: its own message is still to come
 *   early by no more than the margin ---> once more, behind what is left by this clock
 *
 * This ends: a key names the row version and the whole seconds left, so a row version makes five such messages at most,
 * however often it is pushed; and behind due + margin no clock of ours finds it early. Nothing is written.
 */
import { publishKeyOf } from '../core/keys.ts';
import { SKEW_MARGIN_MS } from '../core/limits.ts';
import { deliverBody } from '../core/message.ts';
import type { Pending } from '../core/model.ts';
import { claimableFromMs } from '../core/phase.ts';
import { delaySecOf } from '../steps/effects.ts';
import { notPublished } from '../steps/not-published.ts';
import { ack, type Verdict } from './answer.ts';
import type { Receiver } from './run.ts';

export const comesEarly = async (world: Receiver, row: Pending): Promise<Verdict> => {
  const nowMs = world.clock.nowMs();
  const fromMs = claimableFromMs(row);
  if (fromMs - nowMs > SKEW_MARGIN_MS) return ack('early');
  const { event, destination, version } = row;
  const delaySec = delaySecOf(fromMs, nowMs);
  const published = await world.queue.publish({
    key: publishKeyOf('early', event, destination, version, delaySec),
    body: deliverBody(event, destination),
    delaySec,
  });
  if (published.kind === 'failed') notPublished(world.telemetry, { event, destination }, published);
  return ack('early');
};
