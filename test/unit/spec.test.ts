/** SPEC.md and the code say the same: the table cell by cell, the moves, the reasons, and every numbered invariant. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { INPUTS } from '../../functions/core/inputs.ts';
import {
  ATTEMPTS_MAX,
  DECISIONS_MAX,
  JOURNAL_ENTRIES_MAX,
  JOURNAL_ENTRY_BYTES_MAX,
  REDRIVES_MAX,
  REFUNDS_MAX,
  SKEW_MARGIN_MS,
  SWAP_TRIES_MAX,
} from '../../functions/core/limits.ts';
import { TABLE } from '../../functions/core/machine.ts';
import type { QuarantineReason } from '../../functions/core/model.ts';
import type { OutcomeClass } from '../../functions/core/outcome.ts';
import { PHASES } from '../../functions/core/phase.ts';
import { INVARIANTS } from '../support/machine-invariants.ts';

const TOP = new URL('../../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, TOP), 'utf8');
const SPEC = textOf('functions/core/SPEC.md');

/** The rows of the first table behind a heading, cell by cell, the header first and without the ruler. */
const tableUnder = (heading: string, text = SPEC): readonly (readonly string[])[] => {
  const lines = text.slice(text.indexOf(`\n${heading}\n`) + 1).split('\n');
  const start = lines.findIndex((line) => line.startsWith('|'));
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  if (start < 0 || !text.includes(`\n${heading}\n`)) throw new RangeError(`no table under ${heading}`);
  return lines
    .slice(start, length < 0 ? undefined : start + length)
    .filter((line) => !/^[|\s-]+$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
};
const ticked = (cells: readonly string[]): readonly string[] =>
  cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''));
const firstColumn = (heading: string): readonly string[] =>
  tableUnder(heading)
    .slice(1)
    .map(([first = '']) => first);

const tableOf = (text: string): Readonly<Record<string, Readonly<Record<string, string>>>> => {
  const [header = [], ...rows] = tableUnder('## The table', text);
  const phases = header.slice(1);
  return Object.fromEntries(
    phases.map((phase, column) => [phase, Object.fromEntries(rows.map((row) => [row[0], row[column + 1] ?? '']))]),
  );
};
const tableOfCode = Object.fromEntries(
  PHASES.map((phase) => [phase, Object.fromEntries(INPUTS.map((input) => [input, TABLE[phase][input].name]))]),
);

describe('the table of SPEC.md', () => {
  it('is the table of the code, cell by cell', () => {
    expect(tableOf(SPEC)).toEqual(tableOfCode);
  });

  it('would not be with one cell changed, one row less or one column less', () => {
    const changed = [
      SPEC.replace(/\| takeOver +\|/, '| take |'),
      SPEC.replace(/^\| mark +\|.*\n/m, ''),
      SPEC.replace(/^\| input .*/m, (line) => line.replace(/\| lapsed +/, '')),
    ];
    for (const text of changed) {
      expect(text).not.toBe(SPEC);
      expect(tableOf(text)).not.toEqual(tableOfCode);
    }
  });

  it('explains every move, once, and none that does not exist', () => {
    const explained = ['### Moves that write', '### Moves that write nothing']
      .flatMap(firstColumn)
      .flatMap((cell) => cell.split(', '));
    const moves = new Set(PHASES.flatMap((phase) => INPUTS.map((input) => TABLE[phase][input].name)));
    expect([...explained].sort()).toEqual([...moves].sort());
  });
});

