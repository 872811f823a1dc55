/** The parent of a kill test: starts the writing child, kills it at a drawn point, and judges what it left behind. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { disagreements, sameItem, scanAll } from './dynamodb-agreement.ts';
import { KILL_KEYS, KILL_TABLE, planned, type Versions } from './dynamodb-kill-model.ts';

const CHILD = fileURLToPath(new URL('./dynamodb-kill-child.ts', import.meta.url));

export interface Killed {
  /** The latest version of each key that was acknowledged before the kill. */
  readonly acknowledged: Versions;
  readonly acks: number;
  /** What the child said about itself that must not be. */
  readonly broken: readonly string[];
  readonly signal: NodeJS.Signals | null;
}

export interface Judged {
  readonly versions: Versions;
  readonly lost: readonly string[];
  readonly apart: readonly string[];
}

export async function inDirectory<Result>(work: (path: string) => Promise<Result>): Promise<Result> {
  const path = await mkdtemp(join(tmpdir(), 'dynamodb-kill-'));
  try {
    return await work(path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

/** Lets a child write until `killAfter` acknowledgements have been seen, then kills it at once. */
export async function writeUntilKilled(
  path: string,
  seed: number,
  killAfter: number,
  from: Versions,
  beforeKill: () => Promise<void> = async () => {},
): Promise<Killed> {
  const child = spawn(process.execPath, [CHILD, path, `${seed}`, JSON.stringify(from)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('close', (_code, signal) => resolve(signal)),
  );
  const complaints: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk));
  const acknowledged: Versions = { ...from };
  const broken: string[] = [];
  let acks = 0;
  let killed = false;
  // Lines that were written before the kill arrive after it as well: they count.
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, pk = '', version] = line.split(' ');
    if (word === 'ack') {
      acks += 1;
      acknowledged[pk] = Number(version);
    } else if (word !== 'ready') broken.push(line);
    if (!killed && acks >= killAfter) {
      await beforeKill();
      killed = child.kill('SIGKILL');
    }
  }
  const signal = await closed;
  if (signal !== 'SIGKILL') broken.push(`the child ended by itself: ${Buffer.concat(complaints)}`);
  return { acknowledged, acks, broken, signal };
}

/** Opens the directory itself and holds it against what was acknowledged. */
export async function judge(path: string, seed: number, acknowledged: Versions): Promise<Judged> {
  const engine = await openEmbeddedDynamo({ path });
  try {
    const client = engine.client();
    const { versions, lost } = await held(client, seed, acknowledged);
    return { versions, lost, apart: await disagreements(client, KILL_TABLE) };
  } finally {
    await engine.close();
  }
}

/** Every key has to be at the version that was acknowledged or at the next one, which may have been under way; whole. */
async function held(client: DynamoDBClient, seed: number, acknowledged: Versions) {
  const items = new Map((await scanAll(client, KILL_TABLE)).map((item) => [item['pk']?.S, item]));
  const versions: Versions = {};
  const lost: string[] = [];
  for (const pk of KILL_KEYS) {
    const version = acknowledged[pk] ?? 0;
    const found = [version, version + 1].find((at) => sameItem(items.get(pk), planned(seed, pk, at)));
    if (found === undefined)
      lost.push(`${pk} is not at ${version} or ${version + 1}: ${items.get(pk)?.['v']?.N ?? 'absent'}`);
    versions[pk] = found ?? version;
  }
  return { versions, lost };
}

/**
 * Kills one child after the other over the same directory, so that each also opens what its predecessor left. Returns a
 * line for everything that is wrong.
 */
export async function killRounds(rounds: number, seed: number): Promise<{ wrong: string[]; acks: number }> {
  return inDirectory(async (path) => {
    const wrong: string[] = [];
    let versions: Versions = {};
    let acks = 0;
    for (let round = 0; round < rounds; round += 1) {
      const killed = await writeUntilKilled(path, seed, killPoint(seed, round), versions);
      const judged = await judge(path, seed, killed.acknowledged);
      const complaints = [...killed.broken, ...judged.lost, ...judged.apart];
      wrong.push(...complaints.map((complaint) => `seed ${seed}, round ${round}: ${complaint}`));
      versions = judged.versions;
      acks += killed.acks;
    }
    return { wrong, acks };
  });
}

/** After how many acknowledgements a round is killed: 1 to 300, drawn from the seed. */
function killPoint(seed: number, round: number): number {
  let state = (seed * 2_654_435_761 + round * 40_503) >>> 0;
  for (let turn = 0; turn < 3; turn += 1) state = (state * 1_664_525 + 1_013_904_223) >>> 0;
  return 1 + ((state >>> 8) % 300);
}
