/** A drill on a terminal: what each part has shown, what follows, and how to count what nobody has counted yet. */
import { commandLine } from '../../../core/command-line.ts';
import type { Deserves } from '../../../core/drill-conclusion.ts';
import type { DrillReport } from '../../commands/drill-report.ts';
import { heading } from '../print.ts';
import type { Shell } from '../shell.ts';
import { lines, type Safe, said } from '../visible.ts';

const DESERVES_SAYS: Readonly<Record<Deserves, string>> = {
  'repeat-safe': 'repeatSafe: true is shown.',
  'not-repeat-safe': 'repeatSafe: false. A repeat acts again there.',
  'not-shown': 'Not shown. Only repeatSafe: false is sure to be right.',
};

const PART_COLUMNS = 12;

export const reportText = (shell: Shell, report: DrillReport): Safe =>
  lines(
    heading(shell, `drill of ${report.destination}, set to repeatSafe: ${report.repeatSafe}`),
    ...report.parts.flatMap(({ part, says, exchanges }) => [
      said`${part.padEnd(PART_COLUMNS)}${says}`,
      ...exchanges.flatMap(({ request, excerpt }) =>
        excerpt === undefined ? [] : [said`${''.padEnd(PART_COLUMNS)}${request}: ${excerpt}`],
      ),
    ]),
    '',
    heading(shell, DESERVES_SAYS[report.deserves]),
    ...report.because.map((why) => said`  ${why}`),
    ...report.advice.flatMap((advice, index) => [...(index === 0 ? ([''] as const) : []), said`${advice}`]),
    ...countByHand(report),
  );

/** Whoever has no URL that counts can look for the test events over there, and have the same drill judged again. */
const countByHand = ({ destination, parts }: DrillReport): readonly (Safe | '')[] => {
  const uncounted = parts.filter(({ exchanges, effects }) => exchanges.length > 0 && effects === undefined);
  if (uncounted.length === 0) return [];
  const given = ['--from FILE', ...uncounted.map(({ part }) => `--effects ${part}=N`)];
  return [
    '',
    said`How often did each of these act at the destination? Its log or table knows:`,
    ...uncounted.map(({ part, event, key }) => said`  ${part.padEnd(PART_COLUMNS)}${event}  ${key}`),
    said`Keep the answer of this command with --json in a file, and have it judged with what you found:`,
    said`  ${commandLine('prove', [destination], given)}`,
  ];
};
