/** `onceward queue stats | subscribe | contract` */
import type { Command } from 'commander';
import { type ContractRow, compareContract } from '../../commands/queue-contract.ts';
import { type Step, type SubscribeWish, subscribeQueue } from '../../commands/queue-subscribe.ts';
import { USES } from '../../commands/queue-use.ts';
import { statsAnswer } from '../../contract/stats.ts';
import { answer, pairs, table } from '../print.ts';
import type { Shell } from '../shell.ts';
import { FAILED, Stop, USAGE } from '../stop.ts';
import { agreed, type Changing, type Common, changing, get, looking, readAs } from '../verb.ts';
import { lines, type Safe, said } from '../visible.ts';

interface SubscribeOptions extends Changing {
  readonly pushUrl?: string;
  readonly cronUrl?: string;
  readonly spelt?: readonly string[];
  readonly unconfirmed?: boolean;
}

interface ContractOptions extends Common {
  readonly strict?: boolean;
}

export const addQueue = (program: Command, shell: Shell): void => {
  const noun = program.command('queue').description('the queue between the functions');
  looking(noun, 'stats', 'how many messages wait, are on their way, are dead; how late the latest delivery is').action(
    (options: Common) => stats(shell, options),
  );
  changing(
    noun,
    'subscribe',
    'on Infrai: have the queue push to the receiver and its cron call the reconciler; safe to run twice',
  )
    .option('--push-url <url>', 'the public address of the receiver, .../push/infrai')
    .option('--cron-url <url>', 'the public address of the reconciler, .../cron/reconcile')
    .option('--spelt <ours=theirs...>', 'a field that the queue spells otherwise, such as task=url')
    .option('--unconfirmed', 'also send what the discovery documents do not confirm')
    .action((options: SubscribeOptions) => subscribe(shell, options));
  looking(noun, 'contract', "on Infrai: hold the queue's own documents against what this code sends and reads")
    .option('--strict', 'what the documents do not say is a failure too')
    .action((options: ContractOptions) => contract(shell, options));
};

// ---- stats --------------------------------------------------------------------------------------------------------

const stats = async (shell: Shell, options: Common): Promise<void> => {
  const body = await get(shell, '/v1/stats');
  answer(shell, options, body, () => {
    const { deadLetters, largestOverdueMs, lastSweepAt, open, parked, quarantined, queue } = readAs(statsAnswer, body);
    return pairs(shell, {
      waiting: queue?.available ?? 'not said',
      delayed: queue?.delayed ?? 'not said',
      'on their way': queue?.inFlight ?? 'not said',
      dead: deadLetters ?? 'not said',
      'oldest message': queue?.oldestAgeMs === undefined ? undefined : `${Math.round(queue.oldestAgeMs / 1_000)} s`,
      'open deliveries': open,
      parked,
      quarantined,
      'latest is late by': `${Math.round(largestOverdueMs / 1_000)} s`,
      'last sweep': lastSweepAt ?? 'never',
    });
  });
};

// ---- subscribe ----------------------------------------------------------------------------------------------------

const subscribe = async (shell: Shell, options: SubscribeOptions): Promise<void> => {
  const wish = wishOf(shell, options);
  const says = lines(
    wish.push && said`The messages of ${wish.queue} will be pushed to ${wish.push.url}.`,
    wish.cron && said`A schedule will call ${wish.cron.url} every minute.`,
  );
  if (options.dryRun === true) {
    const { push, cron, queue } = wish;
    const body = { dryRun: true, queue, pushUrl: push?.url, cronUrl: cron?.url };
    answer(shell, options, body, () => lines(says, said`Nothing was changed (--dry-run).`));
    return;
  }
  await agreed(shell, options, says);
  const steps = await subscribeQueue(shell.queue.management(shell.queue.infrai().apiKey), wish);
  answer(shell, options, { steps }, () => lines(...steps.flatMap((step) => stepLines(shell, step))));
  if (steps.some(({ kind }) => kind === 'refused')) {
    throw new Stop(FAILED, 'not everything was done; what stands above says what and why');
  }
};

/** Secrets come from the settings: they never stand on a command line. */
const wishOf = ({ queue: desk }: Shell, options: SubscribeOptions): SubscribeWish => {
  const { pushUrl, cronUrl } = options;
  if (pushUrl === undefined && cronUrl === undefined) {
    throw new Stop(USAGE, 'say what to subscribe: --push-url, --cron-url, or both');
  }
  const spelt = speltOf(options.spelt ?? []);
  const { baseUrl, queue } = desk.infrai();
  for (const url of [pushUrl, cronUrl]) {
    // A private address is taken there, and then nothing ever comes.
    if (url !== undefined && !url.startsWith('https://') && baseUrl.startsWith('https:')) {
      throw new Stop(
        USAGE,
        `${url} must be a public https address: the queue would take another one and never call it`,
      );
    }
  }
  return {
    queue,
    ...(pushUrl === undefined ? {} : { push: { url: pushUrl, secret: desk.pushSecret() } }),
    ...(cronUrl === undefined ? {} : { cron: { url: cronUrl, ...desk.cron() } }),
    spelt,
    unconfirmed: options.unconfirmed === true,
  };
};

const speltOf = (given: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    given.map((text) => {
      const [, ours, theirs] = /^([a-z_]+)=([A-Za-z_]+)$/.exec(text) ?? [];
      if (ours === undefined || theirs === undefined)
        throw new Stop(USAGE, '--spelt wants ours=theirs, such as task=url');
      return [ours, theirs];
    }),
  );

const stepLines = (shell: Shell, step: Step): readonly Safe[] => [
  said`${step.what}: ${step.kind === 'refused' ? 'not done: ' : ''}${step.says}`,
  ...(step.kind === 'refused' && step.rows !== undefined ? [rowsOf(shell, step.rows)] : []),
];

// ---- contract -----------------------------------------------------------------------------------------------------

const contract = async (shell: Shell, options: ContractOptions): Promise<void> => {
  const management = shell.queue.management();
  const rows: ContractRow[] = [];
  let unread = 0;
  for (const use of USES) {
    const discovered = await management.discover(use.capability);
    if (discovered.kind === 'failed') unread += 1;
    rows.push(...compareContract(use, discovered));
  }
  const counts = { agrees: 0, differs: 0, unknown: 0 };
  for (const { verdict } of rows) counts[verdict] += 1;
  answer(shell, options, { ...counts, rows }, () =>
    lines(rowsOf(shell, rows), '', said`${counts.agrees} agree, ${counts.differs} differ, ${counts.unknown} unknown.`),
  );
  if (counts.differs > 0)
    throw new Stop(FAILED, `${counts.differs} of what is sent or read differs from the documents`);
  // Nothing was held against them: that is no agreement.
  if (unread > 0) throw new Stop(FAILED, `${unread} of ${USES.length} documents could not be read; above stands why`);
  if (options.strict === true && counts.unknown > 0) {
    throw new Stop(FAILED, `the documents do not say ${counts.unknown} of what is sent or read`);
  }
};

const rowsOf = (shell: Shell, rows: readonly ContractRow[]): Safe =>
  table(shell, rows, [
    { title: 'CAPABILITY', of: ({ capability }) => capability },
    { title: 'WHAT', of: ({ what }) => what },
    { title: 'FIELD', of: ({ field }) => field },
    { title: 'OURS', of: ({ ours }) => ours },
    { title: 'THEIRS', of: ({ theirs }) => theirs },
    { title: 'VERDICT', of: ({ verdict }) => verdict, state: true },
  ]);
