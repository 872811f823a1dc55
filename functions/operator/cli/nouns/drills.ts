/**
 * Drills with their counts around them.
 *
 *   a count of each test event   drill ──► settle ──► count each ──► settle ──► count each again
 *   a total alone                count ──► settle ──► count ──► (part ──► settle ──► count) ... ──► settle ──► count
 *
 * A count that moves where nothing was sent is no evidence: of other traffic, or of effects that come later than that.
 */
import { type DrillPart, partRequest } from '../../../core/drill.ts';
import { answerKindOf, haltOf, type PartSeen, readingOf } from '../../../core/drill-reading.ts';
import { type DrillReport, type DrillSeen, drillReportOf } from '../../commands/drill-report.ts';
import type { Call } from '../client.ts';
import type { Shell } from '../shell.ts';
import { FAILED, Stop } from '../stop.ts';
import { said } from '../visible.ts';
import { type CountOptions, countAt, isCountOfEach, type Named } from './effects.ts';

type Answered = DrillSeen & { readonly decision: string };
type Part = DrillSeen['parts'][number];

/** How to run one drill of this part; of all that were planned where none is named. */
type RunOne = (part?: DrillPart) => Promise<Answered>;

export const runDrills = async (
  shell: Shell,
  options: CountOptions,
  parts: readonly DrillPart[],
  call: Call,
  read: (body: unknown) => Answered,
): Promise<DrillReport> => {
  const runOne: RunOne = async (part) => {
    shell.err(said`${part ?? parts.join(', ')} ...\n`);
    return read((await shell.client().call(callOf(call, part))).body);
  };
  if (options.countUrl === undefined) return reportOf([await runOne()], (part) => part);
  if (isCountOfEach(options)) return countingEach(shell, options, await runOne());
  return countingAll(shell, options, parts, runOne);
};

/** Each part is a decision of its own where each is a drill of its own. */
const callOf = (call: Call, part: DrillPart | undefined): Call => {
  if (part === undefined || call.requestId === undefined) return call;
  const body = { ...(call.body as object), parts: [part] };
  return { ...call, body, requestId: partRequest(call.requestId, part) };
};

const reportOf = (answers: readonly Answered[], withEffects: (part: Part) => Part): DrillReport => {
  const [first] = answers;
  if (first === undefined) throw new TypeError('a drill has at least one part');
  const parts = answers.flatMap((answer) => answer.parts).map(withEffects);
  return { ...drillReportOf({ ...first, parts }), decisions: answers.map(({ decision }) => decision) };
};

const settle = async (shell: Shell, { settleSec }: CountOptions): Promise<void> => {
  if (settleSec > 0) await shell.clock.sleep(settleSec * 1_000);
};

/** What was seen is worth more than its count: where that fails, the rest stays unproven. */
const countOrNone = async (shell: Shell, options: CountOptions, named?: Named): Promise<number | undefined> => {
  try {
    return await countAt(shell, options, named);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    shell.err(said`${error.message}\n`);
    return undefined;
  }
};

// ---- of each ------------------------------------------------------------------------------------------------------

const countingEach = async (shell: Shell, options: CountOptions, drill: Answered): Promise<DrillReport> => {
  const sent = drill.parts.filter(({ exchanges }) => exchanges.length > 0);
  const looks: Map<string, number | undefined>[] = [];
  for (const _look of ['first', 'second']) {
    await settle(shell, options);
    const counts = new Map<string, number | undefined>();
    for (const part of sent) counts.set(part.key, await countOrNone(shell, options, part));
    looks.push(counts);
  }
  const [first, second] = looks;
  return reportOf([drill], (part) => {
    const [before, effects] = [first?.get(part.key), second?.get(part.key)];
    if (effects === undefined) return part;
    // More than one is more than one, whenever it came.
    if (effects === before || effects > 1) return { ...part, effects };
    shell.err(said`${part.part}: its count still moves, from ${before ?? 'none'} to ${effects}: raise --settle-sec\n`);
    return part;
  });
};

// ---- of all together ----------------------------------------------------------------------------------------------

const countingAll = async (
  shell: Shell,
  options: CountOptions,
  parts: readonly DrillPart[],
  runOne: RunOne,
): Promise<DrillReport> => {
  let total: number | undefined = await quietCount(shell, options);
  const answers: Answered[] = [];
  const effects = new Map<string, number>();
  for (const part of parts) {
    const drill = await runOne(part);
    answers.push(drill);
    await settle(shell, options);
    const before: number | undefined = total;
    total = before === undefined ? undefined : await countBehind(shell, options, before);
    // From the count before, so that none which comes late is lost.
    if (before !== undefined && total !== undefined) {
      for (const { key } of drill.parts) effects.set(key, total - before);
    }
    if (drill.parts.some(isEnd)) break;
  }
  await settle(shell, options);
  const isStill = total !== undefined && (await countOrNone(shell, options)) === total;
  const seen = answers.flatMap((answer) => answer.parts);
  if (effects.size > 0 && (!isStill || hasComeLate(seen, effects))) {
    shell.err(said`effects were counted later than their parts, so no count is taken: raise --settle-sec\n`);
    effects.clear();
  }
  return reportOf(answers, (part) => {
    const counted = part.exchanges.length === 0 ? undefined : effects.get(part.key);
    return counted === undefined ? part : { ...part, effects: counted };
  });
};

/** None where it cannot be read, or has sunk: then it is a count of something else. */
const countBehind = async (shell: Shell, options: CountOptions, before: number): Promise<number | undefined> => {
  const behind = await countOrNone(shell, options);
  if (behind === undefined || behind >= before) return behind;
  shell.err(said`the count went from ${before} to ${behind}, and effects never sink: it is not counted on\n`);
  return undefined;
};

/** Nothing has been sent yet, so a count that moves is not one of test events alone. */
const quietCount = async (shell: Shell, options: CountOptions): Promise<number> => {
  const first = await countAt(shell, options);
  await settle(shell, options);
  const second = await countAt(shell, options);
  if (first === second) return second;
  const says = `the count went from ${first} to ${second} though nothing was sent: it counts more than test events. Give a URL with {key} or {event} in it`;
  throw new Stop(FAILED, says);
};

/** One that was accepted without an effect, and behind it one with more than it can have: they belong together. */
const hasComeLate = (seen: readonly Part[], effects: ReadonlyMap<string, number>): boolean => {
  const without = seen.findIndex(
    ({ key, exchanges }) => effects.get(key) === 0 && exchanges.some((one) => answerKindOf(one) === 'accepted'),
  );
  return without >= 0 && seen.slice(without + 1).some(({ key }) => (effects.get(key) ?? 0) > 1);
};

/** As within one drill: a destination that does not answer, asks for time or takes nothing is left alone. */
const isEnd = (part: PartSeen): boolean =>
  part.skipped === 'unanswered' ||
  part.skipped === 'throttled' ||
  haltOf(part.exchanges) !== undefined ||
  readingOf(part) === 'no-success';
