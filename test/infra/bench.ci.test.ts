/**
 * The benchmarks work: each is run as a person runs it, short, and its report is read. Their times are not looked at; the
 * units and the counts of effects are what they are on any machine. With the packages of the peers from npm; Redis and
 * Postgres where the machine has them or `apt-get` may bring them. Some 90 s.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Measured } from '../bench/report.ts';

const PROGRAM = fileURLToPath(new URL('../bench/bench.ts', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'onceward-bench-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Rejects with what it said where it ends with another code than 0. */
const bench = async (name: string, ...options: readonly string[]): Promise<Measured> => {
  const file = join(folder, `${name}.json`);
  await promisify(execFile)(process.execPath, [PROGRAM, name, '--short', '--json', file, ...options]);
  const { benches } = JSON.parse(await readFile(file, 'utf8')) as { readonly benches: readonly Measured[] };
  const [measured] = benches;
  if (measured === undefined) throw new Error(`${name} gave no report`);
  return measured;
};

const withPeers = (): readonly string[] => ['--peers', join(folder, 'peers')];

/** The cells of a row, by the names of their columns; the first column names the row. */
const cellsOf = ({ tables }: Measured, row: string): Readonly<Record<string, string | number>> => {
  for (const { columns, rows } of tables) {
    const found = rows.find(([name]) => name === row);
    if (found !== undefined) return Object.fromEntries(columns.map((column, at) => [column, found[at] ?? '']));
  }
  throw new Error(`no row "${row}"`);
};

it('cost: 7 write units for a first attempt, none for a duplicate, at most 70 for eight failures, beside three others', async () => {
  const measured = await bench('cost', ...withPeers());
  expect(measured.missed).toStrictEqual([]);
  expect(measured.versions).toHaveProperty('DynamoDB Local');
  expect(cellsOf(measured, 'accept and first attempt')).toMatchObject({ 'write units': 7 });
  expect(cellsOf(measured, 'duplicate push')).toMatchObject({ 'write units': 0 });
  const beside = cellsOf(measured, 'Onceward over SQS')['eight failures'];
  expect(beside).toBeLessThanOrEqual(70);
  for (const other of ['Powertools idempotency around a send', 'two items in a transaction']) {
    expect(cellsOf(measured, other)['first attempt']).toBeTypeOf('number');
  }
});

it('throughput: ours and every peer that can be had bring their deliveries', async () => {
  const measured = await bench('throughput', ...withPeers());
  for (const name of [
    'ours',
    'ours, in memory',
    'Powertools handler',
    'BullMQ + Redis',
    'graphile-worker + Postgres',
  ]) {
    const rate = cellsOf(measured, name)['a second'];
    // A number, or why the peer could not be had.
    expect(typeof rate === 'number' ? rate > 0 : `${rate}`.length > 10, `${name}: ${rate}`).toBe(true);
  }
  expect(cellsOf(measured, 'ours')['a second']).toBeGreaterThan(0);
});

it('duplicates: ours makes no second effect and loses nothing', async () => {
  const measured = await bench('duplicates', '--peers', 'none');
  expect(measured.missed).toStrictEqual([]);
  const ours = cellsOf(measured, 'Onceward');
  expect(ours).toMatchObject({ events: 500, 'second effects': 0, lost: 0, kills: 3 });
  // The fire has burnt: copies and lost acknowledgements came, and a worker died with requests on their way.
  expect(ours['messages']).toBeGreaterThan(600);
  // A peer that is not there is a row that says why.
  expect(cellsOf(measured, 'Powertools idempotency')).toMatchObject({
    events: 'left out by --peers none',
    effects: '',
  });
});
