/**
 * `npm run demo`: the main job end to end, told case by case, on an ephemeral port. What is counted is what the
 * partner received, never what the product says of itself. Exits 1 when a promise does not hold.
 *
 *   --all          also tells the long stories, about three minutes
 *   --only TEXT    tells the stories whose title holds the text
 *   --break NAME   breaks a rule of the product on purpose: then the demo has to fail
 *   --seed N       where the long stories kill
 *   --transport T  infrai (unless given) or sqs: the same stories over either
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../../functions/adapters/system.ts';
import { silentTelemetry } from '../../../functions/adapters/telemetry.ts';
import { ArgumentError, argumentsOf, wholeOption } from '../arguments.ts';
import { startPartner } from '../partner/start.ts';
import { type LocalTransportName, type LocalWorld, openWorld } from '../world.ts';
import { BREAKAGES } from './breakages.ts';
import { bigDrain } from './long/big-drain.ts';
import { closing } from './long/closing.ts';
import { killedOften } from './long/killed-often.ts';
import { MortalWorld } from './mortal-world.ts';
import { demoWorldOptions } from './options.ts';
import { Stage } from './stage.ts';
import { deadLetters, losingPublishes } from './stories/dead-letters.ts';
import { timeoutNotRepeatSafe, timeoutRepeatSafe } from './stories/doubt.ts';
import { submittedAgain, threePushesAtOnce } from './stories/duplicates.ts';
import { closedForAll, failingFirstPublish, pauseHolds, publishFailed } from './stories/gates.ts';
import { killStories } from './stories/kills.ts';
import { reminder } from './stories/reminder.ts';
import { alwaysFails, gone, retryAfter, thirdTime } from './stories/retries.ts';
import type { Story } from './story.ts';
import { tell } from './tell.ts';

const STANDING_STILL_MS = 3_600_000;
const TOKEN = 'demo-admin-token-0123456789';

const HELP = `npm run demo -- [options]: the main job end to end, counted by what the partner received.
  --all          also the long stories, about three minutes
  --only TEXT    the stories whose title holds the text
  --break NAME   break a rule of the product on purpose: the demo has to fail (${Object.keys(BREAKAGES).join(', ')})
  --seed N       where the long stories kill
  --transport T  infrai (unless given) or sqs
Exits 1 when a promise does not hold, 2 for a value that it does not know.`;

interface Wishes {
  readonly all: boolean;
  readonly only: string;
  readonly broken: string | undefined;
  readonly seed: number;
  readonly transport: LocalTransportName;
}

const wishes = (): Wishes => {
  const { values } = parseArgs({
    options: {
      all: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      break: { type: 'string' },
      seed: { type: 'string', default: '1' },
      transport: { type: 'string', default: 'infrai' },
    },
  });
  if (values.break !== undefined && !Object.hasOwn(BREAKAGES, values.break)) {
    throw new ArgumentError(`--break knows: ${Object.keys(BREAKAGES).join(', ')}`);
  }
  const { all, only, transport } = values;
  if (transport !== 'infrai' && transport !== 'sqs') throw new ArgumentError('--transport knows: infrai, sqs');
  return { all, only, broken: values.break, seed: wholeOption('seed', values.seed, 0), transport };
};

const FEW = { delivered: 3, overBudget: 2, lost: 3, events: 1, poison: 1, foreign: 1 };
const MANY = { delivered: 100, overBudget: 50, lost: 320, events: 10, poison: 20, foreign: 0 };

interface Rooms {
  readonly world: LocalWorld;
  readonly stage: Stage;
  /** A world whose ticker stands still, and its stage. */
  readonly still: LocalWorld;
  readonly stillStage: Stage;
  readonly mortal: (name: string) => MortalWorld;
  /** A stage for a world that changes its address each time it comes back. */
  readonly mortalStage: () => Stage;
}