describe('the lists of SPEC.md', () => {
  it('name every reason of quarantine', () => {
    const reasons: Readonly<Record<QuarantineReason, true>> = {
      ...{ budget: true, rejected: true, gone: true, 'in-doubt': true, 'key-expired': true, horizon: true },
      ...{ blocked: true, 'payload-changed': true, 'no-destination': true },
    };
    expect([...ticked(firstColumn('## Quarantine'))].sort()).toEqual(Object.keys(reasons).sort());
  });

  it('name every class of outcome', () => {
    const classes: Readonly<Record<OutcomeClass, true>> = {
      ...{ delivered: true, throttled: true, failed: true, rejected: true, gone: true },
      ...{ 'not-sent': true, 'in-doubt': true, withheld: true, abandoned: true },
    };
    expect([...new Set(ticked(firstColumn('## Outcomes')))].sort()).toEqual(Object.keys(classes).sort());
  });

  it('give the bounds of the code', () => {
    const refusals = REDRIVES_MAX + DECISIONS_MAX;
    expect(SPEC).toContain(
      `at most 1 + 3 x ${ATTEMPTS_MAX} + ${REDRIVES_MAX + DECISIONS_MAX} + ${refusals} = ${JOURNAL_ENTRIES_MAX} entries of ${JOURNAL_ENTRY_BYTES_MAX} bytes`,
    );
    expect(1 + 3 * ATTEMPTS_MAX + REDRIVES_MAX + DECISIONS_MAX + refusals).toBe(JOURNAL_ENTRIES_MAX);
    expect(SPEC).toContain(`at most ${REFUNDS_MAX} times in a life`);
    expect(SPEC).toContain(`margin (${SKEW_MARGIN_MS / 1_000} s)`);
    expect(SPEC).toContain(`decided again up to ${SWAP_TRIES_MAX} times`);
    expect(SPEC).toContain(`for each redrive and decision but the last: ${refusals}`);
  });
});

// ---- invariants ---------------------------------------------------------------------------------------------------

const invariantRows = tableUnder('## Invariants').slice(1);
const numbered = invariantRows.map(([id = '']) => id);
const testFiles = readdirSync(new URL('test/', TOP), { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.test.ts') && !path.startsWith('tidy/') && path !== 'unit/spec.test.ts');

/** The invariants that a file of tests names, as `[M7]`, in its titles. */
const namedIn = (text: string): readonly string[] => {
  const titles = [...text.matchAll(/(?:\bit(?:\.\w+)?(?:\([^)]*\))?\(\s*|title: )(['"`])(.*?)\1/gs)];
  return titles.flatMap(([title]) => [...title.matchAll(/\[(M\d+)\]/g)].map((match) => match[1] ?? ''));
};
const named = new Map(testFiles.map((path) => [path, namedIn(textOf(`test/${path}`))]));

describe('the invariants of SPEC.md', () => {
  it('are numbered without a gap', () => {
    expect(numbered).toEqual(Array.from({ length: 30 }, (_, index) => `M${index + 1}`));
  });

  it('are all checked: each but the last by the checker, the last by calling twice', () => {
    expect([...Object.keys(INVARIANTS), 'M30']).toEqual(numbered);
  });

  it('are each named in the title of a test, and in the title of a twin that shows the check failing', () => {
    const twins = new Set(named.get('unit/machine-invariants.test.ts'));
    const others = new Set([...named].flatMap(([path, ids]) => (path.includes('machine-invariants') ? [] : ids)));
    expect(numbered.filter((id) => !twins.has(id))).toEqual([]);
    expect(numbered.filter((id) => !others.has(id))).toEqual([]);
  });

  it('are all there: no test names one that is not', () => {
    const strange = [...named].flatMap(([path, ids]) =>
      ids.filter((id) => !numbered.includes(id)).map((id) => `${path} ${id}`),
    );
    expect(strange).toEqual([]);
  });

  it('say truly where each is shown', () => {
    for (const [id = '', , shown = ''] of invariantRows) {
      for (const name of shown.split(', ')) {
        const path = name === 'the property' ? 'property/machine.property.test.ts' : `unit/${name}.test.ts`;
        expect(named.get(path), `${id} in ${path}`).toContain(id);
      }
    }
  });
});

describe('the reader of titles', () => {
  it('finds what stands in titles, and not what stands in comments or code', () => {
    const text =
      "// [M90]\nit('a [M91]', () => {});\nit.each(LIST)('%s [M92] [M93]', f);\nit.fails('c [M94]', f);\nx = '[M95]';";
    expect(namedIn(text)).toEqual(['M91', 'M92', 'M93', 'M94']);
    expect(namedIn("{ title: 'a row [M96]', steps }")).toEqual(['M96']);
  });
});
