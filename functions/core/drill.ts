/**
 * The plan of a drill: what is sent to a destination to learn what it does with a key that comes again.
 *
 *   repeat       first ──► again                 a repeat after success
 *   twins        one + two                       two at once, as when a lease has lapsed and the first is still on its way
 *   late         first ──► late                  an attempt that was made before the first, and comes behind it
 *   other-body   first ──► other                 the same key with other bytes: nothing of ours ever does that
 *   stale        stale                           a signature older than receivers should take
 *   forged       forged                          a signature by a secret that nobody knows
 *   burst        n at once                       to provoke a 429; only where it is asked for
 *
 * Each part has a test event, and so a key, of its own. What comes of a request is no business of this file.
 */
import { DRILL_BURST, DRILL_LATE_MS, DRILL_STALE_MS } from './drill-limits.ts';

export const DRILL_PARTS = ['repeat', 'twins', 'late', 'other-body', 'stale', 'forged', 'burst'] as const;
export type DrillPart = (typeof DRILL_PARTS)[number];

/**
 * A drill whose effects are counted part by part is a decision for each: the request of the whole, and the part's name.
 * `partOfDrill` reads what `partRequest` has made.
 */
export const partRequest = (request: string, part: DrillPart): string => `${request}-${part}`;

export const partOfDrill = (request: string): { readonly drill: string; readonly part: DrillPart } | undefined => {
  const part = DRILL_PARTS.find((one) => request.endsWith(`-${one}`));
  return part === undefined ? undefined : { drill: request.slice(0, -part.length - 1), part };
};

/** Without the burst: to strain a destination has to be asked for. */
export const USUAL_PARTS: readonly DrillPart[] = DRILL_PARTS.filter((part) => part !== 'burst');

/** Those that the conclusion rests on: what duplicates of ours can do to a destination. */
export const KEY_PARTS = ['repeat', 'twins', 'late'] as const satisfies readonly DrillPart[];

export interface DrillRequest {
  /** Its name within its part. */
  readonly request: string;
  /** Other bytes than the other requests of its part. */
  readonly otherBody?: boolean;
  /** So long ago was it made and signed, by its own account. */
  readonly madeMsAgo?: number;
  /** Signed by a secret of nobody. */
  readonly forged?: boolean;
}

/** Requests that leave together. */
export type Round = readonly DrillRequest[];

export interface DrillWish {
  readonly parts: readonly DrillPart[];
  /** Requests of the burst. */
  readonly burst: number;
}

export const wishOf = (parts: readonly DrillPart[] | undefined, burst: number | undefined): DrillWish => ({
  // In the order of the drill, whatever the order in which they were asked for.
  parts: DRILL_PARTS.filter((part) => (parts ?? USUAL_PARTS).includes(part)),
  burst: burst ?? DRILL_BURST,
});

export const roundsOf = (part: DrillPart, burst: number): readonly Round[] => {
  switch (part) {
    case 'repeat':
      return [[{ request: 'first' }], [{ request: 'again' }]];
    case 'twins':
      return [[{ request: 'one' }, { request: 'two' }]];
    case 'late':
      return [[{ request: 'first' }], [{ request: 'late', madeMsAgo: DRILL_LATE_MS }]];
    case 'other-body':
      return [[{ request: 'first' }], [{ request: 'other', otherBody: true }]];
    case 'stale':
      return [[{ request: 'stale', madeMsAgo: DRILL_STALE_MS }]];
    case 'forged':
      return [[{ request: 'forged', forged: true }]];
    case 'burst':
      return [Array.from({ length: burst }, (_, index) => ({ request: `burst-${index + 1}` }))];
  }
};

/** How many requests a drill sends at most. */
export const requestsOf = ({ parts, burst }: DrillWish): number =>
  parts.reduce((sum, part) => sum + roundsOf(part, burst).flat().length, 0);

// ---- the test events ----------------------------------------------------------------------------------------------

export const TEST_TYPE = 'onceward.test';
export const TEST_CONTENT_TYPE = 'application/json';

/** By the prefix of all test events; no event of the ledger is ever made of it. */
export const drillEventText = (drill: string, part: DrillPart): string => `test~prove-${drill}~${part}`;

/** The mark of a test event comes first, whatever else it says. */
export const testPayload = (more: Readonly<Record<string, string>> = {}): Uint8Array =>
  Buffer.from(JSON.stringify({ onceward: 'test', ...more }));

export const drillPayload = (event: string, otherBody: boolean): Uint8Array =>
  testPayload({ event, ...(otherBody ? { note: 'other bytes under the same key' } : {}) });
