/** What a sweep may do with a row: look when its time has come, ask for a message, and put the next look off. */
import { kindOf } from './oracles-order.ts';
import { first, type Life, type RowWrite, type Seen } from './seen.ts';

/** The first step is a quarter of an hour; a worker needs a little of it between its decision and its write. */
const STEP_MS_MIN = 10 * 60_000;
/** Who has woken a parked row for a probe looks again when the next one may go, in five minutes. */
const PROBE_STEP_MS_MIN = 3 * 60_000;

const eachLook = (seen: Seen, defect: (life: Life, write: RowWrite) => string | undefined): string | undefined =>
  first(seen.lives, (life) =>
    first(life.writes, (write) =>
      !write.newer && kindOf(seen.works.get(write.by)?.push?.body) === 'sweep' ? defect(life, write) : undefined,
    ),
  );

/** It goes by the row that it has loaded, and not by what an index has said of it. */
export const sweepWaits = (seen: Seen): string | undefined =>
  eachLook(seen, (life, { before, by, atMs, skewMs }) => {
    if (!seen.clocksFit || (before?.status !== 'pending' && before?.status !== 'claimed')) return undefined;
    return before.lookAfterMs > atMs + skewMs ? `${by} looks at ${life.event} before its time` : undefined;
  });

/** Nobody puts a look off for a message that the queue does not have. */
export const sweepPublishes = (seen: Seen): string | undefined =>
  eachLook(seen, (life, write) => {
    const { before, row, by, at } = write;
    if (before === undefined || !asksForMessage(write)) return undefined;
    const has = seen.log.some(
      (entry) =>
        entry.kind === 'publish' && entry.taken && entry.by === by && entry.at < at && isMessageOf(life, entry.body),
    );
    return has ? undefined : `${by} puts ${row.event} off, and has published nothing`;
  });

const asksForMessage = ({ before, row }: RowWrite): boolean => {
  if (before?.status !== 'pending' && before?.status !== 'claimed') return false;
  if (row.status !== 'pending' && row.status !== 'claimed') return false;
  return row.sweeps > before.sweeps || (before.status === 'pending' && before.parking === undefined);
};

/** A message that asks for an attempt of this delivery. */
export const isMessageOf = ({ event, destination }: Life, body: string): boolean => {
  if (kindOf(body) !== 'deliver') return false;
  const message = JSON.parse(body) as { readonly event: string; readonly destination: string };
  return message.event === event && message.destination === destination;
};

/** What was published is not looked at again with every tick. */
export const sweepStepsBack = (seen: Seen): string | undefined =>
  eachLook(seen, (life, { before, row, by, atMs, skewMs }) => {
    if (!seen.clocksFit || seen.works.get(by)?.froze !== false) return undefined;
    if ((row.status !== 'pending' && row.status !== 'claimed') || row.sweeps <= (before?.sweeps ?? 0)) return undefined;
    const isParked = row.status === 'pending' && row.parking !== undefined;
    return row.lookAfterMs < atMs + skewMs + (isParked ? PROBE_STEP_MS_MIN : STEP_MS_MIN)
      ? `${by} publishes ${life.event}, and looks again in ${row.lookAfterMs - atMs - skewMs} ms`
      : undefined;
  });
