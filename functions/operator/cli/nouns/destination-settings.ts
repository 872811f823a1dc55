/** The settings of a destination as options. What they may be is the API's to say: here they only get their types. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { anyNumber, wholeNumber } from '../verb.ts';

export interface SettingOptions {
  readonly url: string;
  readonly repeatSafe: 'yes' | 'no';
  readonly keyLifeHours?: number | null;
  readonly schedule?: readonly number[];
  readonly timeoutMs?: number;
  readonly ratePerSecond?: number;
  readonly concurrency?: number;
  readonly rejectOn?: readonly number[];
  readonly header?: readonly (readonly [name: string, value: string])[];
  readonly acceptFromQueue?: boolean;
  readonly mode?: string;
  readonly notices?: boolean;
  readonly signingSecret?: string;
  readonly reason?: string;
  readonly requestId?: string;
}

export const addSettings = (command: Command): Command =>
  command
    .requiredOption('--url <url>', 'where to send')
    .addOption(
      new Option('--repeat-safe <yes|no>', 'is a second identical request with the same key harmless there?')
        .choices(['yes', 'no'])
        .makeOptionMandatory(),
    )
    .option('--key-life-hours <hours>', 'how long it remembers a key; "forever" (default: 24)', hoursOrForever)
    .option('--schedule <seconds>', 'waits between attempts, with commas between them; "" for one attempt', numbers)
    .option('--timeout-ms <ms>', 'for one request (default: 20000)', wholeNumber)
    .option('--rate-per-second <n>', 'requests a second at most', anyNumber)
    .option('--concurrency <n>', 'requests at once at most', wholeNumber)
    .option('--reject-on <statuses>', 'answers that mean never, besides 422, with commas between them', numbers)
    .option('--header <name:value>', 'a header of every request; may be given again', collectHeader)
    .option('--accept-from-queue', 'take whole events that a producer has put on the queue')
    .addOption(new Option('--mode <mode>', 'shadow: everything but the request').choices(['live', 'shadow']))
    .option('--notices', 'tell it what a person should know, such as a quarantined delivery or a paused destination')
    .option('--signing-secret <whsec>', 'your own secret (default: one is made and shown once)')
    .option('--reason <text>', 'why, for whoever reads the record')
    .option('--request-id <id>', 'names this change: the same id again is the same change (default: a new one)');

const hoursOrForever = (text: string): number | null => (text === 'forever' ? null : anyNumber(text));

const numbers = (text: string): readonly number[] =>
  text.trim() === '' ? [] : text.split(',').map((one) => wholeNumber(one.trim()));

export const collectHeader = (
  text: string,
  before: readonly (readonly [string, string])[] | undefined,
): readonly (readonly [string, string])[] => {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('It must be a name, a colon and a value.');
  return [...(before ?? []), [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]];
};

export const settingsOf = (options: SettingOptions): Readonly<Record<string, unknown>> => ({
  url: options.url,
  repeatSafe: options.repeatSafe === 'yes',
  keyLifeHours: options.keyLifeHours,
  schedule: options.schedule,
  timeoutMs: options.timeoutMs,
  ratePerSecond: options.ratePerSecond,
  concurrency: options.concurrency,
  rejectOn: options.rejectOn,
  headers: options.header === undefined ? undefined : Object.fromEntries(options.header),
  acceptFromQueue: options.acceptFromQueue,
  mode: options.mode,
  notices: options.notices,
  signingSecret: options.signingSecret,
});
