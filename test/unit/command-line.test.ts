import { describe, expect, it } from 'vitest';
import { commandLine } from '../../functions/core/command-line.ts';

describe('a command that is copied into a shell', () => {
  it('names its ids as they are, where a shell reads them so', () => {
    expect(commandLine('delivery explain', ['order-17', 'shop.eu/a:b@c%20+1'])).toBe(
      'onceward delivery explain order-17 shop.eu/a:b@c%20+1',
    );
    expect(commandLine('queue stats')).toBe('onceward queue stats');
  });

  it.each([
    ['$(rm -rf ~)', "'$(rm -rf ~)'"],
    ["it's; `id`", "'it'\\''s; `id`'"],
    ['~root', "'~root'"],
    ['a b', "'a b'"],
    ['*', "'*'"],
    ['ä', "'ä'"],
    ['', "''"],
  ])('quotes %s', (id, word) =>
    expect(commandLine('delivery explain', [id])).toBe(`onceward delivery explain ${word}`),
  );

  it('takes no id for an option, and keeps its own', () => {
    expect(commandLine('prove', ['partner'], ['--from FILE'])).toBe('onceward prove partner --from FILE');
    expect(commandLine('prove', ['--yes'], ['--from FILE'])).toBe('onceward prove --from FILE -- --yes');
  });
});
