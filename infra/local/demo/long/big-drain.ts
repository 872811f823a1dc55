/** A thousand events parked at a paused destination, and let go at its rate. */
import { systemClock } from '../../../../functions/adapters/system.ts';
import type { Mailbox } from '../../partner/mailbox.ts';
import type { Stage } from '../stage.ts';
import { check, type Story, told } from '../story.ts';

const EVENTS = 1_000;
const EVENTS_PER_REQUEST = 50;
const PER_SECOND = 20;
const WINDOW_MS = 10_000;
const NAME = 'big-drain';

/** The most requests that the partner saw in any ten seconds. */
const mostInWindow = (mailbox: Mailbox): number => {
  const times = mailbox.requests.map((request) => request.atMs).toSorted((a, b) => a - b);
  let most = 0;
  for (let first = 0, last = 0; last < times.length; last += 1) {
    while ((times[last] ?? 0) - (times[first] ?? 0) > WINDOW_MS) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
};

const submitAll = async (stage: Stage): Promise<void> => {
  for (let at = 0; at < EVENTS; at += EVENTS_PER_REQUEST) {
    const events = Array.from({ length: EVENTS_PER_REQUEST }, (_, index) => ({
      id: `d-${at + index}`,
      payload: { number: at + index },
      destinations: [NAME],
    }));
    const { status } = await stage.call('POST', '/v1/events', events);
    if (status !== 202) throw new Error(`the events ${at} to ${at + EVENTS_PER_REQUEST} were answered ${status}`);
  }
};

const parkedCount = async (stage: Stage): Promise<number> => {
  const { body } = await stage.call('GET', `/v1/destinations/${NAME}`);
  return (body as { parked?: { count?: number } }).parked?.count ?? 0;
};

export const bigDrain: Story = {
  title: `${EVENTS} events parked, and drained at ${PER_SECOND} a second`,
  async play(stage) {
    const mailbox = await stage.destination(NAME, { repeatSafe: true, ratePerSecond: PER_SECOND, timeoutMs: 15_000 });
    await stage.decide(`/v1/destinations/${NAME}/pause`, { reason: 'the demo pauses it' });
    await submitAll(stage);
    while ((await parkedCount(stage)) < EVENTS) await systemClock.sleep(200);
    const whileParked = mailbox.requestCount;
    const resumedMs = systemClock.nowMs();
    await stage.decide(`/v1/destinations/${NAME}/resume`, { reason: 'the demo resumes it' });
    await mailbox.received(EVENTS);
    const tookSec = (systemClock.nowMs() - resumedMs) / 1_000;
    await stage.ended(`d-${EVENTS - 1}`, NAME);
    const most = mostInWindow(mailbox);
    return told(
      mailbox,
      `${tookSec.toFixed(0)} s, at most ${most} in any 10 s`,
      check('nothing was sent while it was paused', whileParked === 0),
      check('every event once', mailbox.requestCount === EVENTS && mailbox.effectCount === EVENTS),
      check('over any 10 s at most 12 times the rate', most <= 12 * PER_SECOND),
      check('nothing is parked any more', (await parkedCount(stage)) === 0),
    );
  },
};
