/** How a command ends: its exit code, and the one line of one that was not done. */

/** Exit codes, as the help lists them. */
export const OK = 0;
export const FAILED = 1;
export const USAGE = 2;

/** Ends a command with one line for a person. What is known of it for a program stands in `problem`. */
export class Stop extends Error {
  readonly exitCode: typeof FAILED | typeof USAGE;
  readonly problem: Readonly<Record<string, unknown>>;
  constructor(
    exitCode: typeof FAILED | typeof USAGE,
    message: string,
    problem: Readonly<Record<string, unknown>> = { code: exitCode === USAGE ? 'usage' : 'failed', detail: message },
  ) {
    super(message);
    this.name = 'Stop';
    this.exitCode = exitCode;
    this.problem = problem;
  }
}
