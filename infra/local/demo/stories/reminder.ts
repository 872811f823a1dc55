/** A reminder: the id names the reminder and its occurrence, so however often it is submitted, it happens once. */
import { systemClock } from '../../../../functions/adapters/system.ts';
import { check, counts, type Story, told } from '../story.ts';

const AHEAD_MS = 2_000;
/** A message's delay is whole seconds, rounded up, plus one; the rest is the way through the queue. */
const LATE_MS_MAX = 4_000;

export const reminder: Story = {
  title: 'a reminder two seconds ahead, submitted twice',
  async play(stage) {
    const mailbox = await stage.destination('phone', { repeatSafe: true });
    const dueAtMs = systemClock.nowMs() + AHEAD_MS;
    const deliverAt = new Date(dueAtMs).toISOString();
    const id = `rem_88231:${deliverAt}`;
    await stage.submit(id, 'phone', { deliverAt });
    await stage.submit(id, 'phone', { deliverAt });
    const shown = await stage.ended(id, 'phone');
    const lateMs = (mailbox.requests[0]?.atMs ?? 0) - dueAtMs;
    return told(
      mailbox,
      `${shown.status} ${(lateMs / 1_000).toFixed(1)} s after its time`,
      ...counts(mailbox, 1, 1),
      check('not before its time', lateMs >= 0),
      check('on time', lateMs < LATE_MS_MAX),
      check('recorded as delivered', shown.status === 'delivered'),
    );
  },
};
