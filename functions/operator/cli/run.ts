/** One command from its arguments to its exit code: 0 done, 1 failed, refused or found wrong, 2 not a command that can be run. */
import { Command, CommanderError } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { ConfigError } from '../../config.ts';
import { addAudit } from './nouns/audit.ts';
import { addDelivery } from './nouns/delivery.ts';
import { addDestination } from './nouns/destination.ts';
import { addEvent } from './nouns/event.ts';
import { addProve } from './nouns/prove.ts';
import { addQueue } from './nouns/queue.ts';
import { addRedrive } from './nouns/redrive.ts';
import { addToken } from './nouns/token.ts';
import type { Shell } from './shell.ts';
import { FAILED, OK, Stop, USAGE } from './stop.ts';
import { visible, visibleJson } from './visible.ts';

const FOOT = `
Settings: ONCEWARD_URL (http://127.0.0.1:8787), ONCEWARD_INTAKE_URL (the same), ONCEWARD_TOKEN.
Exit codes: 0 done; 1 failed, refused (by you as well), or found something wrong; 2 not a command that can be run.
What changes something says first what it will do and asks: --yes answers, --dry-run only looks.`;

/** Each noun in its own file; a new one is added here. */
const NOUNS = [addEvent, addDelivery, addDestination, addRedrive, addToken, addAudit, addQueue, addProve];

export const createProgram = (shell: Shell): Command => {
  const program = new Command('onceward')
    .description('One business effect from at-least-once queues: look, decide, redrive.')
    .version(manifest.version, '-V, --version', 'which version this is')
    .exitOverride()
    .configureOutput({ writeOut: shell.out, writeErr: shell.err, outputError: () => {} })
    .addHelpText('after', FOOT)
    .showSuggestionAfterError();
  for (const add of NOUNS) add(program, shell);
  return program;
};

export const runCli = async (args: readonly string[], shell: Shell): Promise<number> => {
  const program = createProgram(shell);
  if (args.length === 0) {
    program.outputHelp();
    return OK;
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
    return OK;
  } catch (error) {
    return endOf(shell, error, args.includes('--json'), commandIn(program, args));
  }
};

/** The verb that was called; the program, where there is none. */
const commandIn = (program: Command, args: readonly string[]): Command => {
  let command = program;
  for (const arg of args) {
    const next = command.commands.find((one) => one.name() === arg);
    if (next === undefined) break;
    command = next;
  }
  return command;
};

/** The API names a member of its body; who sits here wants the option. */
const optionFor = ({ problem }: Stop, command: Command): string => {
  const option = command.options.find((one) => one.attributeName() === problem['field']);
  return option?.long === undefined || option.long === null ? '' : ` (${option.long})`;
};

const endOf = (shell: Shell, error: unknown, json: boolean, command: Command): number => {
  const stop = stopOf(error);
  if (stop === undefined) return OK;
  const line = oneLine(visible(`${stop.message}${optionFor(stop, command)}`));
  shell.err(json ? `${visibleJson({ error: stop.problem })}\n` : `onceward: ${line}\n`);
  return stop.exitCode;
};

const stopOf = (error: unknown): Stop | undefined => {
  if (error instanceof Stop) return error;
  if (error instanceof ConfigError) return new Stop(USAGE, error.message);
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return undefined;
    // A noun without its verb has shown its help.
    if (error.code === 'commander.help') return new Stop(USAGE, 'say what to do');
    return new Stop(USAGE, `${error.message.replace(/^error: /, '').replaceAll('\n', ' ')}; --help shows how`);
  }
  const what = error instanceof Error ? error.message : String(error);
  return new Stop(FAILED, `a fault of this program: ${what}`);
};

const LINE_CHARS_MAX = 2_000;

const oneLine = (text: string): string => (text.length > LINE_CHARS_MAX ? `${text.slice(0, LINE_CHARS_MAX)}…` : text);
