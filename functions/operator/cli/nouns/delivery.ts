/** `onceward delivery list | show | explain | redrive | resolve | cancel` */
import { type Command, Option } from 'commander';
import type * as z from 'zod/mini';
import { deliveryAnswer, deliveryDecidedAnswer, deliveryPageAnswer } from '../../contract/deliveries.ts';
import { explanationAnswer } from '../../contract/explain.ts';
import { path } from '../client.ts';
import { answer, counted, heading, note } from '../print.ts';
import type { Shell } from '../shell.ts';
import {
  type Common,
  carryOut,
  type Deciding,
  deciding,
  decisionCall,
  get,
  looking,
  readAs,
  wholeNumber,
} from '../verb.ts';
import { lines, type Safe, said } from '../visible.ts';
import { deliveryTable, deliveryText } from './delivery-table.ts';

type DeliveryPage = z.output<typeof deliveryPageAnswer>;

interface ListOptions extends Common {
  readonly list: string;
  readonly destination?: string;
  readonly limit: number;
  readonly cursor?: string;
}

interface RedriveOptions extends Deciding {
  readonly grant: number;
  readonly acceptSecondEffect?: boolean;
}

interface ResolveOptions extends Deciding {
  readonly as: string;
  readonly evidence: string;
}

const LIMIT_DEFAULT = 50;

export const addDelivery = (program: Command, shell: Shell): void => {
  const noun = program.command('delivery').description('the duty to bring one event to one destination');
  const listing = looking(noun, 'list', 'what is open, parked, quarantined, or recent at one destination');
  listing
    .addOption(
      new Option('--list <which>', 'which list').choices(['open', 'parked', 'quarantined', 'recent']).default('open'),
    )
    .option('--destination <id>', 'of one destination (needed for recent)')
    .option('--limit <n>', 'rows of one page', wholeNumber, LIMIT_DEFAULT)
    .option('--cursor <text>', 'the page behind another one: its "next"')
    .action((options: ListOptions) => list(shell, options));
  looking(noun, 'show <event> <destination>', 'its state and its whole journal').action(
    (event: string, destination: string, options: Common) => show(shell, event, destination, options),
  );
  looking(
    noun,
    'explain <event> <destination>',
    'one effect or two? what is certain, who did what, what happens next',
  ).action((event: string, destination: string, options: Common) => explain(shell, event, destination, options));
  deciding(noun, 'redrive <event> <destination>', 'send a quarantined delivery again: the same delivery, the same key')
    .option('--grant <n>', 'add so many attempts to its budget, on record', wholeNumber, 0)
    .option('--accept-second-effect', 'an earlier attempt may have arrived: accept that this one acts again')
    .action((event: string, destination: string, options: RedriveOptions) =>
      redrive(shell, event, destination, options),
    );
  deciding(noun, 'resolve <event> <destination>', 'say what happened to a quarantined delivery')
    .addOption(new Option('--as <what>', 'what happened').choices(['delivered', 'not-delivered']).makeOptionMandatory())
    .requiredOption('--evidence <text>', 'how you know')
    .action((event: string, destination: string, options: ResolveOptions) =>
      resolve(shell, event, destination, options),
    );
  deciding(noun, 'cancel <event> <destination>', 'end it for good: nothing is sent any more').action(
    (event: string, destination: string, options: Deciding) => cancel(shell, event, destination, options),
  );
};

const list = async (shell: Shell, options: ListOptions): Promise<void> => {
  const { list: which } = options;
  const page = await pageOf(shell, options);
  answer(shell, options, page, () => {
    const more = page.next === undefined ? undefined : moreText(shell, page.next);
    if (page.items.length === 0) return more ?? said`Nothing is ${which}.`;
    return lines(deliveryTable(shell, page.items), more);
  });
};

const PAGES_MAX = 20;

