/** The same work over tables of 1,000 to a million rows: units and rows read, then time. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLedgerClient } from '../../../functions/adapters/ledger/client.ts';
import { TABLE_NAME } from '../../../functions/adapters/ledger/schema.ts';
import { openEmbeddedDynamo } from '../../../infra/local/dynamodb/embedded-dynamodb.ts';
import { ensureTable } from '../../../infra/local/ledger-table.ts';
import { fillDirectory, fillTable, manyRowAt } from '../../support/many-rows.ts';
import { VIRTUAL_START_MS } from '../../support/virtual-clock.ts';
import { openEngine } from '../engine.ts';
import type { BenchContext, Table } from '../report.ts';
import { inTurns, median, ratio } from '../rounds.ts';
import { type LargeTable, openLargeTable, WORKS, type WorkName } from './large-table.ts';
import { type ReadSpent, readMetered } from './read-meter.ts';

export interface Part {
  readonly tables: readonly Table[];
  readonly notes: readonly string[];
  readonly missed: readonly string[];
}

const rowAt = (n: number) => manyRowAt(n, VIRTUAL_START_MS);

const thousands = (count: number): string => count.toLocaleString('en-US');

type UnitsOfWork = ReadSpent & { readonly found: number };

/** Equal per found row from the second size on: below it, some lists are shorter than a page. */
export const unitsBySize = async ({ short, peers, say }: BenchContext): Promise<Part & { engine: string }> => {
  const sizes = short ? [200, 400, 800] : [1_000, 10_000, 100_000];
  const engine = await openEngine(peers);
  const client = engine.client();
  try {
    await ensureTable(client, TABLE_NAME);
    const meter = readMetered(client);
    const measured: Record<WorkName, UnitsOfWork>[] = [];
    let from = 0;
    const table = await openLargeTable(client);
    for (const size of sizes) {
      say(`units: ${thousands(size)} rows on the ${engine.kind} engine`);
      await fillTable(client, TABLE_NAME, from, size, rowAt);
      from = size;
      await table.makeReady();
      meter.take();
      const ofSize: Partial<Record<WorkName, UnitsOfWork>> = {};
      for (const name of WORKS) {
        const found = await table.works[name]();
        ofSize[name] = { found, ...meter.take() };
      }
      measured.push(ofSize as Record<WorkName, UnitsOfWork>);
    }
    const [, middle, large] = measured;
    const uneven = WORKS.filter((name) => middle && large && perRow(middle[name]) !== perRow(large[name]));
    return {
      engine: `${engine.kind} (${engine.version})`,
      tables: [unitsTable(engine.kind, sizes, measured)],
      notes: engine.why === undefined ? [] : [`units are those of the embedded engine: ${engine.why}`],
      missed: short ? [] : uneven.map((name) => `${name}: units per found row differ from 10,000 to 100,000 rows`),
    };
  } finally {
    client.destroy();
    await engine.stop();
  }
};

/** As text, so that what is compared is what is shown. */
const perRow = ({ readUnits, writeUnits, found }: UnitsOfWork): string => ((readUnits + writeUnits) / found).toFixed(3);

const unitsTable = (
  kind: string,
  sizes: readonly number[],
  measured: readonly Record<WorkName, UnitsOfWork>[],
): Table => ({
  title: `units for each row found, and rows read for each (${kind} engine)`,
  columns: ['work', ...sizes.flatMap((size) => [`${thousands(size)}: found`, 'units each', 'read each'])],
  rows: WORKS.map((name) => [
    name,
    ...measured.flatMap((ofSize) => {
      const one = ofSize[name];
      return [one.found, perRow(one), (one.rows / one.found).toFixed(2)];
    }),
  ]),
});

/** What a sweep of a million rows may take, beside one of ten thousand. */
const SWEEP_BOUND = 1.5;

interface Opened {
  readonly size: number;
  readonly table: LargeTable;
  close(): Promise<void>;
}

const openFilled = async (size: number): Promise<Opened> => {
  const path = await mkdtemp(join(tmpdir(), 'onceward-scale-'));
  await fillDirectory(path, size, rowAt);
  const dynamo = await openEmbeddedDynamo({ path, sync: false });
  const client = createLedgerClient({ requestHandler: dynamo.requestHandler });
  return {
    size,
    table: await openLargeTable(client),
    close: async () => {
      client.destroy();
      await dynamo.close();
      await rm(path, { recursive: true, force: true });
    },
  };
};

export const timeBySize = async ({ short, say }: BenchContext): Promise<Part> => {
  const sizes = short ? [200, 400, 800] : [1_000, 10_000, 100_000, 1_000_000];
  const opened: Opened[] = [];
  try {
    for (const size of sizes) {
      say(`time: filling ${thousands(size)} rows of the embedded engine`);
      opened.push(await openFilled(size));
    }
    const play = async ({ table }: Opened): Promise<Record<WorkName, number>> => {
      await table.makeReady();
      const took: Partial<Record<WorkName, number>> = {};
      for (const name of WORKS) {
        const from = performance.now();
        await table.works[name]();
        took[name] = performance.now() - from;
      }
      return took as Record<WorkName, number>;
    };
    // Not counted: the code is compiled and the files are opened by it.
    for (const one of opened) await play(one);
    const turns = Object.fromEntries(opened.map((one) => [String(one.size), () => play(one)]));
    const rounds = await inTurns(turns, short ? 1 : undefined);
    const of = (size: number | undefined, name: WorkName): number =>
      median((rounds[String(size)] ?? []).map((round) => round[name]));
    const [largest, compared] = [sizes.at(-1), sizes[1]];
    const ratioOf = (name: WorkName): number => {
      const beside = rounds[String(compared)] ?? [];
      return median(
        (rounds[String(largest)] ?? []).map((round, at) => round[name] / (beside[at]?.[name] ?? Number.NaN)),
      );
    };
    const growth = ratioOf('sweep');
    return {
      tables: [
        {
          title: `milliseconds on the embedded engine, and ${thousands(largest ?? 0)} rows beside ${thousands(compared ?? 0)}`,
          columns: ['work', ...sizes.map(thousands), 'ratio, round by round'],
          rows: WORKS.map((name) => [name, ...sizes.map((size) => of(size, name).toFixed(1)), ratio(ratioOf(name), 1)]),
        },
      ],
      notes: [],
      missed:
        !short && growth >= SWEEP_BOUND
          ? [
              `a sweep over a million rows takes ${growth.toFixed(2)} times one over ten thousand (bound ${SWEEP_BOUND})`,
            ]
          : [],
    };
  } finally {
    for (const one of opened) await one.close();
  }
};
