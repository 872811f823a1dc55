/** The receiver that README.md shows, as it stands there, in a process of its own. */
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Program, runProgram } from '../support/program.ts';

const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString('base64')}`;
const LISTENS = '.listen(3000)';

const codeInReadme = async (): Promise<string> => {
  const [, code] = /```js\n([\s\S]*?)```/.exec(await readFile('README.md', 'utf8')) ?? [];
  if (code === undefined || !code.includes(LISTENS)) throw new Error('README.md shows no receiver');
  return code.replace(
    LISTENS,
    ".listen(0, '127.0.0.1', function () { console.log('port ' + this.address().port + ';'); })",
  );
};

describe('the receiver of the README', () => {
  let folder: string;
  let program: Program;
  let url: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'onceward-receiver-'));
    const file = join(folder, 'receiver.mjs');
    await writeFile(file, await codeInReadme());
    program = runProgram(file, [], { WEBHOOK_SECRET: SECRET });
    const [, port] = /port (\d+);/.exec(await program.says(';')) ?? [];
    url = `http://127.0.0.1:${port}/`;
  });
  afterAll(async () => {
    program.kill('SIGTERM');
    await program.ended();
    await rm(folder, { recursive: true, force: true });
  });

  const seconds = Math.floor(Date.now() / 1_000);
  const signatureOf = (signed: string): string => `v1,${createHmac('sha256', KEY).update(signed).digest('base64')}`;
  const send = async (id: string, body: string, signature: string, at = seconds): Promise<number> => {
    const headers = { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signature };
    return (await fetch(url, { method: 'POST', body, headers })).status;
  };
  const effectsOf = async (body: string): Promise<number> =>
    (await program.says(`the effect of ${body}\n`)).split(`the effect of ${body}\n`).length - 1;

  it('acts once for an id, however often it comes', async () => {
    const signature = signatureOf(`ow_1.${seconds}.first`);
    expect([await send('ow_1', 'first', signature), await send('ow_1', 'first', signature)]).toEqual([204, 204]);
    expect(await effectsOf('first')).toBe(1);
  });

  it('refuses another signature, an old one, and one whose bytes were moved by a dot in the id', async () => {
    expect(await send('ow_2', 'second', signatureOf(`ow_2.${seconds}.other`))).toBe(401);
    const old = seconds - 600;
    expect(await send('ow_2', 'second', signatureOf(`ow_2.${old}.second`), old)).toBe(401);
    const captured = signatureOf(`ow_3.${seconds}.${seconds}.75`);
    expect(await send(`ow_3.${seconds}`, '75', captured)).toBe(401);
    expect(await send('ow_3', `${seconds}.75`, captured)).toBe(204);
  });

  it('reads no more than a megabyte', async () => {
    const body = 'x'.repeat(1_000_001);
    expect(await send('ow_4', body, signatureOf(`ow_4.${seconds}.${body}`))).toBe(413);
  });
});
