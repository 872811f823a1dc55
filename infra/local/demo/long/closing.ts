/** One 429 with Retry-After in the middle of many deliveries: whoever looks at the gate afterwards does not go. */
import { systemClock } from '../../../../functions/adapters/system.ts';
import type { Stage } from '../stage.ts';
import { check, type Story, told } from '../story.ts';

const EVENTS = 150;
const BEFORE = 20;
const CLOSED_SEC = 5;
const NAME = 'closing';
/** What has passed its re-check before the closing write may still leave: 1 s, and a moment for write and connection. */
const LEAVES_WITHIN_MS = 1_500;

/** When the gate says that it was closed: taken just before the closing write. */
const closedSinceMs = async (stage: Stage): Promise<number> => {
  for (;;) {
    const { body } = await stage.call('GET', `/v1/destinations/${NAME}`);
    const { state, since = '' } = body as { state?: string; since?: string };
    if (state === 'closed') return Date.parse(since);
    await systemClock.sleep(50);
  }
};

export const closing: Story = {
  title: `one 429 with Retry-After among ${EVENTS} deliveries`,
  async play(stage) {
    const mailbox = await stage.destination(NAME, { repeatSafe: true, schedule: [1, 1, 1], timeoutMs: 15_000 });
    stage.partner.script(NAME, [
      ...Array.from({ length: BEFORE }, () => ({ status: 200, delayMs: 20 })),
      { status: 429, headers: { 'retry-after': String(CLOSED_SEC) } },
      { status: 200 },
    ]);
    const ids = Array.from({ length: EVENTS }, (_, index) => `c-${index}`);
    await Promise.all(ids.map((id) => stage.submit(id, NAME)));
    const closedMs = await closedSinceMs(stage);
    const shown = await Promise.all(ids.map((id) => stage.ended(id, NAME)));
    const since = mailbox.requests.map((request) => request.atMs - closedMs).filter((ms) => ms > 0);
    const during = since.filter((ms) => ms > LEAVES_WITHIN_MS && ms < CLOSED_SEC * 1_000);
    const resumedMs = Math.min(...since.filter((ms) => ms >= CLOSED_SEC * 1_000));
    return told(
      mailbox,
      `${during.length} while closed, the first ${(resumedMs / 1_000).toFixed(1)} s after it`,
      check('nobody came while it was closed', during.length === 0),
      check(
        'all are delivered',
        shown.every((one) => one.status === 'delivered'),
      ),
      check('one effect each', mailbox.effectCount === EVENTS),
      check('only one attempt was refused', mailbox.requestCount === EVENTS + 1),
    );
  },
};
