/** kill -9 of the whole world in the middle of 200 deliveries, at points chosen by a seed, and a restart each time. */
import { systemClock } from '../../../../functions/adapters/system.ts';
import { drawOf } from '../../queue/chance.ts';
import type { MortalWorld } from '../mortal-world.ts';
import type { DeliveryShown, Stage } from '../stage.ts';
import { check, type Story, told } from '../story.ts';

const DELIVERIES = 200;
const KILLS = 4;
const ALIVE_MS_MIN = 300;
const ALIVE_MS_MORE = 1_500;
const SUBMITS_AT_ONCE = 20;

/** A submission is repeated until it is answered with 202: no answer, no promise. */
const submitUntilAccepted = async (stage: Stage, id: string, name: string): Promise<void> => {
  for (;;) {
    const answer = await stage.submit(id, name).catch(() => undefined);
    if (answer?.status === 202) return;
    await systemClock.sleep(100);
  }
};

const submitAll = async (stage: Stage, ids: readonly string[], name: string): Promise<void> => {
  const left = [...ids];
  const worker = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) await submitUntilAccepted(stage, id, name);
  };
  await Promise.all(Array.from({ length: SUBMITS_AT_ONCE }, worker));
};

export const killedOften = (world: MortalWorld, seed: number): Story => ({
  title: `kill -9 of the world, ${KILLS} times in ${DELIVERIES} deliveries (seed ${seed})`,
  async play(stage) {
    const name = 'killed-often';
    stage.url = await world.start();
    const mailbox = await stage.destination(name, {
      repeatSafe: true,
      schedule: [1, 1, 1, 1, 1, 1, 1],
      timeoutMs: 1_000,
    });
    stage.partner.script(name, [{ status: 200, delayMs: 30 }]);
    const ids = Array.from({ length: DELIVERIES }, (_, index) => `k-${index}`);
    const submitted = submitAll(stage, ids, name);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await systemClock.sleep(ALIVE_MS_MIN + ALIVE_MS_MORE * drawOf(seed, 'kill', kill));
      await world.killNow();
      stage.url = await world.start();
    }
    await submitted;
    const shown: readonly DeliveryShown[] = await Promise.all(ids.map((id) => stage.ended(id, name)));
    const twice = mailbox.requestCount - mailbox.effectCount;
    return told(
      mailbox,
      `${twice} second calls, none with a second effect`,
      check(
        'every event is recorded as delivered',
        shown.every((one) => one.status === 'delivered'),
      ),
      check('one effect each', mailbox.effectCount === DELIVERIES),
      check('the kills really hit', mailbox.requestCount > 0 && shown.some((one) => one.attempts > 1)),
    );
  },
});
