import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openChild } from '../bench/stage/child.ts';
import { runProgram } from '../support/program.ts';

const SUBJECTS = join(import.meta.dirname, '..', 'bench', 'subjects');

describe('a measured process', () => {
  it('answers what it is asked, counts its own time, and ends when it is let go', async () => {
    const child = await openChild('destination.ts');
    const before = await child.cpuMs();
    const answer = await fetch(child.url, { method: 'POST', body: 'x' });
    expect([answer.status, await (await fetch(child.url)).text()]).toEqual([204, '1']);
    expect(await child.cpuMs()).toBeGreaterThan(before);
    await child.end();
    await expect(fetch(child.url)).rejects.toThrow();
  });

  it('says which it was where one ends before it is ready', async () => {
    await expect(openChild('no-such-subject.ts')).rejects.toThrow('no-such-subject.ts');
  });

  it('ends by itself when whoever started it is killed', async () => {
    const starter = `
      import { openChild } from ${JSON.stringify(join(SUBJECTS, '..', 'stage', 'child.ts'))};
      const child = await openChild('destination.ts');
      console.log('child at ' + child.url + ' end');`;
    const parent = runProgram('--input-type=module', ['--eval', starter]);
    const url = /at (\S+) end/.exec(await parent.says(' end'))?.[1] ?? '';
    // A connection of its own: its end is the sign that the process has ended.
    const answer = await fetch(url, { method: 'POST', body: 'x' });
    expect(answer.status).toBe(204);
    parent.kill('SIGKILL');
    await once(parent.child, 'exit');
    await expect
      .poll(
        () =>
          fetch(url).then(
            () => 'there',
            () => 'gone',
          ),
        { timeout: 10_000 },
      )
      .toBe('gone');
  });
});
