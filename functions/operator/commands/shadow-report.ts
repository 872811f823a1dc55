/**
 * What a destination in shadow would have been sent: its rows, day by day of their acceptance from the latest back, and
 * what the core makes of them.
 *
 *   day --pages of `recent`, each row loaded--> tally      bounded: what is left goes on from the cursor, and parts add up
 */
import type { DestinationId } from '../../core/ids.ts';
import { parseInstant, utcDayOf } from '../../core/instant.ts';
import type { Destination } from '../../core/items.ts';
import { AHEAD_MS_MAX, LIST_PAGE_MAX, SKEW_MARGIN_MS } from '../../core/limits.ts';
import {
  addedUp,
  type BucketSize,
  dayMs,
  NO_TALLY,
  SHADOW_DAYS_MAX,
  SHADOW_PAGES_MAX,
  SHADOW_ROWS_MAX,
  type ShadowTally,
  type ShadowWindow,
  tallyOf,
} from '../../core/shadow.ts';
import { BadCursor, type World } from '../../ports.ts';
import { showDestination } from './destinations.ts';
import { listDeliveries } from './lists.ts';

const DAY_MS = 86_400_000;

/** As it was asked for: UTC days, each with a default. */
export interface ShadowAsked {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly per: BucketSize;
  readonly acceptedSince?: string | undefined;
}

export interface ShadowScope extends ShadowWindow {
  /** The first day of acceptance that is looked at. */
  readonly sinceDay: string;
}

export type ScopeRead =
  | { readonly kind: 'ok'; readonly scope: ShadowScope }
  | { readonly kind: 'bad'; readonly field: string; readonly reason: string };

const FIRST_DAY = '1970-01-01';

const dayBefore = (utcDay: string): string => (utcDay <= FIRST_DAY ? utcDay : utcDayOf(dayMs(utcDay) - DAY_MS));

export const shadowScope = ({ from, to, per, acceptedSince }: ShadowAsked, nowMs: number): ScopeRead => {
  const toDay = to ?? utcDayOf(nowMs);
  const fromDay = from ?? toDay;
  // What was accepted just before midnight leaves behind it.
  const sinceDay = acceptedSince ?? dayBefore(fromDay);
  const bad = (field: string, reason: string): ScopeRead => ({ kind: 'bad', field, reason });
  if (sinceDay < FIRST_DAY) return bad(acceptedSince === undefined ? 'from' : 'acceptedSince', 'lies before 1970');
  if (fromDay > toDay) return bad('from', `lies behind ${to === undefined ? 'today' : 'to'}`);
  if (dayMs(toDay) - dayMs(fromDay) >= SHADOW_DAYS_MAX * DAY_MS) {
    return bad('from', `begins more than ${SHADOW_DAYS_MAX} days before the end of the report`);
  }
  if (sinceDay > fromDay) return bad('acceptedSince', 'lies behind the first day of the report');
  if (dayMs(fromDay) - dayMs(sinceDay) > AHEAD_MS_MAX) {
    return bad('acceptedSince', `lies more than ${AHEAD_MS_MAX / DAY_MS} days before the first day of the report`);
  }
  return { kind: 'ok', scope: { fromDay, toDay, per, sinceDay } };
};

export type ShadowReport =
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' }
  | { readonly kind: 'found'; readonly config: Destination; readonly tally: ShadowTally; readonly next?: string };

type Needs = Pick<World, 'ledger' | 'pages' | 'clock'>;

export const shadowReport = async (
  world: Needs,
  destination: DestinationId,
  scope: ShadowScope,
  { cursor, rowsMax = SHADOW_ROWS_MAX }: { readonly cursor?: string | undefined; readonly rowsMax?: number } = {},
): Promise<ShadowReport> => {
  const shown = await showDestination(world, destination);
  if (shown.kind !== 'found') return shown;
  let place: Place | undefined = placeIn(scope, cursor, world.clock.nowMs());
  let tally = NO_TALLY;
  let rows = 0;
  for (let pages = 0; place !== undefined && pages < SHADOW_PAGES_MAX && rows < rowsMax; pages += 1) {
    const { day, cursor: inDay } = place;
    const paging = inDay === undefined ? { limit: LIST_PAGE_MAX } : { limit: LIST_PAGE_MAX, cursor: inDay };
    const page = await listDeliveries(world, { list: 'recent', destination, day, ...paging });
    const read = page.items.map((one) => (one.kind === 'row' ? one.row : ('unreadable' as const)));
    tally = addedUp(tally, tallyOf(read, scope));
    rows += read.length;
    place = page.next === undefined ? earlier(scope, day) : { day, cursor: page.next };
  }
  const { config } = shown;
  return { kind: 'found', config, tally, ...(place === undefined ? {} : { next: placeText(place) }) };
};

// ---- where a report goes on ---------------------------------------------------------------------------------------

interface Place {
  readonly day: string;
  readonly cursor?: string;
}

const earlier = ({ sinceDay }: ShadowScope, day: string): Place | undefined =>
  day <= sinceDay ? undefined : { day: dayBefore(day) };

const placeText = ({ day, cursor }: Place): string => (cursor === undefined ? day : `${day}.${cursor}`);

const PLACE = /^(\d{4}-\d{2}-\d{2})(?:\.([A-Za-z0-9_-]+))?$/;

/** Throws BadCursor. Nothing was accepted in days to come; an intake's clock may run ahead of ours by the margin. */
const placeIn = (scope: ShadowScope, text: string | undefined, nowMs: number): Place | undefined => {
  const last = utcDayOf(Math.min(dayMs(scope.toDay), nowMs + SKEW_MARGIN_MS));
  if (text === undefined) return last < scope.sinceDay ? undefined : { day: last };
  const [, day, cursor] = PLACE.exec(text) ?? [];
  const isDay = parseInstant(`${day}T00:00:00Z`).kind === 'ok';
  if (day === undefined || !isDay || day < scope.sinceDay || day > last) throw new BadCursor();
  return cursor === undefined ? { day } : { day, cursor };
};
