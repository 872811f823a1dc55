/**
 * Effects, as somebody has counted them: by a URL that a count can be read from, or by hand.
 *
 *   --count-url https://shop.example/effects?key={key}    the effects of one test event
 *   --count-url https://shop.example/effects              of all that there are
 */
import { InvalidArgumentError } from 'commander';
import { DRILL_PARTS, type DrillPart } from '../../../core/drill.ts';
import type { Shell } from '../shell.ts';
import { FAILED, Stop, USAGE } from '../stop.ts';

export interface CountOptions {
  readonly countUrl?: string;
  readonly countField?: string;
  readonly countHeader?: readonly (readonly [name: string, value: string])[];
  readonly settleSec: number;
}

const COUNT_MS = 10_000;
const PLACES = ['{key}', '{event}'] as const;

export const isCountOfEach = ({ countUrl = '' }: CountOptions): boolean =>
  PLACES.some((place) => countUrl.includes(place));

export interface Named {
  readonly key: string;
  readonly event: string;
}

/** The number behind the URL. Throws Stop where there is none: a drill without its count would look unproven for no reason. */
export const countAt = async (shell: Shell, options: CountOptions, named?: Named): Promise<number> => {
  const url = urlOf(options, named);
  const headers = { accept: 'application/json', ...Object.fromEntries(options.countHeader ?? []) };
  const got = await shell.callOnce({ method: 'GET', url, headers, timeoutMs: COUNT_MS });
  if (got.kind === 'none') throw new Stop(FAILED, `effects could not be counted: ${url} gave no answer (${got.code})`);
  if (got.status < 200 || got.status > 299) {
    throw new Stop(FAILED, `effects could not be counted: ${url} answered ${got.status}`);
  }
  const count = countIn(got.text, options.countField);
  if (count !== undefined) return count;
  const where =
    options.countField === undefined ? 'a whole number' : `an object with a whole number "${options.countField}"`;
  throw new Stop(
    FAILED,
    `effects could not be counted: ${url} did not answer with ${where} (--count-field names a member)`,
  );
};

const urlOf = ({ countUrl = '' }: CountOptions, named: Named | undefined): string => {
  const text = countUrl
    .replaceAll('{key}', encodeURIComponent(named?.key ?? ''))
    .replaceAll('{event}', encodeURIComponent(named?.event ?? ''));
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new Stop(USAGE, `--count-url must be an http(s) URL, not ${text}`);
};

const countIn = (text: string, field: string | undefined): number | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (field !== undefined) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[field];
  }
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
};

// ---- by hand ------------------------------------------------------------------------------------------------------

export type Counted = Readonly<Partial<Record<DrillPart, number>>>;

/** `--effects repeat=1 --effects twins=2` */
export const collectEffects = (text: string, before: Counted | undefined): Counted => {
  const [, name, digits] = /^([a-z-]+)=(\d{1,9})$/.exec(text) ?? [];
  const part = DRILL_PARTS.find((one) => one === name);
  if (part === undefined || digits === undefined) {
    throw new InvalidArgumentError(`It must be part=number; parts are ${DRILL_PARTS.join(', ')}.`);
  }
  return { ...before, [part]: Number(digits) };
};
