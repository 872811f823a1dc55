/** Real failures of others in deciding where a sender may connect. */

import { execFile } from 'node:child_process';
import { connect as connectTcp } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

import { vettedConnector, vettedLookup } from '../../functions/adapters/sender/connector.ts';
import { createSender } from '../../functions/adapters/sender/sender.ts';
import { judgeAddress, parseTarget } from '../../functions/core/target.ts';
import { answer, silent, writes } from '../support/hostile-server.ts';
import { CLOUD, clock, LOCAL, requestTo, script, serversOfEachTest } from '../support/sending.ts';

const serve = serversOfEachTest();

describe('where a sender may connect', () => {
  it('a dual-stack name works with the real connector (C084)', async () => {
    const server = await serve(writes(answer(200)));
    const { lookup } = script(['::1', '127.0.0.1']);
    const seen = await createSender({ policy: LOCAL, clock, lookup }).send(
      requestTo(`http://a.example:${server.port}/`),
    );
    expect(seen).toMatchObject({ kind: 'answered', status: 200 });
  });

  it.each([true, false])(
    'the vetted look-up answers in the form it is asked for: family selection %s (C084)',
    async (on) => {
      const server = await serve(silent);
      // node:net asks for all addresses where it selects a family, and for one where it does not.
      const lookup = vettedLookup(['127.0.0.1']);
      const socket = connectTcp({ host: 'a.example', port: server.port, lookup, autoSelectFamily: on });
      await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
      expect(socket.remoteAddress).toBe('127.0.0.1');
      socket.destroy();
    },
  );

  it('a name is resolved once; the answer that was judged is the one that is used (C085)', async () => {
    const server = await serve(writes(answer(200)));
    const resolver = script(['127.0.0.1'], ['169.254.169.254']);
    const sender = createSender({ policy: LOCAL, clock, lookup: resolver.lookup });
    const url = `http://rebind.example:${server.port}/`;
    expect(await sender.send(requestTo(url))).toMatchObject({ kind: 'answered' });
    expect(resolver.asked()).toBe(1);
    // The twin: as the first answer, the same address stops the attempt.
    expect(await sender.send(requestTo(url))).toMatchObject({ kind: 'not-sent', cause: 'blocked' });
    expect(server.connections()).toBe(1);
  });

  it.each([
    ['C086', 'https://[::ffff:127.0.0.1]/'],
    ['C086', 'https://[::ffff:a9fe:a9fe]/'],
    ['C087', 'https://[::127.0.0.1]/'],
    ['C091', 'https://localhost./'],
    ['C091', 'https://metadata.google.internal./'],
    ['C095', 'https://[example.com]/'],
    ['C095', 'https://[localhost]/'],
  ])('is denied at registration and at send, without a look-up (%s): %s', async (_case, url) => {
    const resolver = script(['93.184.215.14']);
    expect(parseTarget(url, CLOUD).kind).toBe('denied');
    const seen = await createSender({ policy: CLOUD, clock, lookup: resolver.lookup }).send(requestTo(url));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'blocked' });
    expect(resolver.asked()).toBe(0);
  });

  it('a name with a public IPv6 address stays possible (C087)', () => {
    expect(judgeAddress('2606:4700:4700::1111', CLOUD)).toEqual({ kind: 'allowed' });
  });

  it('a row that is older than the rule is blocked at send, and nothing of an answer is kept (C093)', async () => {
    const server = await serve(writes(answer(200, 'internal secret')));
    const seen = await createSender({ policy: CLOUD, clock }).send(requestTo(server.url));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'blocked' });
    expect(JSON.stringify(seen)).not.toContain('secret');
    expect(server.connections()).toBe(0);
    // The twin: only the rule stands in between.
    expect(await createSender({ policy: LOCAL, clock }).send(requestTo(server.url))).toMatchObject({
      excerpt: 'internal secret',
    });
  });

  it('proxy variables are ignored by deliveries, even where the runtime obeys them (C094)', async () => {
    const proxy = await serve(writes(answer(502, 'from the proxy')));
    const server = await serve(writes(answer(200, 'direct')));
    const senderModule = new URL('../../functions/adapters/sender/sender.ts', import.meta.url).href;
    const program = `
      const { createSender } = await import(${JSON.stringify(senderModule)});
      const sender = createSender({ policy: { allowLocal: true }, clock: { nowMs: () => 0 } });
      const request = { url: '${server.url}', headers: {}, body: new Uint8Array(2), deadlineMs: 9000, connectMs: 9000, excerptBytes: 64 };
      const seen = await sender.send(request);
      console.log(JSON.stringify([seen.excerpt, await fetch('${server.url}', { signal: AbortSignal.timeout(9000) }).then((r) => r.status, () => 502)]));
      process.exit();`;
    const url = `http://127.0.0.1:${proxy.port}`;
    const env = {
      ...process.env,
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      ALL_PROXY: url,
      NO_PROXY: '',
    };
    const arguments_ = ['--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, arguments_, { env, timeout: 15_000 });
    // The twin is the runtime's own fetch, which does go through the proxy.
    expect(JSON.parse(stdout)).toEqual(['direct', 502]);
    expect([server.received.length, proxy.received.length]).toEqual([1, 1]);
  });
});

describe('the connector of one attempt', () => {
  it('goes to the vetted address whatever the client asks for, and opens no second socket', async () => {
    const server = await serve(silent);
    const phases: string[] = [];
    const connect = vettedConnector({
      secure: false,
      host: 'a.example',
      port: server.port,
      addresses: ['127.0.0.1'],
      signal: new AbortController().signal,
      onPhase: (phase) => phases.push(phase),
    });
    const asked = { hostname: '10.0.0.1', protocol: 'http:', port: '1' };
    const socket = await new Promise<{ remotePort?: number | undefined; destroy(): void }>((resolve, reject) =>
      connect(asked, (error, opened) => (opened === null ? reject(error) : resolve(opened))),
    );
    expect(socket.remotePort).toBe(server.port);
    expect(phases).toEqual(['open']);
    const again = await new Promise((resolve) => connect(asked, (...[error]) => resolve(error)));
    expect(again).toBeInstanceOf(Error);
    expect(server.connections()).toBe(1);
    socket.destroy();
  });
});
