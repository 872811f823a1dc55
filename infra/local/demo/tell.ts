/** Plays a story and prints its line. */
import type { Stage } from './stage.ts';
import { counted, type Story, type Told } from './story.ts';

/** True if everything that it promises holds. */
export const tell = async (story: Story, stage: Stage): Promise<boolean> => {
  const result: Told | Error = await story
    .play(stage)
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if (result instanceof Error) {
    console.log(`  FAIL  ${story.title}: ${result.message}`);
    return false;
  }
  const failed = result.checks.filter((check) => !check.holds);
  const verdict = failed.length === 0 ? 'ok  ' : 'FAIL';
  const figures = `${counted(result.requests, 'request')}, ${counted(result.effects, 'effect')}`;
  console.log(`  ${verdict}  ${story.title.padEnd(58)} ${figures.padEnd(27)} ${result.outcome}`);
  for (const check of failed) console.log(`          does not hold: ${check.says}`);
  return failed.length === 0;
};
