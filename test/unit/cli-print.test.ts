/** What a terminal gets: columns that stand under each other, colour only where it was wished for, settings by name. */
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ConfigError, readCliConfig, wantsColour } from '../../functions/config.ts';
import { type Column, pairs, span, table } from '../../functions/operator/cli/print.ts';
import type { Shell } from '../../functions/operator/cli/shell.ts';
import { widthOf } from '../../functions/operator/cli/visible.ts';

const shell = (colour: boolean, cuts = true): Pick<Shell, 'colour' | 'cuts'> => ({ colour, cuts });

interface Row {
  readonly name: string;
  readonly state: string;
  readonly count?: number;
}

const ROWS: readonly Row[] = [
  { name: 'a', state: 'delivered', count: 1 },
  { name: '注文-17', state: 'quarantined', count: 1_000 },
  { name: 'x'.repeat(10_240), state: 'unheard-of' },
];

const COLUMNS: readonly Column<Row>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'STATE', of: ({ state }) => state, state: true },
  { title: 'COUNT', of: ({ count }) => count, right: true },
  { title: 'NEVER', of: () => undefined },
];

describe('a table', () => {
  it('has columns that stand under each other, wide characters and long words too', () => {
    const lines = table(shell(false), ROWS, COLUMNS).split('\n');
    const starts = lines.map((line) => widthOf(line.slice(0, line.search(/STATE|delivered|quarantined|unheard/))));
    expect(new Set(starts).size).toBe(1);
    expect(new Set(lines.slice(0, 3).map(widthOf)).size).toBe(1);
    for (const line of lines) expect(widthOf(line)).toBeLessThan(100);
  });

  it('cuts a long cell on a terminal, and nothing where a program reads it', () => {
    const long = 'x'.repeat(10_240);
    expect(table(shell(false), ROWS, COLUMNS)).toContain(`${'x'.repeat(59)}…`);
    expect(table(shell(false), ROWS, COLUMNS)).not.toContain(long);
    expect(table(shell(false, false), ROWS, COLUMNS)).toContain(long);
  });

  it('leaves out a column in which nothing stands', () => {
    expect(table(shell(false), ROWS, COLUMNS)).not.toContain('NEVER');
  });

  it('is the same text with colour and without, and has colour only where it was wished for', () => {
    const [plain, coloured] = [table(shell(false), ROWS, COLUMNS), table(shell(true), ROWS, COLUMNS)];
    expect(plain).not.toContain('\u001b');
    expect(coloured).toContain('\u001b[31mquarantined');
    expect(coloured).toContain('\u001b[32mdelivered');
    expect(stripVTControlCharacters(coloured)).toBe(plain);
  });
});

describe('pairs', () => {
  it('leave out what is not there, and keep what is empty or zero', () => {
    expect(pairs(shell(false), { state: 'active', gone: undefined, zero: 0, none: '' })).toBe(
      'state  active\nzero   0\nnone   ',
    );
  });
});

describe('a span', () => {
  it.each([
    [0, '0 s'],
    [119_999, '119 s'],
    [120_000, '2 min'],
    [7_200_000, '2 h'],
    [172_800_000, '2 d'],
  ])('%i ms is %s', (ms, text) => expect(span(ms)).toBe(text));
});

describe('the settings of the command line', () => {
  it('have the local world as their default', () => {
    expect(readCliConfig({})).toEqual({ url: 'http://127.0.0.1:8787', intakeUrl: 'http://127.0.0.1:8787' });
  });

  it('have one address for both unless the intake has its own, and no slash at its end', () => {
    const url = 'https://operator.example/';
    expect(readCliConfig({ ONCEWARD_URL: url })).toMatchObject({ intakeUrl: 'https://operator.example' });
    const both = { ONCEWARD_URL: url, ONCEWARD_INTAKE_URL: 'https://intake.example//', ONCEWARD_TOKEN: 'ow_x' };
    expect(readCliConfig(both)).toEqual({
      url: 'https://operator.example',
      intakeUrl: 'https://intake.example',
      token: 'ow_x',
    });
  });

  it.each([
    ['ONCEWARD_URL', 'operator.example'],
    ['ONCEWARD_URL', 'ftp://operator.example'],
    ['ONCEWARD_URL', 'https://user:password@operator.example'],
    ['ONCEWARD_URL', 'https://operator.example/?a=1'],
    ['ONCEWARD_INTAKE_URL', 'x'],
    ['ONCEWARD_TOKEN', 'two words'],
  ])('are refused by name: %s=%s', (setting, value) => {
    expect(() => readCliConfig({ [setting]: value })).toThrow(ConfigError);
    expect(() => readCliConfig({ [setting]: value })).toThrow(`setting ${setting} `);
  });

  it.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, true],
    [{ TERM: 'dumb' }, false],
    [{ TERM: 'xterm-256color' }, true],
  ])('ask for colour as %j says: %s', (env, wanted) => expect(wantsColour(env)).toBe(wanted));
});
