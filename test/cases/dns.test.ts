/** Every row of the corpus on what a name resolves to, and on what the address then does. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';

import { type Lookup, resolveVetted, systemLookup } from '../../functions/adapters/sender/resolve.ts';
import { createSender } from '../../functions/adapters/sender/sender.ts';
import { classify } from '../../functions/core/outcome.ts';
import { parseTarget, type TargetPolicy } from '../../functions/core/target.ts';
import { answer, REFUSED_PORT, silent, writes } from '../support/hostile-server.ts';
import { CLOUD, clock, LOCAL, requestTo, script, serversOfEachTest } from '../support/sending.ts';

const serve = serversOfEachTest();

const dnsError = (code: string): Error => Object.assign(new Error(`getaddrinfo ${code} a.example`), { code });

const Row = z.object({ kind: z.string(), id: z.string(), input: z.string(), verdict: z.string(), why: z.string() });
const rows = readFileSync(new URL('corpora.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{"kind": "dns"'))
  .map((line) => Row.parse(JSON.parse(line)));

const many = (last: string): readonly string[] => [...Array.from({ length: 199 }, (_, n) => `93.184.215.${n}`), last];

/** One send to a name with these addresses under the rule of the cloud: nothing may be connected. */
const blocked = (addresses: readonly string[]) => async () => {
  const sender = createSender({ policy: CLOUD, clock, lookup: async () => addresses });
  expect(await sender.send(requestTo('https://a.example/'))).toMatchObject({ kind: 'not-sent', cause: 'blocked' });
};

/** All addresses pass, and these few would be tried; no connection is made to a stranger from a test. */
const vetted = (addresses: readonly string[], tried: readonly string[]) => async () => {
  const { signal } = new AbortController();
  expect(await resolveVetted('a.example', CLOUD, async () => addresses, signal)).toEqual({
    kind: 'vetted',
    addresses: tried,
  });
};

const retried = (error: Error) => async () => {
  const server = await serve(writes(answer(200)));
  const sender = createSender({ policy: LOCAL, clock, lookup: script(error, ['127.0.0.1']).lookup });
  const url = `http://a.example:${server.port}/`;
  const first = await sender.send(requestTo(url));
  expect(first).toMatchObject({ kind: 'not-sent', cause: 'dns' });
  expect(classify(first, { repeatSafe: true, rejectOn: [] }, 0)).toMatchObject({
    class: 'not-sent',
    mayHaveArrived: false,
  });
  expect(await sender.send(requestTo(url))).toMatchObject({ kind: 'answered', status: 200 });
};

