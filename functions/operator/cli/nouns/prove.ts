/**
 * `onceward prove <destination>`: a drill against a destination of one's own, and what it shows.
 *
 *   plan ──► agreed ──► (count) ──► drill ──► (wait, count) ──► report ──► exit 0: the setting is backed by what was seen
 *   --from FILE --effects part=n: nothing is sent; a drill that was kept is judged again
 */
import { type Command, InvalidArgumentError } from 'commander';
import { DRILL_PARTS, type DrillPart, requestsOf, roundsOf, wishOf } from '../../../core/drill.ts';
import { PART_SAYS } from '../../../core/drill-words.ts';
import { FUNCTION_MS } from '../../../core/limits.ts';
import { type DrillReport, drillReportOf } from '../../commands/drill-report.ts';
import { destinationAnswer } from '../../contract/destinations.ts';
import { drillAnswer, drillReport } from '../../contract/drills.ts';
import { path } from '../client.ts';
import { fileBytes } from '../file.ts';
import { answer, counted } from '../print.ts';
import type { Shell } from '../shell.ts';
import { FAILED, Stop, USAGE } from '../stop.ts';
import { agreed, anyNumber, type Changing, changing, decisionCall, get, readAs, wholeNumber } from '../verb.ts';
import { lines, type Safe, said } from '../visible.ts';
import { collectHeader } from './destination-settings.ts';
import { reportText } from './drill-text.ts';
import { runDrills } from './drills.ts';
import { type Counted, type CountOptions, collectEffects } from './effects.ts';

export interface ProveOptions extends Changing, CountOptions {
  readonly reason?: string;
  readonly requestId?: string;
  readonly parts?: readonly DrillPart[];
  readonly burst?: number;
  readonly evenIfPaused?: boolean;
  readonly from?: string;
  readonly effects?: Counted;
}

const SETTLE_SEC = 2;
const SETTLE_SEC_MAX = 600;

export const addProve = (program: Command, shell: Shell): void => {
  changing(program, 'prove <destination>', 'a drill: what does it do with a key that comes again? Sends test events')
    .option('--reason <text>', 'why, for whoever reads the record')
    .option('--request-id <id>', 'names this decision (default: a new one)')
    .option('--parts <names>', `what to try, with commas between (default: all but burst): ${DRILL_PARTS}`, partsOf)
    .option('--burst <n>', 'so many requests at once as well, to provoke a 429', wholeNumber)
    .option('--even-if-paused', 'run it although the destination is paused')
    .option('--count-url <url>', 'where a count of effects can be read; {key} or {event} in it: asked for each')
    .option('--count-field <name>', 'the member of the JSON object there that is the count')
    .option('--count-header <name:value>', 'a header of that request; may be given again', collectHeader)
    .option('--settle-sec <n>', 'how long effects take to be counted', settleSecOf, SETTLE_SEC)
    .option('--from <file>', 'send nothing: judge a drill that was kept with --json')
    .option('--effects <part=n>', 'effects that you have counted; may be given again', collectEffects)
    .action((id: string, options: ProveOptions) => (options.from === undefined ? run : judge)(shell, id, options));
};

/** A timer that is set too far ahead ends at once, and a count that is read too early is taken for the whole. */
const settleSecOf = (text: string): number => {
  const sec = anyNumber(text);
  if (sec < 0 || sec > SETTLE_SEC_MAX) throw new InvalidArgumentError(`It must be 0 to ${SETTLE_SEC_MAX} seconds.`);
  return sec;
};

const partsOf = (text: string): readonly DrillPart[] => {
  const names = text.split(',').map((one) => one.trim());
  const parts = DRILL_PARTS.filter((part) => names.includes(part));
  if (parts.length === new Set(names).size) return parts;
  throw new Stop(USAGE, `--parts wants names out of ${DRILL_PARTS.join(', ')}, with commas between them`);
};

// ---- run ----------------------------------------------------------------------------------------------------------

