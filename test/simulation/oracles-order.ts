/** Who may do what, and in which order: judged from the places in the merged log, never from what a worker says. */

import type { Claimed, Delivery, Entry, Pending } from '../../functions/core/model.ts';
import { claimBy } from './oracles-effects.ts';
import {
  addedBy,
  CLOCK_WRONG_MS,
  claimOf,
  entriesOf,
  first,
  isFinal,
  isNewClaim,
  type Life,
  type RowWrite,
  rowAt,
  type Seen,
  type Work,
} from './seen.ts';

/** Said once more here: a judge that asked the code under test would believe its mistakes. */
const SKEW_MARGIN_MS = 5_000;
const RECHECK_FRESH_MS = 1_000;
const lapsesAfterMs = ({ claim }: Claimed): number => claim.leaseEndsAtMs + SKEW_MARGIN_MS;
const claimableFromMs = (row: Pending): number => {
  const atOnce = row.attempts === 0 && row.dueAtMs <= row.acceptedAtMs;
  return Math.max(atOnce ? 0 : row.dueAtMs, row.deferral?.untilMs ?? 0);
};

export const eachSend = (
  seen: Seen,
  defect: (life: Life, send: Life['sends'][number]) => string | undefined,
): string | undefined => first(seen.lives, (life) => first(life.sends, (send) => defect(life, send)));

export const claimBeforeSend = (seen: Seen): string | undefined =>
  eachSend(seen, (life, { by, at }) => {
    const claim = [...life.claims.values()].find((write) => write.by === by);
    if (claim === undefined || claim.at > at) return `${by} sends before its claim is written`;
    const last = entriesOf(claim.row).at(-1);
    if (last?.kind !== 'claimed' || last.attempt !== claimOf(claim.row)?.attempt)
      return `${by}: a claim without its entry`;
    return life.sends.some((other) => other.by === by && other.at < at) ? `${by} sends twice on one claim` : undefined;
  });

export const markBeforeSend = (seen: Seen): string | undefined =>
  eachSend(seen, (life, { by, at }) => {
    const mine = claimOf(claimBy(life, by));
    if (mine === undefined || mine.repeatSafe) return undefined;
    const marked = life.writes.some(
      (write) => write.at < at && claimOf(write.row)?.id === mine.id && claimOf(write.row)?.sendingAtMs !== undefined,
    );
    return marked ? undefined : `${by} sends without a mark where a repeat is not safe`;
  });

/** The latest look at the row before the call of the sender showed the worker's own claim, with time for an attempt. */
export const ownerSends = (seen: Seen): string | undefined =>
  eachSend(seen, (life, { by, at, atMs, clockMs, deadlineMs }) => {
    const mine = claimOf(claimBy(life, by));
    const look = seen.works.get(by)?.reads.findLast((read) => read.at < at);
    if (mine === undefined || claimOf(look?.row)?.id !== mine.id) {
      return `${by} sends, and its latest look showed another owner`;
    }
    if (mine.leaseEndsAtMs - clockMs < deadlineMs) return `${by} sends with too little lease left`;
    const stale = seen.clocksFit && look !== undefined && atMs - look.atMs > RECHECK_FRESH_MS + 20;
    return stale ? `${by} sends ${atMs - look.atMs} ms behind its re-check` : undefined;
  });

/** Whoever has sent records what came of it before it acknowledges; so does whoever has claimed, unless all is over. */
export const recordBeforeAck = ({ works, lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.claims.values(), (claim) => {
      const work = works.get(claim.by);
      const verdict = work?.verdict;
      const attempt = claimOf(claim.row)?.attempt;
      if (work === undefined || verdict?.status !== 200 || claim.at > verdict.at) return undefined;
      if (verdict.note === 'row-of-later-format') return undefined;
      const row = rowAt(life, verdict.at);
      const recorded = entriesOf(row).some((entry) => isOutcome(entry) && entry.attempt === attempt);
      const over = row !== undefined && isFinal(row) && work.sends.length === 0;
      return recorded || over
        ? undefined
        : `${claim.by} acknowledges, and the outcome of attempt ${attempt} of ${life.event} is not recorded`;
    }),
  );

const isOutcome = ({ kind }: Entry): boolean => kind === 'outcome' || kind === 'late-outcome';

/** A claim is made of a row that is due, or whose lease has lapsed by the clock of whoever claims. */
export const claimInTime = ({ lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, (write) => {
      const { before, row, by } = write;
      const claim = claimOf(row);
      if (!isNewClaim(write) || claim === undefined) return undefined;
      if (before === undefined) return `${by} makes a row that is claimed`;
      switch (before.status) {
        case 'pending':
          if (before.parking) return undefined;
          return claim.startedAtMs < claimableFromMs(before) ? `${by} claims ${life.event} before due` : undefined;
        case 'claimed':
          return claim.startedAtMs <= lapsesAfterMs(before)
            ? `${by} claims ${life.event} over a live lease`
            : undefined;
        case 'delivered':
        case 'cancelled':
        case 'quarantined':
          return `${by} claims ${life.event}, which is ${before.status}`;
      }
    }),
  );

