/**
 * `RESULTS.md`: a head written by hand, and a section for each benchmark that its own run writes. A run replaces its section
 * and leaves the others.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { type Measured, numericColumns, onWhat, type Table } from './report.ts';

const FILE = new URL('./RESULTS.md', import.meta.url);

export const record = async (measured: Measured): Promise<void> => {
  await writeFile(FILE, replaced(await readFile(FILE, 'utf8'), measured.name, sectionOf(measured)));
};

/** The text with the section of that name exchanged, or added at the end. */
export const replaced = (text: string, name: string, section: string): string => {
  const [head = '', ...sections] = text.split(/^(?=## )/m);
  const at = sections.findIndex((one) => one.startsWith(`## ${name}:`));
  if (at >= 0) sections[at] = section;
  else sections.push(section);
  return `${[head, ...sections].map((part) => part.trimEnd()).join('\n\n')}\n`;
};

export const sectionOf = (measured: Measured): string =>
  [
    `## ${measured.name}: ${measured.title}`,
    `\`npm run bench -- ${measured.name}\`, ${measured.at.slice(0, 16).replace('T', ' ')} UTC, ${measured.seconds} s. ${onWhat(measured)}.`,
    measured.method.join(' '),
    ...measured.tables.map(tableOf),
    ...(measured.notes.length > 0 ? [measured.notes.map((note) => `- ${note}`).join('\n')] : []),
    measured.missed.length === 0
      ? 'Every bound that it holds itself to is met.'
      : measured.missed.map((text) => `- **Missed**: ${text}`).join('\n'),
  ].join('\n\n');

/** Columns under each other, as the formatter of the project wants them. */
const tableOf = ({ title, columns, rows }: Table): string => {
  const cells = [columns, ...rows].map((row) => columns.map((_, at) => escaped(row[at] ?? '')));
  const widths = columns.map((_, at) => Math.max(3, ...cells.map((row) => row[at]?.length ?? 0)));
  const numeric = numericColumns({ columns, rows });
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, at) => (numeric[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, at) => (numeric[at] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  const [head = [], ...body] = cells;
  return [`### ${title}`, '', line(head), line(rule), ...body.map(line)].join('\n');
};

const escaped = (cell: string | number): string => `${cell}`.replaceAll('|', '\\|');
