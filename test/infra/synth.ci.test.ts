/**
 * `npm run synth` as somebody runs it who has just cloned the project: an empty home, no credentials, no network, and the
 * rules of cdk-nag. Some 15 s for each variant on two idle cores.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT } from '../../infra/aws/bundle.ts';

const MS_MAX = 60_000;

/** A network of its own with nothing in it, where the system lets us have one. */
const sealed = ((): readonly string[] => {
  const command = ['unshare', '--map-root-user', '--net'];
  try {
    execFileSync(command[0] ?? '', [...command.slice(1), 'true']);
    return command;
  } catch {
    return [];
  }
})();

const synth = async (context: readonly string[]) => {
  const home = await mkdtemp(join(tmpdir(), 'onceward-home-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const output = join(home, 'out');
  const words = [...sealed, 'npm', 'run', 'synth', '--', '--output', output, ...context.flatMap((one) => ['-c', one])];
  const [command = '', ...args] = words;
  // A proxy that is not there: where there is no network of our own, whatever calls out fails all the same.
  const nowhere = 'http://127.0.0.1:9';
  const env = {
    HOME: home,
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
  };
  const from = performance.now();
  const ended = await promisify(execFile)(command, args, { cwd: PROJECT, env }).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    (error: { code?: number; stdout?: string; stderr?: string }) => ({
      code: error.code ?? 1,
      said: `${error.stdout}${error.stderr}`,
    }),
  );
  return { ...ended, output, tookMs: performance.now() - from };
};

describe('npm run synth, without a network and from an empty home', () => {
  it.each([
    ['sqs', [], 4],
    ['infrai', ['transport=infrai', 'infraiQueue=orders'], 4],
    ['both', ['transport=both', 'infraiQueue=orders', 'alarmEmail=ops@example.com'], 5],
    ['infrai with its own cron', ['transport=infrai', 'infraiQueue=orders', 'tick=transport'], 4],
  ] as const)(
    'makes the stack for %s in under a minute, and cdk-nag lets it through',
    async (_name, context, functions) => {
      const { code, said, output, tookMs } = await synth(context);
      expect(said).not.toMatch(/ERROR|AwsSolutions-/);
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(MS_MAX);
      const files = await readdir(output);
      expect(files).toContain('Onceward.template.json');
      // One bundle each: two functions with one asset would be two functions with one code.
      expect(files.filter((name) => name.startsWith('asset.'))).toHaveLength(functions);
      const { files: assets } = JSON.parse(await readFile(join(output, 'Onceward.assets.json'), 'utf8'));
      expect(Object.keys(assets)).toHaveLength(functions + 1);
    },
  );

  it.each([
    ['alarmMail=ops@example.com', '-c alarmMail: there is no such setting; there are transport, '],
    ['transport=sns', 'transport: "sns" is not known; use sqs, infrai, both'],
  ])('refuses a setting that cannot be, in a line and without a stack: %s', async (context, says) => {
    const { code, said } = await synth([context]);
    expect(code).not.toBe(0);
    expect(said).toContain(`\n${says}`);
    expect(said).not.toMatch(/^ +at |node:internal/m);
  });
});
