/**
 * What the bundles do differently from the sources: they hold a part of undici only, and load the sender late. So a bundled
 * sender sends here, by real sockets, and has to tell the outcomes apart as the other one does.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { createSender as CreateSender } from '../../functions/adapters/sender/sender.ts';
import { systemClock } from '../../functions/adapters/system.ts';
import { bundle } from '../../infra/aws/bundle.ts';
import { shippedName } from '../../infra/aws/code.ts';

let folder = '';
let sender: ReturnType<typeof CreateSender>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'onceward-bundled-'));
  bundle('functions/adapters/sender/sender.ts', folder);
  const bundled: { createSender: typeof CreateSender } = await import(join(folder, 'index.mjs'));
  sender = bundled.createSender({ policy: { allowLocal: true }, clock: systemClock });
}, 30_000);

afterAll(async () => {
  await sender.close();
  await rm(folder, { recursive: true, force: true });
});

const answering = async <T>(listener: RequestListener, work: (url: string) => Promise<T>): Promise<T> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return work(`http://127.0.0.1:${address.port}/hook`).finally(() => {
    server.closeAllConnections();
    server.close();
  });
};

const send = (url: string, deadlineMs = 5_000) =>
  sender.send({ url, headers: {}, body: Buffer.from('{"n":1}'), deadlineMs, connectMs: 1_000, excerptBytes: 100 });

describe('a sender out of a bundle', () => {
  it('sends the bytes, and gives status, Retry-After and excerpt', async () => {
    const received: Buffer[] = [];
    const answer = await answering(
      async (request, response) => {
        for await (const chunk of request) received.push(chunk);
        response.writeHead(503, { 'retry-after': '7' }).end('come back later');
      },
      (url) => send(url),
    );
    expect(Buffer.concat(received).toString()).toBe('{"n":1}');
    expect(answer).toMatchObject({ kind: 'answered', status: 503, retryAfter: ['7'], excerpt: 'come back later' });
  });

  it('follows no redirect', async () => {
    const answer = await answering(
      (_request, response) => void response.writeHead(307, { location: '/other' }).end(),
      (url) => send(url),
    );
    expect(answer).toMatchObject({ kind: 'answered', status: 307 });
  });

  it('knows a connection that was refused: nothing has left', async () => {
    const url = await answering(
      () => {},
      async (open) => open,
    );
    expect(await send(url)).toMatchObject({ kind: 'not-sent', cause: 'refused' });
  });

  it('knows a blocked address', async () => {
    expect(await send('http://169.254.169.254/latest')).toMatchObject({ kind: 'not-sent', cause: 'blocked' });
  });

  it('knows a connection that was cut, and a time-out: it may have arrived', async () => {
    const cut = await answering(
      (request) => void request.socket.destroy(),
      (url) => send(url),
    );
    expect(cut).toMatchObject({ kind: 'in-doubt', cause: 'reset' });
    const late = await answering(
      () => {},
      (url) => send(url, 1_000),
    );
    expect(late).toMatchObject({ kind: 'in-doubt', cause: 'timeout' });
  });
});

describe('a bundle', () => {
  const metafiles = new Map<string, Metafile>();
  const metafileOf = (entry: string): Metafile => {
    const known = metafiles.get(entry) ?? bundle(entry, join(folder, shippedName(entry))).metafile;
    metafiles.set(entry, known);
    return known;
  };
  const OF_A_MODULE = /undici\/lib\/(mock|cache|interceptor|milo|web\/(websocket|eventsource|cache))\//;

  it('holds nothing of undici that sends no request: mocks, caches, sockets of the web, a second parser', () => {
    const { inputs } = metafileOf('functions/receiver/handler.ts');
    const undici = Object.keys(inputs).filter((path) => path.includes('undici/lib/'));
    expect(undici.length).toBeGreaterThan(10);
    expect(undici.filter((path) => OF_A_MODULE.test(path))).toEqual([]);
  });

  it.each(['functions/receiver/sqs-handler.ts', 'functions/receiver/handler.ts'])(
    'of a receiver (%s) reads no HTTP client and no client of a queue at its start',
    (entry) => {
      const { outputs } = metafileOf(entry);
      const atOnce = new Set<string>();
      const visit = (path: string): void => {
        if (atOnce.has(path)) return;
        atOnce.add(path);
        for (const { kind, path: next } of outputs[path]?.imports ?? []) if (kind === 'import-statement') visit(next);
      };
      for (const path of Object.keys(outputs)) if (path.endsWith('index.mjs')) visit(path);
      const filesOf = (paths: Iterable<string>): readonly string[] =>
        [...paths].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
      const isLate = (file: string): boolean => /node_modules\/(undici|@aws-sdk\/client-sqs)\//.test(file);
      expect(filesOf(atOnce).filter(isLate)).toEqual([]);
      // They are there, to be loaded when they are needed.
      expect(filesOf(Object.keys(outputs)).some(isLate)).toBe(true);
    },
  );
});
