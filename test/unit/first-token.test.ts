/** The first token of a deployment: what is printed for the AWS CLI is an item that the API knows. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { fromItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { RIGHTS } from '../../functions/http/auth.ts';
import { openTestWorld } from '../support/world.ts';

const run = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, ['infra/local/first-token.ts', ...args], {
    cwd: new URL('../..', import.meta.url).pathname,
  });

it('the printed item, stored in the table, lets the printed token in with every right', async () => {
  const { stdout } = await run('Onceward-Table-1');
  const token = /^ {2}(ow_\S+)$/m.exec(stdout)?.[1] ?? '';
  const [, table, text] = /put-item --table-name (\S+) .*--item '(.+)'$/m.exec(stdout) ?? [];
  expect(table).toBe('Onceward-Table-1');
  expect(text).not.toContain(token);
  const found = fromItem(JSON.parse(text ?? ''));
  if (found.kind !== 'found' || found.item.item !== 'token') throw new Error(found.kind);
  expect(found.item.rights).toEqual([...RIGHTS]);
  const [without, world] = [openTestWorld(), openTestWorld()];
  const ask = ({ call }: typeof world) => call('operator', 'GET', '/v1/destinations', { token });
  expect((await ask(without)).status).toBe(401);
  await world.records.create(found.item);
  expect((await ask(world)).status).toBe(200);
});

it('without a table it says what is missing', async () => {
  await expect(run()).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('which table?') });
  for (const args of [
    ['a', 'b'],
    ['--table', 'Onceward-Table-1'],
  ]) {
    await expect(run(...args)).rejects.toMatchObject({ code: 2, stdout: '' });
  }
  expect((await run('--help')).stdout).not.toContain('put-item');
});
