import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** Goal: the last line of a ci run is the truth, and a red run never says "0 failed". */
const script = fileURLToPath(new URL('../../.ci/tally.mjs', import.meta.url));
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'onceward-tally-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

type FileResult = { status: string; assertionResults: { status: string }[] };

function report(step: string, passed: number, failed: number, testResults: FileResult[] = []): void {
  const text = JSON.stringify({ numPassedTests: passed, numFailedTests: failed, testResults });
  writeFileSync(join(folder, `${step}.json`), text);
}

function tally(...steps: string[]): Promise<{ lastLine: string | undefined; exit: number }> {
  return new Promise((done) => {
    execFile(process.execPath, [script, folder, ...steps], (error, stdout) => {
      done({ lastLine: stdout.trimEnd().split('\n').at(-1), exit: error === null ? 0 : Number(error.code) });
    });
  });
}

describe('the sum of a ci run', () => {
  it('adds up the tests of every run', async () => {
    report('test', 120, 0);
    report('ci', 7, 0);
    expect(await tally('install:0', 'test:0', 'ci:0')).toEqual({ lastLine: '127 passed, 0 failed', exit: 0 });
  });

  it('counts failed tests once, though their run ended badly too', async () => {
    report('test', 10, 3, [{ status: 'failed', assertionResults: [{ status: 'failed' }] }]);
    expect(await tally('test:1')).toEqual({ lastLine: '10 passed, 3 failed', exit: 1 });
  });

  it.each([
    ['lint that fails before any test', 'check:1'],
    ['a run that was stopped before it could report', 'ci:124'],
    ['an install that failed', 'install:1'],
  ])('counts %s as one failure', async (_what, step) => {
    report('test', 5, 0);
    expect(await tally('test:0', step)).toEqual({ lastLine: '5 passed, 1 failed', exit: 1 });
  });

  it('counts a test file that could not be loaded, beside the failed tests of other files', async () => {
    const broken = { status: 'failed', assertionResults: [] };
    const failing = { status: 'failed', assertionResults: [{ status: 'passed' }, { status: 'failed' }] };
    report('test', 4, 1, [broken, failing]);
    expect(await tally('test:1')).toEqual({ lastLine: '4 passed, 2 failed', exit: 1 });
  });

  it('fails where a run was green but left errors outside its tests', async () => {
    report('test', 8, 0);
    expect(await tally('test:1')).toEqual({ lastLine: '8 passed, 1 failed', exit: 1 });
  });

  it('does not call an empty run a success', async () => {
    expect(await tally()).toEqual({ lastLine: '0 passed, 1 failed', exit: 1 });
  });
});
