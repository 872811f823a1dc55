/** What a person changes in the settings of a destination, in words for the record: no secret and no credential in them. */
import { isDeepStrictEqual } from 'node:util';
import type { DestinationSettings } from './destination-input.ts';

/** As the API names them. */
const SHOWN = {
  repeatSafe: 'repeatSafe',
  keyLifeHours: 'keyLifeHours',
  scheduleSec: 'schedule',
  timeoutMs: 'timeoutMs',
  ratePerSecond: 'ratePerSecond',
  concurrency: 'concurrency',
  rejectOn: 'rejectOn',
  acceptFromQueue: 'acceptFromQueue',
  mode: 'mode',
  notices: 'notices',
} as const satisfies Readonly<Record<Exclude<keyof DestinationSettings, 'destination' | 'url' | 'headers'>, string>>;

/** One line for each setting that differs: its name, and where that is harmless its value before and after. */
export const settingsChanges = (
  before: DestinationSettings | undefined,
  next: DestinationSettings,
  isSecretNew: boolean,
): readonly string[] => [
  ...urlChange(before?.url, next.url),
  ...(Object.keys(SHOWN) as (keyof typeof SHOWN)[]).flatMap((name) =>
    isDeepStrictEqual(before?.[name], next[name]) ? [] : [line(SHOWN[name], before?.[name], next[name])],
  ),
  ...headerChanges(before?.headers ?? {}, next.headers),
  ...(isSecretNew ? ['signingSecret: (new)'] : []),
];

const line = (name: string, before: unknown, next: unknown): string =>
  before === undefined ? `${name}: ${textOf(next)}` : `${name}: ${textOf(before)} -> ${textOf(next)}`;

const textOf = (value: unknown): string => {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const urlChange = (before: string | undefined, next: string): readonly string[] => {
  if (before === next) return [];
  const [was, is] = [before === undefined ? undefined : withoutQuery(before), withoutQuery(next)];
  return [was === is ? `url: ${is} (another query)` : line('url', was, is)];
};

/** A query often is a credential. User and password are refused in a URL, but an older row may have been judged otherwise. */
const withoutQuery = (text: string): string => {
  const url = new URL(text);
  const query = url.search === '' ? '' : '?***';
  return `${url.protocol}//${url.host}${url.pathname}${query}`;
};

const headerChanges = (
  before: Readonly<Record<string, string>>,
  next: Readonly<Record<string, string>>,
): readonly string[] => {
  const names = new Set([...Object.keys(before), ...Object.keys(next)]);
  return [...names].toSorted().flatMap((name) => {
    const [had, has] = [Object.hasOwn(before, name), Object.hasOwn(next, name)];
    if (had && has) return before[name] === next[name] ? [] : [`header ${name}: (another value)`];
    return [`header ${name}: ${has ? '(new)' : '(taken out)'}`];
  });
};
