/** The bounds of a drill, and how they stand to those of the whole in `limits.ts`. Checked when this module loads. */
import {
  FUNCTION_MS,
  LEDGER_REQUEST_MS,
  LEDGER_TRIES_MAX,
  type Relation,
  SIGNATURE_TOLERANCE_MS,
  SKEW_MARGIN_MS,
  TIMEOUT_MS_MAX,
} from './limits.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** No request of a drill may end behind this; what is left of the drill by then is not tried. */
export const DRILL_MS = 45 * SECOND;
/** How much older than the first an attempt of the drill is that comes behind it. Receivers have to take it. */
export const DRILL_LATE_MS = 1 * MINUTE;
/** How old a signature of the drill is that receivers should refuse. */
export const DRILL_STALE_MS = 10 * MINUTE;
export const DRILL_BURST = 10;
export const DRILL_BURST_MIN = 2;
export const DRILL_BURST_MAX = 20;

export const drillRelations = (): readonly Relation[] => [
  {
    says: 'a drill, and what the ledger needs beside it, fits the limit of the function',
    holds: DRILL_MS + LEDGER_REQUEST_MS * LEDGER_TRIES_MAX < FUNCTION_MS,
  },
  { says: 'two requests that take their whole time fit a drill', holds: 2 * TIMEOUT_MS_MAX < DRILL_MS },
  {
    says: 'the late attempt is inside the tolerance of signatures, whatever the clocks say',
    holds: DRILL_LATE_MS + SKEW_MARGIN_MS < SIGNATURE_TOLERANCE_MS,
  },
  { says: 'the stale signature is outside of it', holds: SIGNATURE_TOLERANCE_MS + SKEW_MARGIN_MS < DRILL_STALE_MS },
];

for (const relation of drillRelations()) {
  if (!relation.holds) throw new Error(`drill-limits.ts contradicts itself: ${relation.says}`);
}