const shortStories = ({
  world,
  stage,
  still,
  stillStage,
  mortal,
  mortalStage,
}: Rooms): readonly (readonly [Story, Stage])[] => {
  const one = [
    threePushesAtOnce(world.queue),
    submittedAgain,
    retryAfter,
    thirdTime,
    alwaysFails,
    timeoutRepeatSafe,
    timeoutNotRepeatSafe,
    gone,
    reminder,
    publishFailed,
    pauseHolds,
    closedForAll,
  ].map((story) => [story, stage] as const);
  const killed = mortalStage();
  const few = deadLetters('a plan and a run over a small dead-letter queue', 'few', FEW, () => still.queue);
  return [...one, [few, stillStage], ...killStories(mortal('kills')).map((story) => [story, killed] as const)];
};

/** One after another: each of them wants the machine for itself. */
const longStories = (
  { stage, still, stillStage, mortal, mortalStage }: Rooms,
  seed: number,
): readonly (readonly [Story, Stage])[] => [
  [killedOften(mortal('often'), seed), mortalStage()],
  [bigDrain, stage],
  [closing, stage],
  [deadLetters('500 dead letters of all kinds', 'many', MANY, () => still.queue), stillStage],
];

type Staged = readonly (readonly [Story, Stage])[];

const nothingToTell = (only: string, short: Staged, long: Staged): string =>
  [
    `no story that would be told has "${only}" in its title. There are:`,
    ...short.map(([{ title }]) => `  ${title}`),
    ...long.map(([{ title }]) => `  ${title} (with --all)`),
  ].join('\n');

const run = async ({ all, only, broken, seed, transport }: Wishes): Promise<number> => {
  const startedMs = systemClock.nowMs();
  const room = await mkdtemp(join(tmpdir(), 'onceward-demo-'));
  const partner = await startPartner({ clock: systemClock });
  const partnerUrl = `http://127.0.0.1:${partner.port}`;
  const breakage = broken === undefined ? undefined : BREAKAGES[broken];
  const world = await openWorld({
    ...demoWorldOptions(TOKEN, silentTelemetry, transport),
    dataDir: join(room, 'main'),
    reshape: (ports) => failingFirstPublish(breakage?.(ports) ?? ports),
  });
  const still = await openWorld({
    ...demoWorldOptions(TOKEN, silentTelemetry, transport),
    tickMs: STANDING_STILL_MS,
    reshape: losingPublishes,
  });
  const mortals: MortalWorld[] = [];
  const rooms: Rooms = {
    world,
    stage: new Stage(world.url, TOKEN, partner, partnerUrl),
    still,
    stillStage: new Stage(still.url, TOKEN, partner, partnerUrl),
    mortal: (name) => {
      const mortal = new MortalWorld(join(room, name), TOKEN, transport);
      mortals.push(mortal);
      return mortal;
    },
    mortalStage: () => new Stage(world.url, TOKEN, partner, partnerUrl),
  };
  const over = transport === 'infrai' ? '' : `, over ${transport}`;
  console.log(
    `\nOnceward, the main job end to end${over}${broken === undefined ? '' : ` (broken on purpose: ${broken})`}\n`,
  );
  try {
    const isWanted = ([story]: readonly [Story, Stage]): boolean => story.title.includes(only);
    const [short, long] = [shortStories(rooms), longStories(rooms, seed)];
    const wanted = { short: short.filter(isWanted), long: all ? long.filter(isWanted) : [] };
    if (wanted.short.length + wanted.long.length === 0) {
      console.error(nothingToTell(only, short, long));
      return 2;
    }
    const results = await Promise.all(wanted.short.map(([story, stage]) => tell(story, stage)));
    for (const [story, stage] of wanted.long) results.push(await tell(story, stage));
    const held = results.filter(Boolean).length;
    const seconds = ((systemClock.nowMs() - startedMs) / 1_000).toFixed(1);
    console.log(`\n${held} of ${results.length} stories hold, ${seconds} s\n`);
    return held === results.length ? 0 : 1;
  } finally {
    await Promise.all(mortals.map((mortal) => mortal.end()));
    await world.close();
    await still.close();
    await partner.close();
    await rm(room, { recursive: true, force: true });
  }
};

process.exit(await run(argumentsOf(HELP, wishes)));