/** With clocks that differ no more than the margin, nobody takes a claim over while its holder's lease truly runs. */
export const leaseRespected = ({ lives, clocksFit }: Seen): string | undefined => {
  if (!clocksFit) return undefined;
  return first(lives, (life) =>
    first(life.writes, (write) => {
      const held = claimOf(write.before);
      if (held === undefined || !isNewClaim(write)) return undefined;
      const holder = life.claims.get(held.id);
      if (holder === undefined) return undefined;
      const endsAtMs = held.leaseEndsAtMs - holder.skewMs;
      return write.atMs <= endsAtMs ? `${write.by} takes ${life.event} over while the lease runs` : undefined;
    }),
  );
};

/** By the clock of the writer, as it stood when it decided: that clock may have stepped before the write. */
const decidedAtMs = (write: RowWrite): number => addedBy(write).at(-1)?.atMs ?? write.atMs + write.skewMs;

/** Nobody but its holder ends a live claim; only the late success of an earlier attempt may. */
export const ownerWrites = ({ lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, (write) => {
      const { before, row, by } = write;
      const held = claimOf(before);
      if (before?.status !== 'claimed' || held === undefined || claimOf(row)?.id === held.id) return undefined;
      if (life.claims.get(held.id)?.by === by || decidedAtMs(write) > lapsesAfterMs(before)) return undefined;
      if (row.status === 'delivered' && row.by === 'late-outcome') return undefined;
      return `${by} ends the live claim of ${life.claims.get(held.id)?.by} on ${life.event}`;
    }),
  );

/** Nobody sends whose latest look fell upon a closed or paused gate, but for the one that may try it. */
export const pauseObeyed = (seen: Seen): string | undefined =>
  eachSend(seen, (life, { by, at, clockMs }) => {
    const work = seen.works.get(by);
    const look = work?.looks.findLast((one) => one.at < at);
    if (look === undefined) return `${by} sends and has not looked at the gate`;
    const gate = seen.gates.get(life.destination)?.findLast((write) => write.at < look.at)?.item;
    if (gate?.item !== 'gate') return undefined;
    if ((gate.closedUntilMs ?? 0) > clockMs) return `${by} sends to ${life.destination}, which is closed`;
    if (gate.pause === undefined) return undefined;
    const probes = gate.pause.probeAtMs !== undefined && work?.writes.some(({ item }) => item.item === 'gate');
    return probes ? undefined : `${by} sends to ${life.destination}, which is paused`;
  });

/** Waiting at a gate costs no attempt. */
export const waitingIsFree = ({ lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, ({ before, row, by }) => {
      if (before?.status !== 'pending' || row.status !== 'pending') return undefined;
      return row.attempts !== before.attempts || row.refunds !== before.refunds || row.budget !== before.budget
        ? `${by} makes ${life.event} pay for waiting`
        : undefined;
    }),
  );

const isHolders = (holder: string, by: string): boolean => holder.startsWith(by.padEnd(6, '-'));

/** A place is given back by its holder only, taken from another only when that one's lease is over, and always comes back. */
export const placesHold = ({ writes, ended, clocksFit }: Seen): string | undefined =>
  first(writes, ({ before, item, by, atMs, skewMs }) => {
    if (item.item !== 'slot' || before?.item !== 'slot' || before.holder === undefined) return undefined;
    if (isHolders(before.holder, by)) return undefined;
    if (item.holder === undefined) return `${by} gives back a place of ${before.holder}`;
    // A clock that steps back between decision and write makes the write look early.
    return atMs + skewMs + (clocksFit ? 0 : CLOCK_WRONG_MS) <= before.leaseEndsAtMs
      ? `${by} takes a place that ${before.holder} holds`
      : undefined;
  }) ??
  first(ended.items, (item) => {
    if (item.item !== 'slot' || item.holder === undefined) return undefined;
    // By the clock of whoever took it, which may be wrong.
    return item.leaseEndsAtMs > ended.restedAtMs + (clocksFit ? 0 : CLOCK_WRONG_MS)
      ? `the place of ${item.holder} does not come back`
      : undefined;
  });

/** No more requests at one moment than the destination allows, where no worker stands still behind the end of its lease. */
export const inFlightBounded = ({ plan, log, works, clocksFit }: Seen): string | undefined => {
  const isEdited = plan.acts.some(({ fault }) => fault === 'edit');
  if (isEdited || !clocksFit || [...works.values()].some(({ froze }) => froze)) return undefined;
  return first(plan.destinations, ({ id, concurrency }) => {
    if (concurrency === undefined) return undefined;
    const flying = new Set<string>();
    return first(log, (entry) => {
      if (entry.kind === 'send' && entry.about?.endsWith(` ${id}`)) flying.add(entry.by);
      if (entry.kind === 'answer' || entry.kind === 'crash') flying.delete(entry.by);
      return flying.size > concurrency
        ? `${flying.size} requests at once at ${id}, which takes ${concurrency}`
        : undefined;
    });
  });
};

