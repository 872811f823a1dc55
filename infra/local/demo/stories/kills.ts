/**
 * A worker that dies, by SIGKILL of its whole process, at an exact point:
 *
 *   claim --> [here: no byte has left] --> request --> 200 --> [here: the success is not recorded] --> settle
 *
 * The world is started again on the same data; what the dead worker held comes back by its lease and the sweep.
 */

import type { KillPoint, MortalWorld } from '../mortal-world.ts';
import type { Stage } from '../stage.ts';
import { check, counts, type Story, type Told, told } from '../story.ts';

interface Kill {
  readonly name: string;
  readonly title: string;
  readonly point: KillPoint;
  readonly repeatSafe: boolean;
  readonly judge: (stage: Stage) => Promise<Told>;
}

const KILLS: readonly Kill[] = [
  {
    name: 'killed-safe',
    title: 'killed between the 200 and its record, repeat is safe',
    point: 'after-answer',
    repeatSafe: true,
    async judge(stage) {
      const shown = await stage.ended('killed-safe-1', 'killed-safe');
      const mailbox = stage.partner.mailbox('killed-safe');
      return told(
        mailbox,
        `${shown.status}, two calls and one effect`,
        ...counts(mailbox, 2, 1),
        check('recorded as delivered', shown.status === 'delivered'),
        check(
          'the first attempt stands as in doubt',
          shown.journal.some((entry) => entry.class === 'in-doubt'),
        ),
      );
    },
  },
  {
    name: 'killed-unsafe',
    title: 'killed between the 200 and its record, repeat is not safe',
    point: 'after-answer',
    repeatSafe: false,
    async judge(stage) {
      const shown = await stage.ended('killed-unsafe-1', 'killed-unsafe');
      const mailbox = stage.partner.mailbox('killed-unsafe');
      return told(
        mailbox,
        `${shown.status} / ${shown.reason ?? '-'}`,
        ...counts(mailbox, 1, 1),
        check('held for a person: in doubt', shown.status === 'quarantined' && shown.reason === 'in-doubt'),
      );
    },
  },
  {
    name: 'killed-early',
    title: 'killed before the first byte, repeat is not safe',
    point: 'before-mark',
    repeatSafe: false,
    async judge(stage) {
      const shown = await stage.ended('killed-early-1', 'killed-early');
      const mailbox = stage.partner.mailbox('killed-early');
      return told(
        mailbox,
        `${shown.status} at attempt ${shown.attempts}`,
        ...counts(mailbox, 1, 1),
        check('claimed again and delivered', shown.status === 'delivered' && shown.attempts === 2),
        check(
          'the first attempt stands as abandoned',
          shown.journal.some((entry) => entry.class === 'abandoned'),
        ),
      );
    },
  },
];

/** All three together: they wait for their leases side by side. */
export const killStories = (world: MortalWorld): readonly Story[] => {
  let dying: Promise<void> | undefined;
  const dieAll = async (stage: Stage): Promise<void> => {
    for (const kill of KILLS) {
      stage.url = await world.start({ point: kill.point, destination: kill.name });
      await stage.destination(kill.name, { repeatSafe: kill.repeatSafe, schedule: [1, 1], timeoutMs: 2_000 });
      // The answer may be lost with the process; what was accepted stands all the same.
      await stage.submit(`${kill.name}-1`, kill.name).catch(() => undefined);
      await world.killed();
    }
    stage.url = await world.start();
  };
  return KILLS.map((kill) => ({
    title: kill.title,
    async play(stage) {
      dying ??= dieAll(stage);
      await dying;
      return kill.judge(stage);
    },
  }));
};
