/**
 * Deliveries a second, and what each costs of a processor, from the request that brings it to the answer that its outcome is
 * recorded. Everybody runs in a process of its own and delivers to the same one:
 *
 *   load (this process) ──► ours | a peer | bare ──► destination
 *                             │  their store: embedded DynamoDB, a map, Redis, Postgres
 *                             └─ CPU: of the process by itself, of Redis and Postgres by the kernel
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, BenchContext, Table } from './report.ts';
import { inTurns, median, ratio } from './rounds.ts';
import { type Child, openChild } from './stage/child.ts';
import { closedLoop } from './stage/load.ts';
import { profileShares } from './stage/profile-shares.ts';
import {
  BARE_SOCKET,
  type Missing,
  OURS,
  OURS_TWIN,
  openAccepting,
  openBare,
  openOurs,
  openPeerRivals,
  type Rival,
} from './stage/rivals.ts';

const CONCURRENCY = 16;
const PAYLOADS = [
  { label: '1 KB', bytes: 1_024, count: 400 },
  { label: '64 KB', bytes: 65_536, count: 150 },
] as const;
const WARM = 800;
const SHORT = 40;

/** What our own code may cost beside a bare request in and a request out with a socket each, in processor time. */
const CEILING_BOUND = 4.5;
/** Deliveries of a processor second that our code should be able to make, whatever keeps the rows. */
const CEILING_WANTED = 3_000;

interface Round {
  readonly perSec: number;
  readonly ownUs: number;
  readonly serverUs: number;
}

type RoundsByName = Readonly<Record<string, readonly Round[]>>;

export const throughputBench: Bench = async (context) => {
  const destination = await openChild('destination.ts');
  const rivals: Rival[] = [];
  try {
    rivals.push(...(await openOurs()), await openAccepting(), ...(await openBare()));
    const { rivals: peers, missing, versions } = await openPeerRivals(context.peers, CONCURRENCY);
    rivals.push(...peers);
    return await measured(context, destination, rivals, missing, versions);
  } finally {
    await Promise.all([...rivals, destination].map((one) => one.end()));
  }
};

const measured = async (
  { short, say }: BenchContext,
  destination: Child,
  rivals: readonly Rival[],
  missing: readonly Missing[],
  versions: Readonly<Record<string, string>>,
): ReturnType<Bench> => {
  const numbers = { next: 0 };
  const play = (rival: Rival, bytes: number, count: number, profile?: string) =>
    playRound(rival, destination, numbers, bytes, count, profile);
  const tables: Table[] = [];
  let ceiling: { readonly ours: number; readonly bare: number } | undefined;
  for (const { label, bytes, count } of PAYLOADS) {
    say(`${rivals.length} rivals, payload ${label}`);
    // What a process does at first, it does slowly: compiled code and filled pools are what is compared.
    for (const rival of rivals) await play(rival, bytes, short ? SHORT : bytes > 10_000 ? count : WARM);
    const turns = Object.fromEntries(
      rivals.map((rival) => [rival.name, () => play(rival, bytes, short ? SHORT : count)]),
    );
    const rounds: RoundsByName = await inTurns(turns, short ? 1 : undefined);
    tables.push(tableOf(label, rivals, missing, rounds));
    ceiling ??= { ours: cpuOf(rounds, OURS_TWIN), bare: cpuOf(rounds, BARE_SOCKET) };
  }
  const twin = rivals.find(({ name }) => name === OURS_TWIN);
  if (twin !== undefined) {
    tables.push(await profiled((file) => play(twin, PAYLOADS[0].bytes, short ? SHORT : WARM, file)));
  }
  const { ours = Number.NaN, bare = Number.NaN } = ceiling ?? {};
  const perCpuSec = Math.round(1e6 / ours);
  return {
    title: 'deliveries a second, and processor time of each',
    method: METHOD,
    versions,
    tables,
    notes: [
      `Our own code, with the rows in memory: ${perCpuSec} deliveries of a processor second (wanted: ${CEILING_WANTED}); bare HTTP in and out with a socket each: ${Math.round(1e6 / bare)}; that is ${ratio(ours, bare)} its processor time.`,
    ],
    missed:
      !short && ours > CEILING_BOUND * bare
        ? [`our own code costs more than ${CEILING_BOUND} times bare HTTP in and out`]
        : [],
  };
};

