import { describe, expect, it } from 'vitest';
import { replaced, sectionOf } from '../bench/record.ts';
import { type Measured, tell } from '../bench/report.ts';
import { inTurns, median, ratio } from '../bench/rounds.ts';

const MEASURED: Measured = {
  name: 'cost',
  at: '2026-11-30T01:02:03.000Z',
  seconds: 12,
  short: false,
  title: 'units of a delivery',
  method: ['Counted once.'],
  versions: { Redis: '7.0.15' },
  tables: [
    {
      title: 'Units',
      columns: ['path', 'units', 'says'],
      rows: [
        ['ours', 7, 'a|b'],
        ['a longer name', 10, ''],
      ],
    },
  ],
  notes: ['a peer is ahead'],
  missed: [],
};

describe('rounds', () => {
  it('lets rivals take turns, so that a busy moment hits all of them alike', async () => {
    const order: string[] = [];
    const one = (name: string) => async () => order.push(name);
    const measured = await inTurns({ ours: one('ours'), theirs: one('theirs') }, 2);
    expect(order).toStrictEqual(['ours', 'theirs', 'ours', 'theirs']);
    expect(measured).toStrictEqual({ ours: [1, 3], theirs: [2, 4] });
  });

  it('measures nine rounds unless told otherwise', async () => {
    const { ours } = await inTurns({ ours: async () => 1 });
    expect(ours).toHaveLength(9);
  });

  it('takes the middle value, and of an even number the mean of the middle two', () => {
    expect([median([9, 1, 5]), median([4, 1, 2, 9]), median([])]).toStrictEqual([5, 3, Number.NaN]);
    expect(ratio(3, 2)).toBe('1.50 x');
  });
});

describe('the report of a benchmark', () => {
  it('puts numbers under each other and tells a missed bound', () => {
    const told = tell({ ...MEASURED, missed: ['ours takes 8'] }).split('\n');
    expect(told.slice(-7)).toStrictEqual([
      'Units',
      'path           units  says',
      'ours               7  a|b',
      'a longer name     10',
      '',
      'a peer is ahead',
      'MISSED: ours takes 8',
    ]);
  });

  it('names every version beside the machine', () => {
    expect(tell(MEASURED)).toMatch(/Node \d+\.\d+\.\d+; Redis 7\.0\.15; load /);
  });

  it('exchanges its own section of the record and leaves the others', () => {
    const before = '# Benchmarks\n\nBy hand.\n\n## cost: old\n\nold figures\n\n## cold: starts\n\nits figures\n';
    const after = replaced(before, 'cost', sectionOf(MEASURED));
    expect(after).toContain('# Benchmarks\n\nBy hand.\n\n## cost: units of a delivery\n');
    expect(after).toContain(
      [
        '| path          | units | says |',
        '| ------------- | ----: | ---- |',
        '| ours          |     7 | a\\|b |',
        '| a longer name |    10 |      |',
      ].join('\n'),
    );
    expect(after).toContain('\n## cold: starts\n\nits figures\n');
    expect(after).not.toContain('old figures');
    expect(replaced(after, 'cost', sectionOf(MEASURED))).toBe(after);
  });
});
