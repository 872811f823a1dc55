/** `onceward audit decisions`: who decided what, when and why. */
import type { Command } from 'commander';
import type * as z from 'zod/mini';
import { type decisionAnswer, decisionPageAnswer } from '../../contract/decisions.ts';
import { answer, shortTime, table } from '../print.ts';
import type { Shell } from '../shell.ts';
import { type Common, get, looking, readAs, wholeNumber } from '../verb.ts';
import { said } from '../visible.ts';

interface Options extends Common {
  readonly destination?: string;
  readonly event?: string;
  readonly actor?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

type Decision = z.output<typeof decisionAnswer>;

const ROWS_DEFAULT = 50;
const PAGE_ROWS = 50;
/** Narrowed down, pages may be empty: so many of them, and no more, are asked for by one command. */
const PAGES_MAX = 40;

export const addDecisions = (noun: Command, shell: Shell): void => {
  looking(noun, 'decisions', 'who decided what, when and why, newest first')
    .option('--destination <id>', 'only those about this destination')
    .option('--event <id>', 'only those about this event')
    .option('--actor <name>', 'only those of this person: the name of the token')
    .option('--limit <n>', `so many at most (default: ${ROWS_DEFAULT})`, wholeNumber)
    .option('--cursor <next>', 'go on where an earlier list has ended')
    .action((options: Options) => list(shell, options));
};

const list = async (shell: Shell, options: Options): Promise<void> => {
  const { destination, event, actor, limit = ROWS_DEFAULT } = options;
  const items: Decision[] = [];
  let unreadable = 0;
  let cursor = options.cursor;
  for (let pages = 0; pages < PAGES_MAX && items.length < limit; pages += 1) {
    const query = { destination, event, actor, limit: Math.min(PAGE_ROWS, limit - items.length), cursor };
    const page = readAs(decisionPageAnswer, await get(shell, '/v1/decisions', query));
    items.push(...page.items);
    unreadable += page.unreadable ?? 0;
    cursor = page.next;
    if (cursor === undefined) break;
  }
  if (unreadable > 0) shell.err(said`${unreadable} more cannot be read: written by newer code, or broken\n`);
  const more = { ...(unreadable === 0 ? {} : { unreadable }), ...(cursor === undefined ? {} : { next: cursor }) };
  answer(shell, options, { items, ...more }, () => {
    if (cursor !== undefined) shell.err(said`There are more: add --cursor ${cursor}\n`);
    if (items.length === 0) return said`No such decision stands there.`;
    return table(shell, items, [
      { title: 'AT', of: ({ at }) => shortTime(at) },
      { title: 'BY', of: ({ actor: by }) => by },
      { title: 'DECIDED', of: ({ command }) => command },
      { title: 'ABOUT', of: aboutOf },
      { title: 'REASON', of: ({ reason }) => reason },
      { title: 'RESULT', of: ({ result }) => result ?? 'not concluded' },
      { title: 'CHANGED', of: ({ changes }) => changes?.join('; ') },
    ]);
  });
};

const aboutOf = ({ event, destination, operation, token }: Decision): string =>
  [event, destination, operation, token].filter((one) => one !== undefined).join(' ');