/** A sweep, a drain, a turn of an operation and a tick send nothing; the first two and the tick change no outcome. */
export const sweepsOnlyLook = ({ works }: Seen): string | undefined =>
  first(works.values(), ({ by, push, sends, writes }) => {
    const kind = by.startsWith('t') ? 'tick' : kindOf(push?.body);
    if (kind === undefined || kind === 'deliver') return undefined;
    if (sends.length > 0) return `the ${kind} ${by} sends a request`;
    if (kind !== 'sweep' && kind !== 'drain' && kind !== 'tick') return undefined;
    return first(writes, ({ before, item }) => {
      if (before?.item !== 'delivery' || item.item !== 'delivery') return undefined;
      const same = before.status === item.status && before.journal.head === item.journal.head;
      return same ? undefined : `the ${kind} ${by} changes ${item.event} from ${before.status} to ${item.status}`;
    });
  });

const kinds = new Map<string, string | undefined>();

/** Bodies are few, and are asked for again and again. */
export const kindOf = (body: string | undefined): string | undefined => {
  if (body === undefined || kinds.has(body)) return kinds.get(body ?? '');
  const message: unknown = JSON.parse(body);
  const kind = typeof message === 'object' && message !== null && 'kind' in message ? message.kind : undefined;
  const text = typeof kind === 'string' ? kind : undefined;
  if (kinds.size < 10_000) kinds.set(body, text);
  return text;
};

/**
 * A later plan is not swallowed by the queue's memory of keys: one key names one plan, and a claim ends a plan. Whoever
 * publishes late what it had planned before that claim does no harm by it.
 */
export const keyOfPublishNew = ({ log, lives, works }: Seen): string | undefined => {
  const firsts = new Map<string, number>();
  return first(log, (entry) => {
    if (entry.kind !== 'publish' || kindOf(entry.body) !== 'deliver') return undefined;
    const since = firsts.get(entry.key);
    if (since === undefined) {
      if (entry.taken) firsts.set(entry.key, entry.at);
      return undefined;
    }
    const work = works.get(entry.by);
    // Who stood still may have read before it what it acts upon behind it; an operation asks for a row once, and no more.
    if (work?.froze || kindOf(work?.push?.body) === 'redrive') return undefined;
    const { event, destination } = JSON.parse(entry.body) as { event: string; destination: string };
    const life = lives.find((one) => one.event === event && one.destination === destination);
    const plannedAt = plannedBefore(work, { event, destination }, entry.at);
    const claimed = [...(life?.claims.values() ?? [])].find(({ at }) => at > since && at < plannedAt);
    return claimed
      ? `${entry.by} publishes ${event} under a key that was used before the claim of ${claimed.by}`
      : undefined;
  });
};

/** The place of what this worker has planned: its own latest write of the row, or, without one, its latest look at it. */
const plannedBefore = (
  work: Work | undefined,
  { event, destination }: Pick<Life, 'event' | 'destination'>,
  at: number,
): number => {
  const isIts = (row: Delivery): boolean => row.event === event && row.destination === destination;
  const written = work?.writes.findLast(({ item, at: place }) => place < at && item.item === 'delivery' && isIts(item));
  const seen = work?.reads.findLast((read) => read.at < at && isIts(read.row));
  return written?.at ?? seen?.at ?? -1;
};

/** Where nobody has decided anything, what a decision of a person has changed is missing its record. */
export const decisionsFirst = ({ lives, writes }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, (write) =>
      first(addedBy(write), ({ kind, decision, cause = '' }) => {
        if (kind !== 'redriven' && (kind !== 'decision' || decision === 'refuse')) return undefined;
        const id = cause.slice(2);
        const recorded = writes.some(({ item, at }) => {
          if (at >= write.at) return false;
          if (item.item === 'decision') return item.request === id && item.actor !== '' && item.reason !== '';
          return item.item === 'operation' && item.operation === id;
        });
        return recorded ? undefined : `${life.event} is changed by ${cause}, and no decision stands on record`;
      }),
    ),
  ) ??
  first(writes, ({ before, item, at }) => {
    if (item.item !== 'gate') return undefined;
    const known = before?.item === 'gate' ? (before.decided ?? []) : [];
    return first(
      (item.decided ?? []).filter((request) => !known.includes(request)),
      (request) => {
        const recorded = writes.some(
          (one) => one.at < at && one.item.item === 'decision' && one.item.request === request,
        );
        return recorded
          ? undefined
          : `the gate of ${item.destination} names ${request}, and no decision stands on record`;
      },
    );
  });
