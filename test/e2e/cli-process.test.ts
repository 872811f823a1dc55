/** The command line as a process: exit codes, what goes where, and no colour into a pipe. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.ts';

const MAIN = 'functions/operator/cli/main.ts';

const run = (args: readonly string[], env: Record<string, string> = {}) => runProgram(MAIN, args, env).ended();

describe('onceward, as a process', () => {
  it('helps without any setting, and says how to use it where a command cannot be run', async () => {
    const [help, nothing, wrong] = await Promise.all([run(['--help']), run([]), run(['delivery', 'lst'])]);
    expect([help.code, nothing.code, wrong.code]).toEqual([0, 0, 2]);
    expect(help.output).toContain('Exit codes: 0');
    expect(nothing.output).toBe(help.output);
    expect(wrong.output).toMatch(/^onceward: unknown command 'lst' .*\n$/);
    for (const { output } of [help, nothing, wrong]) expect(output).not.toContain('\u001b');
  });

  it('says which version it is', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    expect(await run(['--version'])).toMatchObject({ code: 0, output: `${version}\n` });
  });

  it('ends in peace where nobody reads on, as behind `| head`', async () => {
    const program = runProgram(MAIN, ['--help']);
    program.child.stdout?.destroy();
    expect(await program.ended()).toMatchObject({ code: 0, output: '' });
  });

  it('says in one line that nothing listens, that there is no token, that a setting is bad', async () => {
    const token = { ONCEWARD_TOKEN: 'a-token-that-nobody-knows' };
    const [noToken, bad] = await Promise.all([
      run(['delivery', 'list']),
      run(['delivery', 'list'], { ...token, ONCEWARD_URL: 'nonsense' }),
    ]);
    expect([noToken.code, bad.code]).toEqual([2, 2]);
    expect(noToken.output).toMatch(/^onceward: no token: set ONCEWARD_TOKEN .*\n$/);
    expect(bad.output).toMatch(/^onceward: setting ONCEWARD_URL must be .*\n$/);
  });
});
