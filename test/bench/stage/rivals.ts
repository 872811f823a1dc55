/** Who takes part, each in a process of its own, and how a delivery is asked of each. */
import type { Peers } from '../peers/peers.ts';
import { type Child, openChild } from './child.ts';
import { serverCpuMs } from './kernel-cpu.ts';
import { post, type Send } from './load.ts';
import { BENCH_TOKEN, eventBodyOf, pushBodyOf, pushHeadersOf } from './messages.ts';

export interface Rival {
  readonly name: string;
  readonly url: string;
  prepare: Child['prepare'];
  startProfile: Child['startProfile'];
  stopProfile: Child['stopProfile'];
  /** One delivery, from the request that brings it to the answer that it is done. */
  send(payloadBytes: number): Send;
  /** Of its process, and of the server of its store, in milliseconds. */
  cpuMs(): Promise<{ readonly own: number; readonly server: number }>;
  end(): Promise<void>;
}

export type Missing = { readonly name: string; readonly why: string };

const JSON_TYPE = { 'content-type': 'application/json' };

/** What our receiver does: the event was accepted before, and its push comes. */
const push: Send = async (pool, n) => {
  const body = pushBodyOf(n);
  await post(pool, '/push/infrai', body, pushHeadersOf(body), 200);
};

/** Intake and receiver: what a peer does that has its queue inside. */
const acceptAndPush =
  (payloadBytes: number): Send =>
  async (pool, n) => {
    const headers = { ...JSON_TYPE, authorization: `Bearer ${BENCH_TOKEN}` };
    await post(pool, '/v1/events', eventBodyOf(n, payloadBytes), headers, 202);
    await push(pool, n);
  };

/** The whole event in one request: what a handler gets from its queue, and what a producer hands to a queue. */
const wholeEvent =
  (payloadBytes: number): Send =>
  async (pool, n) =>
    post(pool, '/', eventBodyOf(n, payloadBytes), JSON_TYPE, 200);

const rivalOf = (name: string, child: Child, send: Rival['send'], serverPid?: number): Rival => ({
  ...child,
  name,
  send,
  cpuMs: async () => ({
    own: await child.cpuMs(),
    server: serverPid === undefined ? 0 : ((await serverCpuMs(serverPid)) ?? Number.NaN),
  }),
});

export const OURS_TWIN = 'ours, in memory';
export const OURS = 'ours';
export const OURS_ACCEPTING = 'ours, with the accept';
export const BARE_SOCKET = 'bare, a socket each';

export const openOurs = async (): Promise<readonly Rival[]> => [
  rivalOf(OURS_TWIN, await openChild('ours.ts', { args: ['twin'] }), () => push),
  rivalOf(OURS, await openChild('ours.ts', { args: ['embedded'] }), () => push),
];

/** The accept is part of what is measured: only the destination is made ready. */
export const openAccepting = async (): Promise<Rival> => {
  const rival = rivalOf(OURS_ACCEPTING, await openChild('ours.ts', { args: ['embedded'] }), acceptAndPush);
  return { ...rival, prepare: (round) => rival.prepare({ ...round, count: 0 }) };
};

export const openBare = async (): Promise<readonly Rival[]> => [
  rivalOf(BARE_SOCKET, await openChild('bare.ts', { args: ['socket'] }), wholeEvent),
  rivalOf('bare, pooled sockets', await openChild('bare.ts', { args: ['pool'] }), wholeEvent),
];

export interface OpenedPeers {
  readonly rivals: readonly Rival[];
  readonly missing: readonly Missing[];
  readonly versions: Readonly<Record<string, string>>;
}

/** All of them keep what a killed process would lose with the operating system, none waits for the disk: as our engine. */
export const openPeerRivals = async (peers: Peers, concurrency: number): Promise<OpenedPeers> => {
  const names = ['Powertools handler', 'BullMQ + Redis', 'graphile-worker + Postgres'] as const;
  const packages = await peers.packages();
  if (packages.kind === 'missing') {
    return { rivals: [], missing: names.map((name) => ({ name, why: packages.why })), versions: {} };
  }
  const { folder, versions } = packages.it;
  const rivals = [rivalOf(names[0], await openChild('powertools.ts', { args: [folder] }), wholeEvent)];
  const missing: Missing[] = [];
  const known: Record<string, string> = { Powertools: versions['@aws-lambda-powertools/idempotency'] };
  const servers = [
    { name: names[1], file: 'bullmq.ts', server: await peers.redis({ fsync: 'everysec' }), label: 'Redis' },
    { name: names[2], file: 'graphile.ts', server: await peers.postgres({ sync: false }), label: 'Postgres' },
  ];
  for (const { name, file, server, label } of servers) {
    if (server.kind === 'missing') {
      missing.push({ name, why: server.why });
      continue;
    }
    const { port, pid, version } = server.it;
    const child = await openChild(file, { args: [folder, String(port), String(concurrency)] });
    rivals.push(rivalOf(name, child, wholeEvent, pid));
    known[label] = version;
  }
  return {
    rivals,
    missing,
    versions: { ...known, BullMQ: versions.bullmq, 'graphile-worker': versions['graphile-worker'] },
  };
};