/** A page of the API may be short, or empty, and have a next one: rows have left the list, or days have none. */
const pageOf = async (
  shell: Shell,
  { list: which, destination, limit, cursor }: ListOptions,
): Promise<DeliveryPage> => {
  const items: DeliveryPage['items'] = [];
  let next = cursor;
  for (let pages = 0; pages < PAGES_MAX && items.length < limit; pages += 1) {
    const query = { list: which, destination, limit: limit - items.length, cursor: next };
    const page = readAs(deliveryPageAnswer, await get(shell, '/v1/deliveries', query));
    items.push(...page.items);
    next = page.next;
    if (next === undefined) break;
  }
  return { items, ...(next === undefined ? {} : { next }) };
};

const moreText = (shell: Shell, next: string): Safe => note(shell, `There may be more: --cursor ${next}`);

const show = async (shell: Shell, event: string, destination: string, options: Common): Promise<void> => {
  const body = await get(shell, path`/v1/events/${event}/deliveries/${destination}`);
  answer(shell, options, body, () => deliveryText(shell, readAs(deliveryAnswer, body)));
};

const explain = async (shell: Shell, event: string, destination: string, options: Common): Promise<void> => {
  const body = await get(shell, path`/v1/events/${event}/deliveries/${destination}/explain`);
  answer(shell, options, body, () => {
    const { words } = readAs(explanationAnswer, body);
    const sections = words.map(({ title, lines: texts }) =>
      lines(heading(shell, title), ...texts.map((text) => said`  ${text}`)),
    );
    return lines(...sections.flatMap((section, index) => (index === 0 ? [section] : (['', section] as const))));
  });
};

// ---- decisions ----------------------------------------------------------------------------------------------------

/** What is there now, and what becomes of it. */
const decide = (
  shell: Shell,
  [event, destination, verb]: readonly [event: string, destination: string, verb: string],
  options: Deciding,
  body: Readonly<Record<string, unknown>>,
  will: Safe,
): Promise<void> =>
  carryOut(shell, options, {
    plan: async () => {
      const row = readAs(deliveryAnswer, await get(shell, path`/v1/events/${event}/deliveries/${destination}`));
      const state = row.reason === undefined ? row.status : `${row.status} (${row.reason})`;
      const doubt =
        row.attemptsInDoubt.length > 0
          ? said` It is in doubt whether attempt ${row.attemptsInDoubt.join(', ')} arrived.`
          : said``;
      return lines(
        said`Delivery of ${event} to ${destination} is ${state}, ${counted(row.attempts, 'attempt')} made, budget ${row.budget}.${doubt}`,
        will,
      );
    },
    call: decisionCall(shell, options, {
      method: 'POST',
      path: `${path`/v1/events/${event}/deliveries/${destination}`}/${verb}`,
      body,
    }),
    show: (given) => {
      const row = readAs(deliveryDecidedAnswer, given);
      return lines(said`Decision ${row.decision} is on record.`, deliveryTable(shell, [row]));
    },
  });

const redrive = (shell: Shell, event: string, destination: string, options: RedriveOptions): Promise<void> => {
  const { grant, acceptSecondEffect = false } = options;
  const granted = grant === 0 ? 'its budget stays as it is' : `its budget grows by ${grant}`;
  const second = acceptSecondEffect ? ' A second effect is accepted.' : '';
  const will = said`It becomes due now, with the same key and the same bytes; ${granted}.${second}`;
  return decide(shell, [event, destination, 'redrive'], options, { grant, acceptSecondEffect }, will);
};

const resolve = (shell: Shell, event: string, destination: string, options: ResolveOptions): Promise<void> => {
  const { as, evidence } = options;
  const will =
    as === 'delivered'
      ? said`It ends as delivered, by your decision; nothing is sent any more.`
      : said`It becomes due now if budget is left; else it stays quarantined for its budget.`;
  return decide(shell, [event, destination, 'resolve'], options, { as, evidence }, will);
};

const cancel = (shell: Shell, event: string, destination: string, options: Deciding): Promise<void> =>
  decide(shell, [event, destination, 'cancel'], options, {}, said`It ends as cancelled, for good.`);
