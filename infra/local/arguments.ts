/**
 * The arguments of the project's own programs, such as the demo and the simulation: what they do not know is answered with
 * their usage, never with a stack.
 *
 *   read ──► values
 *     ├── --help, -h ──────────────────────────► usage on standard output, exit 0
 *     └── an option or a value it cannot take ──► what is wrong, and the usage, on standard error, exit 2
 */

/** What is wrong with an argument, for whoever typed it. */
export class ArgumentError extends Error {}

export const argumentsOf = <T>(usage: string, read: () => T): T => {
  const given = process.argv.slice(2);
  if (given.includes('--help') || given.includes('-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return read();
  } catch (error) {
    const wrong = wrongWith(error);
    if (wrong === undefined) throw error;
    console.error(`${wrong}\n\n${usage}`);
    process.exit(2);
  }
};

/** Of what `parseArgs` says the first sentence: the rest is about operands that begin with a dash. */
const wrongWith = (error: unknown): string | undefined => {
  if (error instanceof ArgumentError) return error.message;
  const isParsing = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_');
  return isParsing ? error.message.split(/\.? ?\n|\. /)[0] : undefined;
};

/** Throws ArgumentError. */
export const wholeOption = (option: string, text: string, least: number): number => {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
  throw new ArgumentError(`--${option} "${text}" is no whole number from ${least} on`);
};
