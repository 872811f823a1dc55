/**
 * `npm run demo`: the main job end to end, told case by case, on an ephemeral port. What is counted is what the
 * partner received, never what the product says of itself. Exits 1 when a promise does not hold.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../../functions/adapters/system.ts';
import { silentTelemetry } from '../../../functions/adapters/telemetry.ts';
import { startPartner } from '../partner/start.ts';
import { openWorld } from '../world.ts';
import { BREAKAGES } from './breakages.ts';
import { MortalWorld } from './mortal-world.ts';
import { demoWorldOptions } from './options.ts';
import { Stage } from './stage.ts';
import { timeoutNotRepeatSafe, timeoutRepeatSafe } from './stories/doubt.ts';
import { submittedAgain, threePushesAtOnce } from './stories/duplicates.ts';
import { killStories } from './stories/kills.ts';
import { reminder } from './stories/reminder.ts';
import { alwaysFails, gone, retryAfter, thirdTime } from './stories/retries.ts';
import type { Story, Told } from './story.ts';

const STORIES: readonly Story[] = [
  submittedAgain,
  retryAfter,
  thirdTime,
  alwaysFails,
  timeoutRepeatSafe,
  timeoutNotRepeatSafe,
  gone,
  reminder,
];

const TOKEN = 'demo-admin-token-0123456789';

/** `--break NAME` breaks a rule on purpose; `--only TEXT` tells the stories whose title holds the text. */
const args = (): { broken: string | undefined; only: string } => {
  const { values } = parseArgs({ options: { break: { type: 'string' }, only: { type: 'string' } } });
  if (values.break !== undefined && BREAKAGES[values.break] === undefined) {
    console.error(`--break knows: ${Object.keys(BREAKAGES).join(', ')}`);
    process.exit(2);
  }
  return { broken: values.break, only: values.only ?? '' };
};

const tell = async (story: Story, stage: Stage): Promise<boolean> => {
  const result: Told | Error = await story
    .play(stage)
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if (result instanceof Error) {
    console.log(`  FAIL  ${story.title}: ${result.message}`);
    return false;
  }
  const failed = result.checks.filter((check) => !check.holds);
  const figures = `${result.requests} requests, ${result.effects} effects`;
  console.log(
    `  ${failed.length === 0 ? 'ok  ' : 'FAIL'}  ${story.title.padEnd(58)} ${figures.padEnd(23)} ${result.outcome}`,
  );
  for (const check of failed) console.log(`          does not hold: ${check.says}`);
  return failed.length === 0;
};

const run = async (): Promise<number> => {
  const { broken, only } = args();
  const startedMs = systemClock.nowMs();
  const room = await mkdtemp(join(tmpdir(), 'onceward-demo-'));
  const partner = await startPartner({ clock: systemClock });
  const partnerUrl = `http://127.0.0.1:${partner.port}`;
  const reshape = broken === undefined ? undefined : BREAKAGES[broken];
  const world = await openWorld({
    ...demoWorldOptions(TOKEN, silentTelemetry),
    dataDir: join(room, 'main'),
    ...(reshape === undefined ? {} : { reshape }),
  });
  const mortal = new MortalWorld(join(room, 'mortal'), TOKEN);
  console.log(`\nOnceward, the main job end to end${broken === undefined ? '' : ` (broken on purpose: ${broken})`}\n`);
  try {
    const stage = new Stage(world.url, TOKEN, partner, partnerUrl);
    const mortalStage = new Stage(world.url, TOKEN, partner, partnerUrl);
    const chosen = (stories: readonly Story[]) => stories.filter((story) => story.title.includes(only));
    const results = await Promise.all([
      ...chosen([threePushesAtOnce(world.queue), ...STORIES]).map((story) => tell(story, stage)),
      ...chosen(killStories(mortal)).map((story) => tell(story, mortalStage)),
    ]);
    const held = results.filter(Boolean).length;
    const seconds = ((systemClock.nowMs() - startedMs) / 1_000).toFixed(1);
    console.log(`\n${held} of ${results.length} stories hold, ${seconds} s\n`);
    return held === results.length && held > 0 ? 0 : 1;
  } finally {
    await mortal.end();
    await world.close();
    await partner.close();
    await rm(room, { recursive: true, force: true });
  }
};

process.exit(await run());
