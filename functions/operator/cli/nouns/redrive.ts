/** `onceward redrive plan | run | show | list | stop` */
import { type Command, Option } from 'commander';
import { QUARANTINE_REASONS } from '../../../core/model.ts';
import { operationAnswer, operationPageAnswer } from '../../contract/redrives.ts';
import { path } from '../client.ts';
import { answer, shortTime, table } from '../print.ts';
import type { Shell } from '../shell.ts';
import { FAILED, Stop } from '../stop.ts';
import {
  anyNumber,
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
import { lines, said } from '../visible.ts';
import { followRun } from './redrive-progress.ts';
import { operationText, planText } from './redrive-text.ts';

interface PlanOptions extends Common {
  readonly source: string;
  readonly destination?: string;
  readonly onlyReason?: string;
  readonly limit: number;
  readonly recoveryMinutes?: number;
  readonly stopAbove?: number;
  readonly acceptSecondEffect?: boolean;
  readonly reason: string;
  readonly requestId?: string;
}

interface RunOptions extends Deciding {
  readonly detach?: boolean;
}

const LIMIT_DEFAULT = 100;

export const addRedrive = (program: Command, shell: Shell): void => {
  const noun = program.command('redrive').description('many deliveries again: planned first, then run, then counted');
  looking(noun, 'plan', 'look at dead letters (this hides them from others for a while) or quarantined deliveries')
    .addOption(
      new Option('--source <where>', 'what to look at').choices(['dead-letters', 'quarantine']).default('dead-letters'),
    )
    .option('--destination <id>', 'only those of one destination')
    .addOption(new Option('--only-reason <reason>', 'only those quarantined for it').choices([...QUARANTINE_REASONS]))
    .option('--limit <n>', 'so many at most', wholeNumber, LIMIT_DEFAULT)
    .option('--recovery-minutes <n>', 'it must be over within this time (default: 60)', anyNumber)
    .option('--stop-above <share>', 'stop above this share of failures, 0 to 1 (default: 0.5)', anyNumber)
    .option('--accept-second-effect', 'an earlier attempt may have arrived: accept that this one acts again')
    .requiredOption('--reason <text>', 'why, for whoever reads the record')
    .option('--request-id <id>', 'names this plan: the same id again is the same plan (default: a new one)')
    .action((options: PlanOptions) => plan(shell, options));
  deciding(noun, 'run <operation>', 'do what was planned, and follow it until its end')
    .option('--detach', 'do not follow it')
    .action((operation: string, options: RunOptions) => run(shell, operation, options));
  looking(noun, 'show <operation>', 'what was found, what was done, what came of it').action(
    (operation: string, options: Common) => show(shell, operation, options),
  );
  looking(noun, 'list', 'the latest ones').action((options: Common) => list(shell, options));
  deciding(noun, 'stop <operation>', 'end a run for good; what is left needs a new plan').action(
    (operation: string, options: Deciding) => stop(shell, operation, options),
  );
};

const plan = async (shell: Shell, options: PlanOptions): Promise<void> => {
  const { source, destination, onlyReason, limit, recoveryMinutes, stopAbove, acceptSecondEffect } = options;
  const body = { source, destination, reason: onlyReason, limit, recoveryMinutes, stopAbove, acceptSecondEffect };
  const made = await shell.client().call({
    method: 'POST',
    path: '/v1/redrives',
    body: { ...body, why: options.reason },
    requestId: options.requestId ?? `cli-${shell.dice.id()}`,
  });
  answer(shell, options, made.body, () => planText(shell, readAs(operationAnswer, made.body)));
};

const run = async (shell: Shell, operation: string, options: RunOptions): Promise<void> => {
  // Followed, the answer is the one at the end of the run.
  const followed = options.detach !== true && options.dryRun !== true;
  const quiet = followed ? { ...shell, out: () => {} } : shell;
  await carryOut(quiet, options, {
    plan: async () => {
      const planned = readAs(operationAnswer, await get(shell, path`/v1/redrives/${operation}`));
      return lines(
        planText(shell, planned),
        said`A run does this now, in bounded batches, and stops itself above a share of failures.`,
      );
    },
    call: decisionCall(shell, options, { method: 'POST', path: path`/v1/redrives/${operation}/run` }),
    show: (body) => operationText(shell, readAs(operationAnswer, body)),
  });
  if (!followed) return;
  const end = await followRun(shell, operation);
  answer(shell, options, end.body, () => operationText(shell, end.shown));
  if (end.shown.state === 'stopped') {
    const why = end.shown.stoppedBecause ?? 'no reason on record';
    throw new Stop(FAILED, `operation ${operation} was stopped: ${why}`, { code: 'operation-stopped', detail: why });
  }
  const { failed, requeued } = end.shown.progress;
  if (failed > 0) {
    const detail = `${failed} of ${requeued} that were sent again have failed again`;
    throw new Stop(FAILED, `operation ${operation} is done, and ${detail}`, { code: 'redrive-failed', detail });
  }
};

const show = async (shell: Shell, operation: string, options: Common): Promise<void> => {
  const body = await get(shell, path`/v1/redrives/${operation}`);
  answer(shell, options, body, () => operationText(shell, readAs(operationAnswer, body)));
};

const list = async (shell: Shell, options: Common): Promise<void> => {
  const body = await get(shell, '/v1/redrives');
  const { items, unreadable = [] } = readAs(operationPageAnswer, body);
  for (const { operation, reason } of unreadable) shell.err(said`${operation} cannot be read: ${reason}\n`);
  answer(shell, options, body, () => {
    if (items.length === 0) return said`Nothing was planned yet: onceward redrive plan --help`;
    return table(shell, items, [
      { title: 'OPERATION', of: ({ operation }) => operation },
      { title: 'STATE', of: ({ state }) => state, state: true },
      { title: 'SOURCE', of: ({ source }) => source },
      { title: 'AT', of: ({ createdAt }) => shortTime(createdAt) },
      { title: 'BY', of: ({ actor }) => actor },
      { title: 'WHY', of: ({ why }) => why },
    ]);
  });
};

const stop = (shell: Shell, operation: string, options: Deciding): Promise<void> =>
  carryOut(shell, options, {
    plan: async () => said`Operation ${operation} ends for good; what was not acted on needs a new plan.`,
    call: decisionCall(shell, options, { method: 'POST', path: path`/v1/redrives/${operation}/stop` }),
    show: (body) => operationText(shell, readAs(operationAnswer, body)),
  });
