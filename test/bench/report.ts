/** What a benchmark hands back, and its text for a terminal. */
import { machine } from './machine.ts';
import type { Peers } from './peers/peers.ts';

export type Bench = (context: BenchContext) => Promise<BenchReport>;

export interface BenchContext {
  /** Only to see that it works: few rounds, small amounts. */
  readonly short: boolean;
  readonly peers: Peers;
  /** One line on how far it is. */
  say(line: string): void;
}

export interface BenchReport {
  readonly title: string;
  /** How it was measured, in sentences, with the number of rounds. */
  readonly method: readonly string[];
  /** Of what took part, beside our own: engine, peers. */
  readonly versions: Readonly<Record<string, string>>;
  readonly tables: readonly Table[];
  /** What the figures do not say by themselves: where a peer is ahead, and why. */
  readonly notes: readonly string[];
  /** Bounds that it holds itself to and has missed, each a sentence. */
  readonly missed: readonly string[];
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  /** A number is shown as it is: round it first, and give its unit in the column. */
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface Measured extends BenchReport {
  readonly name: string;
  /** ISO 8601, when it began. */
  readonly at: string;
  readonly seconds: number;
  readonly short: boolean;
}

export const tell = (measured: Measured): string => {
  const { title, method, tables, notes, missed, seconds, short } = measured;
  return [
    `${title} (${seconds} s${short ? ', short: the figures mean nothing' : ''})`,
    onWhat(measured),
    ...method,
    ...tables.flatMap(({ title: of, columns, rows }) => ['', of, ...lined(columns, rows)]),
    ...(notes.length > 0 ? ['', ...notes] : []),
    ...missed.map((text) => `MISSED: ${text}`),
  ].join('\n');
};

/** The machine and every version, in a line. */
export const onWhat = ({ versions }: Pick<BenchReport, 'versions'>): string => {
  const { size, system, node, load } = machine();
  const others = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [size, system, `Node ${node}`, ...others, `load ${load}`].join('; ');
};

/** Columns side by side: numbers to the right, texts to the left. */
const lined = (columns: readonly string[], rows: Table['rows']): readonly string[] => {
  const wide = columns.map((column, at) =>
    Math.max(...[column, ...rows.map((row) => cellAt(row, at))].map(({ length }) => length)),
  );
  const numeric = numericColumns({ columns, rows });
  const line = (cells: readonly (string | number)[]): string =>
    wide
      .map((width, at) => (numeric[at] ? cellAt(cells, at).padStart(width) : cellAt(cells, at).padEnd(width)))
      .join('  ')
      .trimEnd();
  return [columns, ...rows].map(line);
};

const cellAt = (cells: readonly (string | number)[], at: number): string => `${cells[at] ?? ''}`;

/** Which columns hold numbers alone, with or without a unit behind them. */
export const numericColumns = ({ columns, rows }: Pick<Table, 'columns' | 'rows'>): readonly boolean[] =>
  columns.map((_, at) => rows.every((row) => /^([\d.,]+( x| %)?)?$/.test(cellAt(row, at))));
