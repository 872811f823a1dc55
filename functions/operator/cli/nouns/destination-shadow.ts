/**
 * `onceward destination shadow <destination>`
 *
 *   parts of the report, while there is a next one --added up--> the whole --> beside the counts of another sender
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type * as z from 'zod/mini';
import { readJson } from '../../../core/json-tree.ts';
import {
  addedUp,
  type BucketSize,
  compared,
  NO_TALLY,
  readCounts,
  type ShadowCompared,
  type ShadowTally,
  type ShadowWindow,
} from '../../../core/shadow.ts';
import { shadowWords } from '../../../core/shadow-words.ts';
import { shadowAnswer } from '../../contract/shadow.ts';
import { path } from '../client.ts';
import { fileBytes } from '../file.ts';
import { answer, table } from '../print.ts';
import type { Shell } from '../shell.ts';
import { FAILED, Stop, USAGE } from '../stop.ts';
import { type Common, get, looking, readAs, wholeNumber } from '../verb.ts';
import { lines, type Safe, said, visible } from '../visible.ts';

type Report = z.output<typeof shadowAnswer>;

interface Options extends Common {
  readonly from?: string;
  readonly to?: string;
  readonly per?: BucketSize;
  readonly acceptedSince?: string;
  readonly sent?: number;
  readonly counts?: string;
}

export const addShadow = (noun: Command, shell: Shell): void => {
  looking(noun, 'shadow <destination>', 'what a destination in shadow mode would have been sent')
    .option('--from <day>', 'the first UTC day on which it would have been sent (default: the last)', dayOf)
    .option('--to <day>', 'the last such day (default: today)', dayOf)
    .addOption(new Option('--per <size>', 'count by the hour or by the day (default: day)').choices(['hour', 'day']))
    .option('--accepted-since <day>', 'look at what was accepted since then (default: a day before --from)', dayOf)
    .option('--sent <n>', 'what the other sender has sent in that time: exit code 1 where it differs', wholeNumber)
    .option('--counts <file>', 'the same for each hour or day: one a line, such as "2026-11-28T14 120", or JSON')
    .action((id: string, options: Options) => shadow(shell, id, options));
};

const dayOf = (text: string): string => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) throw new InvalidArgumentError('It must be a day, such as 2026-11-28.');
  return text;
};

const shadow = async (shell: Shell, id: string, options: Options): Promise<void> => {
  if (options.sent !== undefined && options.counts !== undefined) {
    throw new Stop(USAGE, 'give --sent or --counts, and not both');
  }
  const counts = options.counts === undefined ? undefined : countsIn(await fileBytes(shell, options.counts));
  const { report, tally } = await wholeReport(shell, id, options);
  const window: ShadowWindow = { fromDay: report.from, toDay: report.to, per: report.per };
  const beside = besideOf({ sent: options.sent, counts }, tally, window);
  const { destination, mode } = report;
  const words = shadowWords({ destination, mode, window, tally, complete: true, compared: beside });
  const { buckets, ...numbers } = tally;
  const body = {
    ...report,
    ...numbers,
    buckets: rowsOf(buckets, beside),
    ...(beside && { compared: { same: beside.same, given: beside.given, difference: beside.difference } }),
    words,
  };
  answer(shell, options, body, () => lines(...words.map(visible), tableOf(shell, body.buckets)));
  if (beside?.same === false) {
    const says = `${destination}: ${tally.wouldSend} would have been sent, and you counted ${beside.given}`;
    throw new Stop(FAILED, says, { code: 'shadow-differs', difference: beside.difference });
  }
};

const wholeReport = async (
  shell: Shell,
  id: string,
  { from, to, per, acceptedSince }: Options,
): Promise<{ report: Omit<Report, 'next'>; tally: ShadowTally }> => {
  let tally = NO_TALLY;
  let cursor: string | undefined;
  // Named in what follows, so that a report over midnight stays one of the same days.
  let asked: { from?: string | undefined; to?: string | undefined; acceptedSince?: string | undefined } = {
    from,
    to,
    acceptedSince,
  };
  for (;;) {
    const query = { ...asked, per, cursor };
    const part = readAs(shadowAnswer, await get(shell, path`/v1/destinations/${id}/shadow-report`, query));
    tally = addedUp(tally, tallyIn(part));
    const { next, ...report } = part;
    if (next === undefined) return { report, tally };
    asked = { from: part.from, to: part.to, acceptedSince: part.acceptedSince };
    cursor = next;
  }
};

const tallyIn = (part: Report): ShadowTally => ({
  ...part,
  buckets: new Map(part.buckets.map(({ at, wouldSend }) => [new Date(at).getTime(), wouldSend])),
});

const besideOf = (
  given: { readonly sent: number | undefined; readonly counts: readonly { at: string; sent: number }[] | undefined },
  tally: ShadowTally,
  window: ShadowWindow,
): ShadowCompared | undefined => {
  if (given.sent === undefined && given.counts === undefined) return undefined;
  const read = readCounts(given, window);
  if (read.kind === 'bad') throw new Stop(USAGE, `the file of --counts: ${read.field} ${read.reason}`);
  return compared(tally, read.counts);
};

/** `2026-11-28T14 120` or `2026-11-28,2880` on a line, or one JSON object such as `{"2026-11-28": 2880}`. */
const countsIn = (bytes: Uint8Array): readonly { at: string; sent: number }[] => {
  const text = Buffer.from(bytes).toString('utf8').trim();
  const pairs = text.startsWith('{') ? pairsOf(text) : text.split('\n').filter((line) => line.trim() !== '');
  return pairs.map((line, index) => {
    const [, at, sent] = /^\s*"?([0-9TZ:.-]{10,24})"?(?:\s*[,;\t]\s*|\s+)(\d{1,15})\s*$/.exec(line) ?? [];
    if (at !== undefined && sent !== undefined) return { at, sent: Number(sent) };
    throw new Stop(
      USAGE,
      `the file of --counts: ${index + 1} must be a time and a number, such as "2026-11-28T14 120"`,
    );
  });
};

