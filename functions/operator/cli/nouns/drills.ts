/** Drills with their counts around them: one for all parts, or one for each where only a total can be read. */
import type { DrillPart } from '../../../core/drill.ts';
import { haltOf, type PartSeen, readingOf } from '../../../core/drill-reading.ts';
import { type DrillReport, type DrillSeen, drillReportOf } from '../../commands/drill-report.ts';
import type { Call } from '../client.ts';
import type { Shell } from '../shell.ts';
import { Stop } from '../stop.ts';
import { said } from '../visible.ts';
import { type CountOptions, countAt, grown, isCountOfEach } from './effects.ts';

type Answered = DrillSeen & { readonly decision: string };
type Part = DrillSeen['parts'][number];

export const runDrills = async (
  shell: Shell,
  options: CountOptions,
  parts: readonly DrillPart[],
  call: Call,
  read: (body: unknown) => Answered,
): Promise<DrillReport> => {
  const byTotal = options.countUrl !== undefined && !isCountOfEach(options);
  const done: Part[] = [];
  const answers: Answered[] = [];
  for (const group of byTotal ? parts.map((part) => [part]) : [parts]) {
    shell.err(said`${group.join(', ')} ...\n`);
    const before = byTotal ? await countAt(shell, options) : 0;
    const { body } = await shell.client().call(callOf(call, byTotal ? group : undefined));
    const drill = read(body);
    answers.push(drill);
    if (options.countUrl !== undefined && options.settleSec > 0) await shell.clock.sleep(options.settleSec * 1_000);
    for (const part of drill.parts) done.push(await counted(shell, options, part, before));
    if (drill.parts.some(isEnd)) break;
  }
  const [first] = answers;
  if (first === undefined) throw new TypeError('a drill has at least one part');
  const decisions = answers.map(({ decision }) => decision);
  return { ...drillReportOf({ ...first, parts: done }), decisions };
};

/** Each part is a decision of its own where each is a drill of its own. */
const callOf = (call: Call, group: readonly DrillPart[] | undefined): Call => {
  if (group === undefined) return call;
  const body = { ...(call.body as object), parts: group };
  return { ...call, body, requestId: `${call.requestId}-${group.join('-')}` };
};

/** What was seen is worth more than its count: where that fails, the part stays unproven. */
const counted = async (shell: Shell, options: CountOptions, part: Part, before: number): Promise<Part> => {
  if (options.countUrl === undefined || part.exchanges.length === 0) return part;
  try {
    return { ...part, effects: grown(before, await countAt(shell, options, part)) };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    shell.err(said`${part.part}: ${error.message}\n`);
    return part;
  }
};

/** As within one drill: a destination that does not answer, asks for time or takes nothing is left alone. */
const isEnd = (part: PartSeen): boolean =>
  part.skipped === 'unanswered' ||
  part.skipped === 'throttled' ||
  haltOf(part.exchanges) !== undefined ||
  readingOf(part) === 'no-success';
