/** What rests on a destination's memory of keys, and what nobody can know. */
import { claimBy, isOfPerson } from './oracles-effects.ts';
import { eachSend } from './oracles-order.ts';
import { addedBy, claimOf, entriesOf, first, isFinal, type Life, rowAt, type Seen } from './seen.ts';

/** Said once more here: a judge that asked the code under test would believe its mistakes. */
const SKEW_MARGIN_MS = 5_000;
const CONNECT_MS = 5_000;

/** Whatever may have arrived stays in doubt until it is known what came of it, or a person answers for it. */
export const doubtStays = ({ lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, (write) => {
      const { before, row, by } = write;
      if (before === undefined || write.newer || isFinal(row)) return undefined;
      if (addedBy(write).some(({ decision }) => decision === 'resolve-not-delivered') && row.doubt !== 'none') {
        return `a person says that ${life.event} did not arrive, and it stays in doubt`;
      }
      if (addedBy(write).some(isOfPerson)) return undefined;
      if (DOUBTS.indexOf(row.doubt) < DOUBTS.indexOf(before.doubt)) {
        return `${by} makes ${life.event}, of which the doubt was ${before.doubt}, ${row.doubt}`;
      }
      const held = claimOf(before);
      const opened = addedBy(write).some((entry) => entry.kind === 'outcome' && entry.class === 'in-doubt');
      if (held === undefined || !opened) return undefined;
      const wanted = held.repeatSafe && before.doubt !== 'unsafe' ? 'safe' : 'unsafe';
      return row.doubt === wanted
        ? undefined
        : `${by} calls the doubt of ${life.event} ${row.doubt}, and it is ${wanted} by the claim`;
    }),
  );

const DOUBTS = ['none', 'safe', 'unsafe'] as const;

/** The life of a key begins with the first attempt that may have arrived, and begins anew by a person only. */
export const keyLifeStays = ({ lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, (write) => {
      const { before, row, by } = write;
      if (before?.keyFromMs === undefined || write.newer || addedBy(write).some(isOfPerson)) return undefined;
      return row.keyFromMs === before.keyFromMs
        ? undefined
        : `${by} has the life of the key of ${life.event} begin again`;
    }),
  );

/** No claim is made of a delivery whose key the destination has forgotten by then. */
export const keyIsKnown = ({ lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.claims.values(), ({ row, by, newer }) => {
      const claim = claimOf(row);
      if (newer || life.plan?.keys !== 'forgets-after' || row.keyFromMs === undefined) return undefined;
      if (claim?.repeatSafe !== true) return undefined;
      return claim.startedAtMs >= row.keyFromMs + life.plan.forgetsAfterHours * 3_600_000
        ? `${by} claims ${life.event}, of which the key is forgotten`
        : undefined;
    }),
  );

/** No request leaves that could arrive when the destination has forgotten the key, with a slow connection and another clock. */
export const keyInTime = (seen: Seen): string | undefined =>
  eachSend(seen, (life, { by, at, clockMs }) => {
    const { plan } = life;
    const keyFromMs = keyFromOf(life, at);
    if (plan?.keys !== 'forgets-after' || keyFromMs === undefined) return undefined;
    if (claimOf(claimBy(life, by))?.repeatSafe !== true) return undefined;
    const leftMs = keyFromMs + plan.forgetsAfterHours * 3_600_000 - clockMs;
    return leftMs < CONNECT_MS + SKEW_MARGIN_MS
      ? `${by} sends ${life.event} ${leftMs} ms before its key is forgotten`
      : undefined;
  });

/**
 * When the key of this delivery was first seen there, by the claim of the first attempt that has arrived. The row's own
 * word is not asked, unless a person has answered for what was before.
 */
const keyFromOf = (life: Life, at: number): number | undefined => {
  const row = rowAt(life, at);
  if (entriesOf(row).some(isOfPerson)) return row?.keyFromMs;
  const arrived = life.arrivals.filter((arrival) => arrival.at < at);
  return arrived.map(({ by }) => claimOf(claimBy(life, by))?.startedAtMs).find((fromMs) => fromMs !== undefined);
};
