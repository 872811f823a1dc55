/** A drill as the API answers it, and as every other face shows it: what was seen, and what follows from it. */
import { adviceOn, conclude } from '../../core/drill-conclusion.ts';
import { type PartSeen, readingOf } from '../../core/drill-reading.ts';
import { partSays } from '../../core/drill-words.ts';

interface Names {
  readonly event: string;
  readonly key: string;
}

export interface DrillSeen {
  readonly destination: string;
  readonly at: string;
  readonly repeatSafe: boolean;
  readonly parts: readonly (PartSeen & Names)[];
}

export const drillReportOf = ({ destination, at, repeatSafe, parts }: DrillSeen) => {
  const { deserves, because } = conclude(parts);
  return {
    destination,
    at,
    repeatSafe,
    parts: parts.map((seen) => ({
      part: seen.part,
      event: seen.event,
      key: seen.key,
      reading: readingOf(seen),
      ...(seen.skipped === undefined ? {} : { skipped: seen.skipped }),
      exchanges: seen.exchanges,
      ...(seen.effects === undefined ? {} : { effects: seen.effects }),
      says: partSays(seen),
    })),
    deserves,
    because,
    advice: adviceOn(parts, deserves, repeatSafe),
  };
};

/** Of one drill or several, with the decisions that they were. */
export type DrillReport = ReturnType<typeof drillReportOf> & { readonly decisions: readonly string[] };