/** Read by a reader that refuses a name which stands there twice: the count that is dropped could be the right one. */
const pairsOf = (text: string): readonly string[] => {
  const read = readJson(Buffer.from(text, 'utf8'));
  if (read.kind === 'bad') {
    const says = `the file of --counts begins with { and is no JSON of counts: ${read.field ?? 'it'} ${read.reason}`;
    throw new Stop(USAGE, says);
  }
  const members = read.root.kind === 'object' ? [...read.root.members] : [];
  return members.map(([at, node]) => `${at} ${node.kind === 'number' || node.kind === 'string' ? node.value : 'none'}`);
};

interface Row {
  readonly at: string;
  readonly wouldSend: number;
  readonly given?: number;
  readonly difference?: number;
}

const rowsOf = (buckets: ReadonlyMap<number, number>, beside: ShadowCompared | undefined): readonly Row[] => {
  const at = (ms: number): string => new Date(ms).toISOString();
  if (beside === undefined || beside.buckets.length === 0) {
    return [...buckets].map(([atMs, wouldSend]) => ({ at: at(atMs), wouldSend }));
  }
  return beside.buckets.map(({ atMs, wouldSend, given }) => ({
    at: at(atMs),
    wouldSend,
    given,
    difference: wouldSend - given,
  }));
};

const tableOf = (shell: Shell, rows: readonly Row[]): Safe | undefined =>
  rows.length === 0
    ? undefined
    : lines(
        said``,
        table(shell, rows, [
          { title: 'FROM (UTC)', of: ({ at }) => at.slice(0, 16).replace('T', ' ') },
          { title: 'WOULD SEND', of: ({ wouldSend }) => wouldSend, right: true },
          { title: 'YOU COUNTED', of: ({ given }) => given, right: true },
          { title: 'DIFFERENCE', of: ({ difference }) => difference || undefined, right: true },
        ]),
      );
