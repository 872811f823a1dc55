/**
 * Which `repeatSafe` a destination has been shown to deserve.
 *
 *   a test event that had two effects ─────────────────────────────► not-repeat-safe
 *   each of repeat, twins, late: a success, its repeat was
 *     answered, and one effect was counted ────────────────────────► repeat-safe
 *   anything less ─────────────────────────────────────────────────► not-shown
 *
 * Equal answers show nothing, and neither does a repeat that met a failure: it may not have come as far as the effect.
 */
import { type DrillPart, KEY_PARTS } from './drill.ts';
import { answerKindOf, type PartSeen, type Reading, readingOf } from './drill-reading.ts';

export const DESERVES = ['repeat-safe', 'not-repeat-safe', 'not-shown'] as const;
export type Deserves = (typeof DESERVES)[number];

export interface Conclusion {
  readonly deserves: Deserves;
  /** Why, one sentence each. */
  readonly because: readonly string[];
}

export const conclude = (seen: readonly PartSeen[]): Conclusion => {
  const twice = seen.filter(({ part, effects }) => REPEATING.has(part) && (effects ?? 0) > 1);
  if (twice.length > 0) return { deserves: 'not-repeat-safe', because: twice.map(twiceSays) };
  const missing = KEY_PARTS.flatMap(
    (part) =>
      missingIn(
        part,
        seen.find((one) => one.part === part),
      ) ?? [],
  );
  if (missing.length > 0) return { deserves: 'not-shown', because: missing };
  return {
    deserves: 'repeat-safe',
    because: ['A repeat, two at once and a delayed attempt had one effect each, as they were counted.'],
  };
};

/** With other bytes a second effect may be meant, and a single request repeats nothing. */
const REPEATING: ReadonlySet<DrillPart> = new Set([...KEY_PARTS, 'burst']);

const twiceSays = ({ part, effects, exchanges }: PartSeen): string =>
  `${part}: ${exchanges.length} identical requests under one key had ${effects} effects.`;

/** Readings under which the repeat has been dealt with, so that a count after it says something. */
const DEALT_WITH: ReadonlySet<Reading> = new Set(['same-answer', 'other-answer', 'busy', 'refused']);

const missingIn = (part: DrillPart, seen: PartSeen | undefined): string | undefined => {
  const reading = seen === undefined ? 'not-tried' : readingOf(seen);
  if (seen === undefined || reading === 'not-tried') return `${part}: not tried.`;
  if (reading === 'no-success') return `${part}: no request was accepted, so nothing could come again.`;
  if (!DEALT_WITH.has(reading)) return `${part}: the repeat was not dealt with (${reading}).`;
  if (seen.effects === undefined) return `${part}: unproven, for nobody has counted its effects.`;
  if (seen.effects === 0)
    return `${part}: accepted, but no effect was counted: test events have none there, or the count does not see them.`;
  return undefined;
};

// ---- advice -------------------------------------------------------------------------------------------------------

/** What is worth mending or setting, whatever the conclusion. */
export const adviceOn = (seen: readonly PartSeen[], deserves: Deserves, repeatSafe: boolean): readonly string[] => [
  ...settingAdvice(deserves, repeatSafe),
  ...seen.flatMap((one) => partAdvice(one, readingOf(one)) ?? []),
];

const settingAdvice = (deserves: Deserves, repeatSafe: boolean): readonly string[] => {
  if (deserves === 'not-repeat-safe' && repeatSafe) return ['Set repeatSafe to false now: each retry can act again.'];
  if (deserves === 'not-shown' && repeatSafe) {
    return ['repeatSafe is true and was not shown: count the effects, or set it to false, which is always right.'];
  }
  if (deserves === 'repeat-safe' && !repeatSafe) {
    return ['repeatSafe may be set to true: what is in doubt is then sent again instead of waiting for a person.'];
  }
  return [];
};

const partAdvice = ({ part, exchanges, effects }: PartSeen, reading: Reading): string | undefined => {
  switch (part) {
    case 'repeat':
      return isTurnedAway(reading)
        ? `repeat: a repeat behind a success is not accepted. A delivery whose first answer gets lost is then tried until its budget is spent, though it is done: answer it with 2xx.`
        : undefined;
    case 'forged':
      if ((effects ?? 0) > 0 && reading !== 'accepted') return 'forged: it was not accepted, and acted all the same.';
      return reading === 'accepted'
        ? 'forged: signatures are not checked there, so anybody can send to it.'
        : undefined;
    case 'stale':
      return reading === 'accepted'
        ? 'stale: an old signature is taken, so whoever has recorded a request can send it again, under a key that may be forgotten by then.'
        : undefined;
    case 'other-body':
      return (effects ?? 0) > 1 ? 'other-body: other bytes under a known key had an effect of their own.' : undefined;
    case 'burst':
      return exchanges.some((one) => answerKindOf(one) === 'throttled' && one.retryAfterMs === undefined)
        ? 'burst: it throttles without Retry-After, so a retry has only its schedule to go by; set ratePerSecond.'
        : undefined;
    case 'late':
      // Whatever it is told, its outcome comes too late to change anything.
      return undefined;
    case 'twins':
      return reading === 'failed'
        ? 'twins: one of two at once failed there: check and effect should be one transaction.'
        : undefined;
  }
};

const isTurnedAway = (reading: Reading): boolean => reading === 'busy' || reading === 'refused' || reading === 'failed';