/** What each row comes to. A row without an entry here fails its test. */
const PROOFS: Readonly<Record<string, () => Promise<void>>> = {
  D01: vetted(['93.184.215.14'], ['93.184.215.14']),
  D02: blocked(['10.0.0.5']),
  D06: blocked(['64:ff9b::a9fe:a9fe']),
  D07: blocked(['::ffff:10.0.0.5']),
  D08: blocked(['::7f00:1']),
  D12: async () => {
    const server = await serve(writes(answer(200)));
    const resolver = script(['127.0.0.1'], ['10.0.0.5']);
    const sender = createSender({ policy: LOCAL, clock, lookup: resolver.lookup });
    expect(await sender.send(requestTo(`http://a.example:${server.port}/`))).toMatchObject({ kind: 'answered' });
    expect([resolver.asked(), server.connections()]).toEqual([1, 1]);
  },
  D14: async () => {
    // The receiver offers to keep the connection; the second attempt gets no chance to use it.
    const server = await serve(writes(answer(200, '', ['connection: keep-alive', 'keep-alive: timeout=60'])));
    const sender = createSender({ policy: LOCAL, clock, lookup: script(['127.0.0.1'], ['10.0.0.5']).lookup });
    const url = `http://a.example:${server.port}/`;
    expect(await sender.send(requestTo(url))).toMatchObject({ kind: 'answered' });
    expect(await sender.send(requestTo(url))).toMatchObject({ kind: 'not-sent', cause: 'blocked' });
    expect(server.received).toHaveLength(1);
  },
  D15: retried(dnsError('ENOTFOUND')),
  D16: retried(dnsError('EAI_AGAIN')),
  D19: blocked(many('127.0.0.1')),
  D20: vetted(many('2606:4700::1'), ['93.184.215.0', '93.184.215.1', '93.184.215.2', '2606:4700::1']),
  D21: blocked(['0.0.0.0']),
  D22: blocked(['168.63.129.16']),
  D23: blocked(['169.254.170.2']),
  // The choice: own hosts are named in the policy and refused by name, at registration and at send.
  D24: async () => {
    const policy: TargetPolicy = { allowLocal: false, ownHosts: ['abc.lambda-url.eu-west-1.on.aws'] };
    const url = 'https://abc.lambda-url.eu-west-1.on.aws/v1/events';
    expect(parseTarget(url, policy)).toMatchObject({ kind: 'denied', class: 'name' });
    const sender = createSender({ policy, clock, lookup: async () => ['93.184.215.14'] });
    expect(await sender.send(requestTo(url))).toMatchObject({ kind: 'not-sent', cause: 'blocked' });
  },
  // The choice: a foreign alias of our host is not seen here and no hop header is sent. Such a request bears no token
  // and no signature that our own doors accept, so it ends there as a refusal, and the budget ends the delivery.
  D25: async () => {
    const policy: TargetPolicy = { allowLocal: false, ownHosts: ['hooks.onceward.example'] };
    expect(parseTarget('https://alias.example/', policy).kind).toBe('allowed');
  },
  D27: async () => {
    const server = await serve(writes(answer(200)));
    const asked: string[] = [];
    const lookup: Lookup = async (host) => {
      asked.push(host);
      return ['127.0.0.1'];
    };
    const sender = createSender({ policy: LOCAL, clock, lookup });
    expect(await sender.send(requestTo(`http://A.ExAmPlE:${server.port}/`))).toMatchObject({ kind: 'answered' });
    expect(asked).toEqual(['a.example']);
    await vetted(['2606:4700:4700::ABCD'], ['2606:4700:4700::ABCD'])();
  },
  D28: async () => {
    const server = await serve(writes(answer(200)));
    const sender = createSender({ policy: LOCAL, clock, lookup: async () => ['::1', '127.0.0.1'] });
    expect(await sender.send(requestTo(`http://a.example:${server.port}/`))).toMatchObject({ kind: 'answered' });
    const nobody = await sender.send(requestTo(`http://a.example:${REFUSED_PORT}/`));
    expect(nobody).toMatchObject({ kind: 'not-sent', cause: 'refused' });
  },
  D30: async () => {
    const server = await serve(writes(answer(302, '', ['location: http://169.254.169.254/'])));
    const seen = await createSender({ policy: LOCAL, clock }).send(requestTo(server.url));
    expect(seen).toMatchObject({ kind: 'answered', status: 302 });
    expect(classify(seen, { repeatSafe: true, rejectOn: [] }, 0)).toMatchObject({
      class: 'failed',
      detail: 'redirect',
    });
    expect(server.connections()).toBe(1);
  },
  D35: async () => {
    const server = await serve(silent, { onConnection: (socket) => void socket.end(answer(200)) });
    const sender = createSender({ policy: LOCAL, clock, lookup: async () => ['127.0.0.1'] });
    expect(await sender.send(requestTo(`https://a.example:${server.port}/`))).toMatchObject({
      kind: 'not-sent',
      cause: 'tls',
    });
    expect(server.received).toEqual([]);
  },
  D36: async () => {
    const server = await serve(writes(answer(200)));
    const { signal } = new AbortController();
    const never: Lookup = () => Promise.reject(new Error('a literal is not looked up'));
    for (const host of ['127.0.0.1', '::1', '10.0.0.1']) {
      expect(await resolveVetted(host, CLOUD, never, signal)).toMatchObject({ kind: 'blocked' });
    }
    expect(await createSender({ policy: CLOUD, clock }).send(requestTo(server.url))).toMatchObject({
      cause: 'blocked',
    });
    expect(server.connections()).toBe(0);
  },
  D37: async () => {
    await blocked(['127.0.0.1'])();
    const sender = createSender({ policy: CLOUD, clock, lookup: async () => ['127.0.0.1'] });
    expect(await sender.send(requestTo('https://a.example:9001/'))).toMatchObject({
      kind: 'not-sent',
      cause: 'blocked',
    });
  },
  D38: async () => {
    // `localhost` stands in every hosts file; as an answer of the resolver it is judged like any other.
    const { signal } = new AbortController();
    expect(await systemLookup('localhost')).not.toEqual([]);
    expect(await resolveVetted('localhost', CLOUD, systemLookup, signal)).toMatchObject({ kind: 'blocked' });
    expect(await resolveVetted('localhost', LOCAL, systemLookup, signal)).toMatchObject({ kind: 'vetted' });
  },
};

describe('names and what they resolve to', () => {
  it('has a proof for each of the 23 rows and no other', () => {
    expect(rows.map((row) => row.id)).toEqual(Object.keys(PROOFS));
    expect(rows).toHaveLength(23);
  });

  it.each(rows)('gives $verdict to: $input ($why) [$id]', async ({ id }) => {
    await PROOFS[id]?.();
  });
});
