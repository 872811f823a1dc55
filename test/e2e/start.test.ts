/** `npm start` as a person meets it: up at once, the README's three requests, a clean end, and nothing lost by kill -9. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Program, runProgram } from '../support/program.ts';

const START = 'infra/local/start.ts';
const TOKEN = 'test-admin-token-0123';

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

let dataDir: string;
let port: number;
let running: Program[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'onceward-start-'));
  port = await freePort();
});

afterEach(async () => {
  for (const program of running) program.kill('SIGKILL');
  await Promise.all(running.map((program) => program.ended()));
  running = [];
  await rm(dataDir, { recursive: true, force: true });
});

const start = (env: Record<string, string> = {}): Program => {
  const program = runProgram(START, [], {
    PORT: String(port),
    ONCEWARD_DATA: dataDir,
    ONCEWARD_TOKEN: TOKEN,
    ...env,
  });
  running.push(program);
  return program;
};

const call = async (method: string, path: string, body?: string, token = TOKEN) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const arrivedAt = async (mailbox: string): Promise<void> => {
  const { body } = await call('GET', `/partner/${mailbox}`);
  if (body['requestCount'] !== 1) await arrivedAt(mailbox);
};

const deliveredWithin = async (path: string, tries: number): Promise<Record<string, unknown>> => {
  const { body } = await call('GET', path);
  return body['status'] === 'delivered' || tries === 0 ? body : deliveredWithin(path, tries - 1);
};

describe('npm start', () => {
  it('answers within five seconds', async () => {
    const began = performance.now();
    const program = start();
    await program.says('Onceward is up');
    expect((await call('GET', '/healthz')).body).toEqual({ ok: true });
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it("delivers a first event to the bundled partner by the README's own three requests", async () => {
    await start().says('Onceward is up');
    const readme = await readFile('README.md', 'utf8');
    const shell = /## A first event in three curls[\s\S]*?```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    const requests = [
      ...shell.matchAll(/curl (?:-X (\w+) )?http:\/\/127\.0\.0\.1:8787(\S+)[^']*?(?:-d '([^']+)')?\n(?=\n|#|$)/g),
    ];
    expect(requests).toHaveLength(3);
    const answers = [];
    for (const [, method = 'GET', path = '', body] of requests.slice(0, 2)) {
      answers.push(await call(method, path, body?.replaceAll(':8787', `:${port}`)));
    }
    expect(answers.map((answer) => answer.status)).toEqual([201, 202]);
    const shown = await deliveredWithin(requests[2]?.[2] ?? '', 200);
    expect(shown).toMatchObject({ status: 'delivered', attempts: 1 });
    expect((shown['journal'] as { kind: string }[]).map((entry) => entry.kind)).toEqual([
      'accepted',
      'claimed',
      'outcome',
    ]);
    expect((await call('GET', '/partner/hello')).body).toMatchObject({ requestCount: 1, effectCount: 1 });
  });

  it('ends cleanly within three seconds of SIGTERM, even while an attempt hangs', async () => {
    const program = start();
    await program.says('Onceward is up');
    const url = `http://127.0.0.1:${port}/partner/hangs?hang=true`;
    await call('PUT', '/v1/destinations/hangs', JSON.stringify({ url, repeatSafe: true }));
    await call('POST', '/v1/events', JSON.stringify({ id: 'h', payload: 1, destinations: ['hangs'] }));
    await arrivedAt('hangs');
    const began = performance.now();
    program.kill('SIGTERM');
    await program.says('Onceward is stopping');
    const late = JSON.stringify({ id: 'late', payload: 1, destinations: ['hangs'] });
    expect(await call('POST', '/v1/events', late)).toMatchObject({ status: 503, body: { code: 'stopping' } });
    const { code, signal, output } = await program.ended();
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(output).toContain('Attempts on their way were cut off');
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  it('still has every event that got a 202 after kill -9 and a new start', async () => {
    const program = start();
    await program.says('Onceward is up');
    const url = `http://127.0.0.1:${port}/partner/later`;
    await call('PUT', '/v1/destinations/later', JSON.stringify({ url, repeatSafe: true }));
    const ids = Array.from({ length: 40 }, (_, index) => `event-${index}`);
    const answers = await Promise.all(
      ids.map((id, index) => {
        // The last one goes out as the process is killed: with or without an answer, no 202 may be forgotten.
        const sent = call('POST', '/v1/events', JSON.stringify({ id, payload: { index }, destinations: ['later'] }));
        if (index === ids.length - 1) program.kill('SIGKILL');
        return sent.catch(() => undefined);
      }),
    );
    await program.ended();
    await start().says('Onceward is up');
    const accepted = ids.filter((_, index) => answers[index]?.status === 202);
    const shown = await Promise.all(accepted.map((id) => call('GET', `/v1/events/${id}`)));
    expect(shown.filter((answer) => answer.status !== 200)).toEqual([]);
  });

  it('keeps its made admin token over a restart, and shows it only where it made it', async () => {
    const first = await start({ ONCEWARD_TOKEN: '' }).says('admin token:');
    const token = /admin token: (\S+)/.exec(first)?.[1] ?? '';
    running[0]?.kill('SIGTERM');
    await running[0]?.ended();
    const again = await start({ ONCEWARD_TOKEN: '' }).says('Ctrl-C');
    expect(again).toContain(token);
    expect((await call('GET', '/v1/destinations', undefined, token)).status).toBe(200);
  });

  it('names the setting when it is wrong, and the port when it is taken', async () => {
    const bad = await start({ PORT: 'high' }).ended();
    expect(bad.code).toBe(1);
    expect(bad.output).toContain('PORT must be a whole number');
    await start().says('Onceward is up');
    const second = await start({ ONCEWARD_DATA: join(dataDir, 'other') }).ended();
    expect(second.code).toBe(1);
    expect(second.output).toContain(`port ${port} is in use`);
    const file = join(dataDir, 'a-file');
    await writeFile(file, '');
    const third = await start({ ONCEWARD_DATA: file }).ended();
    expect(third.code).toBe(1);
    expect(third.output).toContain(`onceward cannot start: ONCEWARD_DATA: ${file} cannot be used`);
  });
});
