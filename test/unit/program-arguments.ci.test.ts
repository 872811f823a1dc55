/** The project's own programs, given what they do not know: their usage and an exit code, and never a stack. */
import { describe, expect, it } from 'vitest';
import { ArgumentError, wholeOption } from '../../infra/local/arguments.ts';
import { runProgram } from '../support/program.ts';

const PROGRAMS = {
  demo: 'infra/local/demo/demo.ts',
  'first-token': 'infra/local/first-token.ts',
  bench: 'test/bench/bench.ts',
  simulate: 'test/simulation/simulate.ts',
  'virtual-day': 'test/simulation/virtual-day.ts',
  mistakes: 'test/simulation/mistakes/run.ts',
  kills: 'test/simulation/kills/run.ts',
} as const;

type Name = keyof typeof PROGRAMS;

const ended = (name: Name, ...args: readonly string[]) => runProgram(PROGRAMS[name], args).ended();

describe.concurrent('an option that is not there', { timeout: 60_000 }, () => {
  it.each(Object.keys(PROGRAMS) as Name[])('is named, with the usage, and exits 2: npm run %s', async (name) => {
    const { code, output } = await ended(name, '--nonsense');
    expect(output).toMatch(new RegExp(`^Unknown option '--nonsense'\\n\\nnpm run (-s )?${name} -- `));
    expect(output).not.toMatch(/^ +at /m);
    expect(code).toBe(2);
  });

  it('is not --help: that gives the usage alone, and exits 0', async () => {
    const { code, output } = await ended('first-token', '--help');
    expect(output).toMatch(/^npm run -s first-token -- TABLE .*\n$/);
    expect(code).toBe(0);
  });
});

describe.concurrent('a value that makes no sense', { timeout: 60_000 }, () => {
  it.each([
    ['simulate', ['--histories', 'abc'], '--histories "abc" is no whole number from 1 on'],
    ['simulate', ['--from', '-1'], "Option '--from' argument is ambiguous"],
    ['mistakes', ['--only', 'no such mistake'], 'no mistake is named so; there are: '],
    ['bench', ['cost', '--short', '--record'], '--short measures nothing'],
    ['demo', ['--break', 'nothing'], '--break knows: fresh-keys'],
  ] as const)('exits 2 before anything is run: %s %j', async (name, args, says) => {
    const { code, output } = await ended(name, ...args);
    expect(output.slice(0, says.length)).toBe(says);
    expect(output).not.toMatch(/^ +at /m);
    expect(code).toBe(2);
  });

  it.each(['', 'abc', '1.5', '-1', '0', '1e3', ' 7', '9007199254740993'])('is no whole number: %j', (text) => {
    expect(() => wholeOption('side', text, 1)).toThrow(ArgumentError);
  });

  it('is told from one that does', () => {
    expect([wholeOption('from', '0', 0), wholeOption('side', '12', 1)]).toEqual([0, 12]);
  });
});