const run = async (shell: Shell, id: string, options: ProveOptions): Promise<void> => {
  const { reason } = options;
  if (reason === undefined) throw new Stop(USAGE, 'say why, for whoever reads the record: --reason <text>');
  if (options.effects !== undefined) throw new Stop(USAGE, '--effects belong to a drill that was kept: --from <file>');
  const wished = options.burst === undefined ? options.parts : [...(options.parts ?? usual()), 'burst' as const];
  const { parts, burst } = wishOf(wished, options.burst);
  const says = await planOf(shell, id, options, parts, burst);
  const call = decisionCall(
    shell,
    { ...options, reason },
    {
      method: 'POST',
      path: path`/v1/destinations/${id}/prove`,
      body: { parts, ...(parts.includes('burst') ? { burst } : {}), evenIfPaused: options.evenIfPaused },
      // It takes up to 45 seconds there, and a second time it would be refused.
      onceMs: FUNCTION_MS,
    },
  );
  if (options.dryRun === true) {
    const { method, path: at, body, requestId } = call;
    const request = { method, path: at, body, idempotencyKey: requestId };
    answer(shell, options, { dryRun: true, says, request }, () => lines(says, said`Nothing was sent (--dry-run).`));
    return;
  }
  await agreed(shell, options, says);
  show(shell, options, await runDrills(shell, options, parts, call, (body) => readAs(drillAnswer, body)));
};

const usual = (): readonly DrillPart[] => wishOf(undefined, undefined).parts;

const planOf = async (
  shell: Shell,
  id: string,
  { countUrl }: ProveOptions,
  parts: readonly DrillPart[],
  burst: number,
): Promise<Safe> => {
  const it = readAs(destinationAnswer, await get(shell, path`/v1/destinations/${id}`));
  return lines(
    said`Destination ${id} is ${it.state}, and set to repeatSafe: ${String(it.repeatSafe)}.`,
    said`${it.url} gets up to ${counted(requestsOf({ parts, burst }), 'request')}, as deliveries send them, marked {"onceward":"test", ...}:`,
    ...parts.map((part) => said`  ${part.padEnd(12)}${PART_SAYS[part]} (${roundsOf(part, burst).flat().length})`),
    countUrl === undefined
      ? said`Effects are not counted, so it cannot be shown that a repeat is safe: --count-url`
      : said`Effects are counted at ${countUrl}`,
  );
};

// ---- judge --------------------------------------------------------------------------------------------------------

const judge = async (shell: Shell, id: string, options: ProveOptions): Promise<void> => {
  const { from = '', effects = {} } = options;
  const kept = readAs(drillReport, jsonOf(from, await fileBytes(shell, from)));
  if (kept.destination !== id) {
    throw new Stop(USAGE, `${from} holds a drill of ${kept.destination}, not of ${id}`);
  }
  for (const name of Object.keys(effects)) {
    const sent = kept.parts.some(({ part, exchanges }) => part === name && exchanges.length > 0);
    if (!sent) throw new Stop(USAGE, `nothing was sent for ${name} in that drill, so it had no effects of its own`);
  }
  const parts = kept.parts.map((part) => ({ ...part, ...effectsOf(effects[part.part]) }));
  show(shell, options, { ...drillReportOf({ ...kept, parts }), decisions: kept.decisions });
};

const effectsOf = (effects: number | undefined) => (effects === undefined ? {} : { effects });

const jsonOf = (file: string, bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw new Stop(USAGE, `${file} is no JSON: keep a drill with --json`);
  }
};

// ---- end ----------------------------------------------------------------------------------------------------------

const show = (shell: Shell, options: ProveOptions, report: DrillReport): void => {
  answer(shell, options, report, () => reportText(shell, report));
  const fault = faultIn(report);
  if (fault !== undefined) throw new Stop(FAILED, fault);
};

/** Only what was seen may end well: a script that asks has to be told no, where there is no yes. */
const faultIn = ({ destination, parts, repeatSafe, deserves }: DrillReport): string | undefined => {
  const accepted = parts.some(({ exchanges }) => exchanges.some(({ status = 0 }) => status >= 200 && status <= 299));
  if (!accepted) return `the drill of ${destination} came to nothing: none of its requests was accepted`;
  if (!repeatSafe || deserves === 'repeat-safe') return undefined;
  return deserves === 'not-repeat-safe'
    ? `${destination} is set to repeatSafe: true, and a repeat acts again there`
    : `${destination} is set to repeatSafe: true, and that was not shown`;
};
