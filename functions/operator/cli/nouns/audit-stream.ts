/**
 * The material of an audit, delivery by delivery, a page at a time: of an event, of a destination, or of everything.
 *
 *   event ------------------------------> its deliveries
 *   destination --day by day, backwards--> pages of `recent`
 *   everything --each destination-------> the same; those that were deleted as well
 */
import type * as z from 'zod/mini';
import { type auditItem, auditPageAnswer } from '../../contract/audit.ts';
import { destinationPageAnswer } from '../../contract/destinations.ts';
import { path } from '../client.ts';
import type { Shell } from '../shell.ts';
import { FAILED, Stop, USAGE } from '../stop.ts';
import { get, readAs } from '../verb.ts';

export interface AuditScope {
  readonly event?: string;
  readonly destination?: string;
  readonly since?: string;
  readonly until?: string;
}

export type Seen = z.output<typeof auditItem>;

const DAY_MS = 86_400_000;
/** As far back as one list of recent deliveries goes. */
const DAYS_DEFAULT = 30;
const DAYS_MAX = 10_000;
const PAGE_ROWS = 50;

export async function* auditStream(shell: Shell, scope: AuditScope): AsyncGenerator<Seen> {
  if (scope.event !== undefined) {
    yield* ofEvent(shell, scope.event, scope.destination);
    return;
  }
  const days = daysOf(shell, scope);
  if (scope.destination !== undefined) {
    yield* ofDestination(shell, scope.destination, days);
    return;
  }
  for await (const destination of destinations(shell)) yield* ofDestination(shell, destination, days);
}

async function* ofEvent(shell: Shell, event: string, destination: string | undefined): AsyncGenerator<Seen> {
  const { items } = readAs(auditPageAnswer, await get(shell, path`/v1/events/${event}/audit`));
  for (const item of items) if (destination === undefined || item.destination === destination) yield item;
}

async function* ofDestination(shell: Shell, destination: string, days: readonly string[]): AsyncGenerator<Seen> {
  for (const day of days) {
    let cursor: string | undefined;
    do {
      const query = { destination, day, limit: PAGE_ROWS, cursor };
      const page = readAs(auditPageAnswer, await get(shell, '/v1/audit', query));
      yield* page.items;
      cursor = page.next;
    } while (cursor !== undefined);
  }
}

async function* destinations(shell: Shell): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const query = { deleted: 'include', cursor };
    const page = readAs(destinationPageAnswer, await get(shell, '/v1/destinations', query));
    // Of one whose settings cannot be read, the deliveries can.
    for (const { destination } of [...page.items, ...(page.unreadable ?? [])]) yield destination;
    cursor = page.next;
  } while (cursor !== undefined);
}

/** Where nothing was met: a name that nobody has must not read as a clean audit. Throws Stop. */
export const mustBeThere = async (shell: Shell, { event, destination }: AuditScope): Promise<void> => {
  if (destination === undefined) return;
  if (event === undefined) for await (const known of destinations(shell)) if (known === destination) return;
  const what = event === undefined ? `no destination ${destination}` : `no delivery of ${event} to ${destination}`;
  throw new Stop(FAILED, `not-found: there is ${what}`, { code: 'not-found', detail: `there is ${what}` });
};

/** From the latest day back to the first. */
const daysOf = (shell: Shell, { since, until }: AuditScope): readonly string[] => {
  const last = until === undefined ? Math.floor(shell.clock.nowMs() / DAY_MS) : dayNumber(until);
  const first = since === undefined ? last - DAYS_DEFAULT : dayNumber(since);
  if (first > last) throw new Stop(USAGE, '--since lies behind --until');
  if (last - first > DAYS_MAX) throw new Stop(USAGE, `--since is more than ${DAYS_MAX} days ago`);
  return Array.from({ length: last - first + 1 }, (_, back) => dayText(last - back));
};

const dayNumber = (day: string): number => Math.floor(new Date(`${day}T00:00:00Z`).getTime() / DAY_MS);
const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
