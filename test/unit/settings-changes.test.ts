/** What the record says of a change of settings: every setting that differs by its name, and nothing that is secret. */
import { describe, expect, it } from 'vitest';
import { type DestinationSettings, readDestination } from '../../functions/core/destination-input.ts';
import { settingsChanges } from '../../functions/core/settings-changes.ts';
import { destinationId } from '../support/world.ts';

const settings = (more: Readonly<Record<string, unknown>> = {}): DestinationSettings => {
  const body = { url: 'https://partner.example/hook', repeatSafe: true, ...more };
  const read = readDestination(destinationId('partner'), body, { allowLocal: false });
  if (read.kind === 'bad') throw new Error(`${read.field} ${read.reason}`);
  return read.settings;
};

describe('a change of settings', () => {
  it.each<[member: string, from: unknown, to: unknown, line: string]>([
    ['url', 'https://a.example/x', 'https://b.example/y', 'url: https://a.example/x -> https://b.example/y'],
    ['repeatSafe', true, false, 'repeatSafe: true -> false'],
    ['keyLifeHours', 24, null, 'keyLifeHours: 24 -> null'],
    ['schedule', [1, 2], [], 'schedule: [1,2] -> []'],
    ['timeoutMs', 5_000, 6_000, 'timeoutMs: 5000 -> 6000'],
    ['ratePerSecond', undefined, 2, 'ratePerSecond: 2'],
    ['concurrency', 3, undefined, 'concurrency: 3 -> none'],
    ['rejectOn', [], [410], 'rejectOn: [] -> [410]'],
    ['acceptFromQueue', false, true, 'acceptFromQueue: false -> true'],
    ['mode', 'shadow', 'live', 'mode: shadow -> live'],
    ['notices', true, false, 'notices: true -> none'],
  ])('of %s is said with its value before and after', (member, from, to, line) => {
    expect(settingsChanges(settings({ [member]: from }), settings({ [member]: to }), false)).toEqual([line]);
  });

  it('that is none is none', () => {
    expect(settingsChanges(settings({ headers: { a: 'x' } }), settings({ headers: { a: 'x' } }), false)).toEqual([]);
  });

  it('names headers, and never tells their values', () => {
    const before = settings({ headers: { 'x-old': 'SESAME-1', 'x-key': 'SESAME-2', 'x-same': 'SESAME-3' } });
    const next = settings({ headers: { 'x-new': 'SESAME-4', 'x-key': 'SESAME-5', 'x-same': 'SESAME-3' } });
    expect(settingsChanges(before, next, true)).toEqual([
      'header x-key: (another value)',
      'header x-new: (new)',
      'header x-old: (taken out)',
      'signingSecret: (new)',
    ]);
  });

  it('tells nothing of a query, nor of credentials that stand in a URL from an older time', () => {
    const before = { ...settings(), url: 'https://user:SESAME@partner.example/hook?key=SESAME' };
    const next = settings({ url: 'https://partner.example/hook?key=SESAME-2' });
    expect(settingsChanges(before, next, false)).toEqual(['url: https://partner.example/hook?*** (another query)']);
    expect(settingsChanges(before, settings(), false)).toEqual([
      'url: https://partner.example/hook?*** -> https://partner.example/hook',
    ]);
  });

  it('from nothing names all that is set', () => {
    const lines = settingsChanges(undefined, settings({ mode: 'shadow' }), false);
    expect(lines).toEqual(expect.arrayContaining(['url: https://partner.example/hook', 'mode: shadow']));
    expect(lines.join()).not.toContain('->');
  });
});
