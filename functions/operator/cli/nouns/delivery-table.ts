/** Deliveries as rows of a table, and one of them with its journal. */
import type * as z from 'zod/mini';
import type {
  deliveryAnswer,
  deliveryPageAnswer,
  deliverySummaryAnswer,
  journalEntryAnswer,
} from '../../contract/deliveries.ts';
import { heading, pairs, shortTime, table } from '../print.ts';
import type { Shell } from '../shell.ts';
import { lines, type Safe } from '../visible.ts';

type Summary = z.output<typeof deliverySummaryAnswer>;
type Listed = z.output<typeof deliveryPageAnswer>['items'][number];
type Entry = z.output<typeof journalEntryAnswer>;

const isRow = (listed: Listed): listed is Summary => listed.status !== 'unreadable';

const timeOf = (listed: Listed): string | undefined => {
  if (!isRow(listed)) return undefined;
  return shortTime(listed.dueAt ?? listed.leaseEndsAt);
};

export const deliveryTable = (shell: Shell, rows: readonly Listed[]): Safe =>
  table(shell, rows, [
    { title: 'EVENT', of: ({ event }) => event },
    { title: 'DESTINATION', of: ({ destination }) => destination },
    { title: 'STATUS', of: ({ status }) => status, state: true },
    { title: 'REASON', of: ({ reason }) => reason },
    { title: 'ATTEMPTS', of: (row) => (isRow(row) ? `${row.attempts} of ${row.budget}` : undefined), right: true },
    { title: 'DUE, OR LEASE ENDS', of: timeOf },
  ]);

export const deliveryText = (shell: Shell, row: z.output<typeof deliveryAnswer>): Safe =>
  lines(
    heading(shell, `delivery of ${row.event} to ${row.destination}`),
    pairs(shell, {
      status: row.reason === undefined ? row.status : `${row.status} (${row.reason})`,
      attempts: `${row.attempts}, budget ${row.budget}, redrives ${row.redrives}`,
      accepted: shortTime(row.acceptedAt),
      due: shortTime(row.dueAt),
      'lease ends': shortTime(row.leaseEndsAt),
      'in doubt':
        row.attemptsInDoubt.length > 0
          ? `attempt ${row.attemptsInDoubt.join(', ')}: it may have arrived, nobody knows`
          : undefined,
      'latest answer': row.latestExcerpt?.text,
    }),
    '',
    journalTable(shell, row.journal),
  );

const journalTable = (shell: Shell, entries: readonly Entry[]): Safe =>
  table(shell, entries, [
    { title: '#', of: ({ seq }) => seq, right: true },
    { title: 'AT', of: ({ at }) => shortTime(at) },
    { title: 'WHAT', of: ({ kind, decision }) => decision ?? kind },
    { title: 'ATTEMPT', of: ({ attempt }) => attempt, right: true },
    { title: 'CAME TO', of: (entry) => entry.class, state: true },
    { title: 'ANSWER', of: ({ status, detail }) => status ?? detail },
    { title: 'MS', of: ({ durationMs }) => durationMs, right: true },
    { title: 'BECAUSE OF', of: ({ actor, cause }) => actor ?? cause },
    { title: 'REASON', of: ({ reason }) => reason },
  ]);