/** In a round of its own: looking costs time. */
const profiled = async (round: (file: string) => Promise<unknown>): Promise<Table> => {
  const folder = await mkdtemp(join(tmpdir(), 'onceward-profile-'));
  try {
    const file = join(folder, 'round.cpuprofile');
    await round(file);
    return {
      title: `where the processor time goes (${OURS_TWIN}, ${PAYLOADS[0].label})`,
      columns: ['who', 'share'],
      rows: (await profileShares(file)).map(([owner, share]) => [owner, `${(share * 100).toFixed(1)} %`]),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Throws where the destination did not get each of them once. */
const playRound = async (
  rival: Rival,
  destination: Child,
  numbers: { next: number },
  payloadBytes: number,
  count: number,
  profile?: string,
): Promise<Round> => {
  const first = numbers.next;
  numbers.next += count;
  await rival.prepare({ first, count, payloadBytes, destinationUrl: destination.url });
  const [received, before] = [await receivedBy(destination), await rival.cpuMs()];
  if (profile !== undefined) await rival.startProfile();
  const ms = await closedLoop(rival.url, CONCURRENCY, first, count, rival.send(payloadBytes));
  if (profile !== undefined) await rival.stopProfile(profile);
  const after = await rival.cpuMs();
  const arrived = (await receivedBy(destination)) - received;
  if (arrived !== count) throw new Error(`${rival.name}: ${arrived} requests for ${count} deliveries`);
  return {
    perSec: (count / ms) * 1_000,
    ownUs: ((after.own - before.own) / count) * 1_000,
    serverUs: ((after.server - before.server) / count) * 1_000,
  };
};

const receivedBy = async ({ url }: Child): Promise<number> => Number(await (await fetch(url)).text());

const cpuOf = (rounds: RoundsByName, name: string): number =>
  median((rounds[name] ?? []).map(({ ownUs, serverUs }) => ownUs + serverUs));

const tableOf = (label: string, rivals: readonly Rival[], missing: readonly Missing[], rounds: RoundsByName): Table => {
  const of = (name: string, what: (round: Round) => number): number => median((rounds[name] ?? []).map(what));
  const [oursPerSec, oursCpu] = [of(OURS, ({ perSec }) => perSec), cpuOf(rounds, OURS)];
  return {
    title: `payload ${label}, ${CONCURRENCY} at once`,
    columns: ['who', 'a second', 'to ours', 'CPU us', 'of it, server us', 'to ours, CPU', 'of a CPU second'],
    rows: [
      ...rivals.map(({ name }) => {
        const [perSec, cpu] = [of(name, (round) => round.perSec), cpuOf(rounds, name)];
        return [
          name,
          Math.round(perSec),
          ratio(perSec, oursPerSec),
          Math.round(cpu),
          Math.round(of(name, ({ serverUs }) => serverUs)),
          ratio(cpu, oursCpu),
          Math.round(1e6 / cpu),
        ];
      }),
      ...missing.map(({ name, why }) => [name, '', '', '', '', '', `not measured: ${why}`]),
    ],
  };
};

const METHOD = [
  `Closed loop of ${CONCURRENCY} requests; the median of 9 rounds of ${PAYLOADS.map(({ count, label }) => `${count} (${label})`).join(' and ')} deliveries, everybody in turn, after a round that is not counted. In each round the destination's count must be that of the deliveries.`,
  'ours: a signed push brings the reference of an event that was accepted before; claim, re-check, signed request on a socket of its own, settle, then the answer. Embedded DynamoDB in its process, its data in a file. In memory: the same code, the rows in a map. With the accept: `POST /v1/events` and then its push.',
  'Powertools: an idempotent handler on the same embedded engine, in its process; the whole event comes in the request. BullMQ (jobId = event id) and graphile-worker (jobKey = event id): the request enqueues, a worker of the same process delivers, the answer comes when the job is done; so they stand beside "with the accept". All three send by `fetch`, unsigned, over open sockets.',
  'Durable means for all: a killed process loses nothing, nobody waits for the disk (Redis: everysec; Postgres: fsync off; the embedded engine: unsynced).',
];
