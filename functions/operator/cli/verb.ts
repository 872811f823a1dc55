/** What the verbs of all nouns share: options, the way in which something is changed, and numbers from the command line. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Call } from './client.ts';
import { answer } from './print.ts';
import type { Shell } from './shell.ts';
import { FAILED, Stop, USAGE } from './stop.ts';
import { lines, type Safe, said, visibleJson } from './visible.ts';

export interface Common {
  readonly json?: boolean;
}

export interface Changing extends Common {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export interface Deciding extends Changing {
  readonly reason: string;
  readonly requestId?: string;
}

/** A verb that only looks. */
export const looking = (noun: Command, usage: string, says: string): Command =>
  noun.command(usage).description(says).option('--json', 'the answer as JSON');

/** A verb that changes something: it says first what it will do. */
export const changing = (noun: Command, usage: string, says: string): Command =>
  looking(noun, usage, says)
    .option('--dry-run', 'say what it would do, and change nothing')
    .option('-y, --yes', 'do it without asking');

/** A verb that is a decision of a person: it goes on record with a reason. */
export const deciding = (noun: Command, usage: string, says: string): Command =>
  changing(noun, usage, says)
    .requiredOption('--reason <text>', 'why, for whoever reads the record')
    .option('--request-id <id>', 'names this decision: the same id again is the same decision (default: a new one)');

export const wholeNumber = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

export const anyNumber = (text: string): number => {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new InvalidArgumentError('It must be a number.');
  return number;
};

export interface Change {
  /** What is going to happen, from what is there now. May throw Stop: then nothing is asked. */
  readonly plan: () => Promise<Safe>;
  readonly call: Call;
  /** The answer for people. */
  readonly show: (body: unknown) => Safe;
}

/**
 * plan --> --dry-run: said, and that is all
 *   \----> --yes, or a person agrees ----> call --> answer
 */
export const carryOut = async (shell: Shell, options: Changing, change: Change): Promise<void> => {
  const says = await change.plan();
  const { method, path: at, query, body, rawBody, requestId } = change.call;
  if (options.dryRun === true) {
    const request = { method, path: at, query, body: withoutSecret(body ?? rawBody), idempotencyKey: requestId };
    answer(shell, options, { dryRun: true, says, request }, () => lines(says, said`Nothing was changed (--dry-run).`));
    return;
  }
  await agreed(shell, options, says);
  const done = await shell.client().call(change.call);
  answer(shell, options, done.body, () => change.show(done.body));
};

/** What a person has typed as a secret is not said back. */
export const withoutSecret = (body: unknown): unknown => {
  if (typeof body !== 'object' || body === null) return body;
  const kept = Object.entries(body).map(([name, value]) => {
    if (name === 'signingSecret') return [name, value === undefined ? undefined : '(given)'];
    const isHeaders = name === 'headers' && typeof value === 'object' && value !== null;
    return [name, isHeaders ? Object.keys(value) : value];
  });
  return Object.fromEntries(kept);
};

export const agreed = async (shell: Shell, options: Changing, says: Safe): Promise<void> => {
  if (options.yes === true) return;
  if (shell.ask === undefined) {
    throw new Stop(USAGE, 'this changes something and nobody is here to be asked: add --yes (or --dry-run to look)');
  }
  shell.err(`${says}\n`);
  if (!(await shell.ask('Do it? [y/N] '))) throw new Stop(FAILED, 'not done: you did not agree');
};

/** A decision of a person, with its id made here where none was given. */
export const decisionCall = (
  shell: Shell,
  options: Deciding,
  call: Pick<Call, 'method' | 'path' | 'onceMs'> & { readonly body?: Readonly<Record<string, unknown>> },
): Call => ({
  method: call.method,
  path: call.path,
  ...(call.onceMs === undefined ? {} : { onceMs: call.onceMs }),
  body: { reason: options.reason, ...call.body },
  requestId: options.requestId ?? `cli-${shell.dice.id()}`,
});

export const get = async (shell: Shell, at: string, query: Call['query'] = {}): Promise<unknown> =>
  (await shell.client().call({ method: 'GET', path: at, query })).body;

/** The answer to a parser that trusts nobody: another version may stand at the other end. */
export const readAs = <T>(schema: { safeParse(value: unknown): { success: boolean; data?: T } }, body: unknown): T => {
  const parsed = schema.safeParse(body);
  if (parsed.success && parsed.data !== undefined) return parsed.data;
  throw new Stop(FAILED, 'the answer is not one that this version understands: --json shows it as it is', {
    code: 'not-understood',
    detail: `cannot read ${visibleJson(body).slice(0, 200)}`,
  });
};
