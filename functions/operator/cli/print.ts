/** Answers on a terminal: tables, pairs, times, colour. Whatever comes from outside goes through `visible` first. */
import { styleText } from 'node:util';
import type { Shell } from './shell.ts';
import { type Safe, shorten, visible, visibleJson, widthOf } from './visible.ts';

type Terminal = Pick<Shell, 'colour' | 'cuts'>;
type Coloured = Pick<Shell, 'colour'>;

type Ink = 'red' | 'green' | 'yellow' | 'dim' | 'bold';

const paint = ({ colour }: Coloured, ink: Ink, text: Safe): Safe =>
  colour ? (styleText(ink, text, { validateStream: false }) as Safe) : text;

/** A state in the colour of its meaning: red asks for a person, yellow waits, green is over and well. */
const INKS: Readonly<Record<string, Ink>> = {
  quarantined: 'red',
  failed: 'red',
  stopped: 'red',
  unreadable: 'red',
  revoked: 'dim',
  cancelled: 'dim',
  parked: 'yellow',
  paused: 'yellow',
  closed: 'yellow',
  crowded: 'yellow',
  shadow: 'yellow',
  pending: 'yellow',
  claimed: 'yellow',
  running: 'yellow',
  delivered: 'green',
  active: 'green',
  done: 'green',
  ok: 'green',
};

/** One value of a table or a list. `undefined` is shown as nothing. */
export type Cell = string | number | boolean | undefined | null;

const cellText = (cell: Cell): Safe => visible(cell === undefined || cell === null ? '' : String(cell));

const GAP = 2;
const CELL_COLUMNS_MAX = 60;
const WHOLE_COLUMNS_MAX = 200;

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Cell;
  readonly right?: boolean;
  /** Our own words, of a known length: never cut. */
  readonly whole?: boolean;
  /** The words in this column have colours of their own. */
  readonly state?: boolean;
}

/** Columns of one row stand under each other; a long cell is cut and marked on a terminal, and whole in a pipe. */
export const table = <Row>(shell: Terminal, rows: readonly Row[], columns: readonly Column<Row>[]): Safe => {
  const cells = rows.map((row) =>
    columns.map((column) => {
      const text = cellText(column.of(row));
      return shell.cuts ? shorten(text, column.whole === true ? WHOLE_COLUMNS_MAX : CELL_COLUMNS_MAX) : text;
    }),
  );
  const used = columns
    .map((column, index) => ({ column, index }))
    .filter(({ index }) => cells.some((row) => row[index] !== ''));
  const widths = used.map(({ column, index }) =>
    Math.max(widthOf(column.title), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const line = (texts: readonly Safe[], ink: (text: Safe, index: number) => Safe): string =>
    texts
      .map((text, index) => {
        const blanks = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)));
        const shown = ink(text, index);
        return used[index]?.column.right === true ? `${blanks}${shown}` : `${shown}${blanks}`;
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  const head = line(
    used.map(({ column }) => visible(column.title)),
    (text) => paint(shell, 'dim', text),
  );
  const body = cells.map((row) =>
    line(
      used.map(({ index }) => row[index] ?? visible('')),
      (text, at) => (used[at]?.column.state === true ? inState(shell, text) : text),
    ),
  );
  return [head, ...body].join('\n') as Safe;
};

const inState = (shell: Coloured, text: Safe): Safe => {
  const ink = INKS[text.split(' ')[0] ?? ''];
  return ink === undefined ? text : paint(shell, ink, text);
};

/** Names and values, one a line. What is undefined is left out. */
export const pairs = (shell: Coloured, values: Readonly<Record<string, Cell>>): Safe => {
  const shown = Object.entries(values).filter(([, value]) => value !== undefined);
  const width = Math.max(...shown.map(([name]) => widthOf(name)));
  return shown
    .map(([name, value]) => {
      const text = cellText(value);
      return `${paint(shell, 'dim', visible(name.padEnd(width)))}  ${name === 'status' || name === 'state' ? inState(shell, text) : text}`;
    })
    .join('\n') as Safe;
};

export const heading = (shell: Coloured, text: string): Safe => paint(shell, 'bold', visible(text));

export const note = (shell: Coloured, text: string): Safe => paint(shell, 'dim', visible(text));

/** `1 delivery`, `3 deliveries`. */
export const counted = (count: number, one: string, many: string = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** To the second: what is finer stands in `--json`. */
export const shortTime = (iso: string | null | undefined): string | undefined =>
  iso === undefined || iso === null ? undefined : `${iso.slice(0, 19)}Z`;

/** `3 min`, `2 h`, `5 d`: rounded down, for people. */
export const span = (ms: number): string => {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
};

/** The answer: as JSON where that was asked for, else as `text` makes it. */
export const answer = (shell: Shell, options: { readonly json?: boolean }, body: unknown, text: () => Safe): void =>
  shell.out(`${options.json === true ? visibleJson(body, 2) : text()}\n`);
