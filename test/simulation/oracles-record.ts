/** The record: nothing in it changes or vanishes, it says why, and nothing that was accepted is missing from it. */
import type { Item } from '../../functions/core/items.ts';
import { verifyChain } from '../../functions/core/journal.ts';
import type { Delivery, Entry } from '../../functions/core/model.ts';
import { goesOnByMs, isAtRest } from './bounds.ts';
import { kindOf } from './oracles-order.ts';
import { isMessageOf } from './oracles-sweep.ts';
import {
  addedBy,
  CLOCK_WRONG_MS,
  claimOf,
  entriesOf,
  first,
  type Life,
  lastRow,
  type RowWrite,
  rowAt,
  type Seen,
} from './seen.ts';

const SKEW_MARGIN_MS = 5_000;
const PARKED_LOOK_MS = 3_600_000;
const SWEPT_LOOK_MS = 7_200_000;

export const finalStays = ({ lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, ({ before, row, by }) => {
      if (before?.status !== 'delivered' && before?.status !== 'cancelled') return undefined;
      return row.status === before.status && row.endedAtMs === before.endedAtMs
        ? undefined
        : `${by} makes ${life.event}, which was ${before.status}, ${row.status}`;
    }),
  );

export const journalGrows = ({ lives }: Seen): string | undefined =>
  first(lives, (life) => {
    const changed = first(life.writes, ({ before, row: after, by }) => {
      if (before === undefined)
        return after.version === 1 ? undefined : `${by} makes ${life.event} at version ${after.version}`;
      if (after.version !== before.version + 1)
        return `version ${before.version} of ${life.event} became ${after.version}`;
      if (after.payloadHash !== before.payloadHash) return `the payload hash of ${life.event} changed`;
      const same = before.journal.lines.every(({ text }, index) => after.journal.lines[index]?.text === text);
      return same ? undefined : `${by} changes a line of the journal of ${life.event}, or drops one`;
    });
    const row = lastRow(life);
    return (
      changed ?? (row && !verifyChain(row, row.payloadHash, row.journal) ? 'the chain does not verify' : undefined)
    );
  });

const isOutcome = ({ kind }: Entry): boolean => kind === 'outcome' || kind === 'late-outcome';

/** Attempts are numbered 1..n; each is opened once and closed once, and late at most once. */
export const attemptsAddUp = ({ lives }: Seen): string | undefined =>
  first(lives, (life) => {
    const row = lastRow(life);
    if (row === undefined) return undefined;
    const entries = entriesOf(row);
    const opened = entries.filter(({ kind }) => kind === 'claimed').map(({ attempt }) => attempt);
    if (opened.some((attempt, index) => attempt !== index + 1))
      return `attempts of ${life.event} are ${opened.join(', ')}`;
    if (opened.length !== row.attempts) return `${row.attempts} attempts of ${life.event}, ${opened.length} claims`;
    return first(opened, (attempt) => {
      const closed = entries.filter((entry) => isOutcome(entry) && entry.attempt === attempt);
      if (closed.filter(({ kind }) => kind === 'outcome').length > 1) return `attempt ${attempt} has two outcomes`;
      if (closed.filter(({ kind }) => kind === 'late-outcome').length > 1) return `attempt ${attempt} is late twice`;
      return closed.length === 0 && row.status !== 'claimed' && !cutShort(row, attempt)
        ? `attempt ${attempt} of ${life.event} has no outcome`
        : undefined;
    });
  });

/** A late success of an earlier attempt ends a row under the feet of a claim; that worker may have died since. */
const cutShort = (row: Delivery, attempt: number | undefined): boolean =>
  attempt === row.attempts && row.status === 'delivered' && row.by === 'late-outcome';

export const decidedOnce = ({ lives }: Seen): string | undefined =>
  first(lives, (life) => {
    const causes = entriesOf(lastRow(life)).flatMap(({ kind, decision, cause }) =>
      kind === 'redriven' || (kind === 'decision' && decision !== 'refuse') ? [cause] : [],
    );
    return new Set(causes).size < causes.length
      ? `one request stands twice in the journal of ${life.event}`
      : undefined;
  });

/** Every open row has a time at which a sweep looks, and that time has a bound. */
export const looksPlanned = ({ lives, clocksFit }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, (write) => {
      const latestMs = latestLookMs(write);
      const { row } = write;
      if (latestMs === undefined || (row.status !== 'pending' && row.status !== 'claimed')) return undefined;
      // Whoever appends behind another one has a clock of its own.
      return row.lookAfterMs > latestMs + (clocksFit ? 2 * SKEW_MARGIN_MS : CLOCK_WRONG_MS)
        ? `nobody looks at ${life.event} before ${row.lookAfterMs - write.atMs} ms, behind the bound of ${latestMs - write.atMs}`
        : undefined;
    }),
  );

const latestLookMs = ({ row, atMs, skewMs }: RowWrite): number | undefined => {
  const nowMs = atMs + skewMs;
  switch (row.status) {
    case 'claimed':
      return Math.max(row.claim.leaseEndsAtMs + SKEW_MARGIN_MS, nowMs + (row.sweeps > 0 ? SWEPT_LOOK_MS : 0));
    case 'pending': {
      const plannedMs = Math.max(row.dueAtMs, row.deferral?.untilMs ?? 0) + row.graceMs;
      const sweptMs = row.parking ? PARKED_LOOK_MS : 0;
      return Math.max(plannedMs, nowMs + Math.max(sweptMs, row.sweeps > 0 ? SWEPT_LOOK_MS : 0));
    }
    case 'delivered':
    case 'cancelled':
    case 'quarantined':
      return undefined;
  }
};

/** What waits for a person says truly why. */
export const reasonIsTrue = ({ lives, plan }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, ({ before, row, by }) => {
      if (row.status !== 'quarantined' || before?.status === 'quarantined') return undefined;
      const last = entriesOf(row).findLast((entry) => entry.kind === 'outcome')?.class;
      const holds: Readonly<Record<typeof row.reason, boolean>> = {
        budget: row.attempts - row.refunds >= row.budget || row.attempts >= 50,
        rejected: last === 'rejected',
        gone: last === 'gone',
        'in-doubt': row.doubt !== 'none' || last === 'in-doubt',
        'key-expired': row.keyFromMs !== undefined,
        horizon: last !== 'delivered',
        blocked: last === 'not-sent',
        'payload-changed': plan.strangers.some(({ kind }) => kind === 'payload-changed'),
        'no-destination': plan.acts.some(({ fault }) => fault === 'delete'),
      };
      return holds[row.reason] ? undefined : `${by} holds ${life.event} as ${row.reason}, which is not so`;
    }),
  );

/** What was accepted stands in the ledger, with every delivery; nothing else does. */
export const acceptedStands = ({ log, lives, plan }: Seen): string | undefined =>
  first(log, (entry) => {
    if (entry.kind !== 'told' || entry.what !== 'accepted') return undefined;
    const event = plan.events.find(({ id }) => id === entry.event);
    if (event === undefined) return undefined;
    // A whole event in the queue for a destination that is gone stays among the dead letters.
    if (entry.via === 'queue' && plan.acts.some(({ fault }) => fault === 'delete')) return undefined;
    const before = (life: Life): boolean =>
      entry.via === 'queue' || (life.writes[0]?.at ?? Number.POSITIVE_INFINITY) < entry.at;
    const missing = event.destinations.find(
      (destination) =>
        !lives.some((life) => life.event === event.id && life.destination === destination && before(life)),
    );
    return missing === undefined
      ? undefined
      : `${event.id} was accepted by ${entry.via}, and stands not for ${missing}`;
  });

/**
 * Once nothing goes wrong any more, every row that is open goes on within its bound, and in the end all are at rest.
 * A look of a sweep is no step forward: it puts the next look off and leaves the row as it was.
 */
export const restInTime = (seen: Seen): string | undefined => {
  const { ended, lives, gates, plan, log, quietAt, clocksFit } = seen;
  if (!ended.ended) return 'the history does not come to an end';
  const quietAtMs = log[quietAt]?.atMs ?? 0;
  const gateAt = (destination: string, at: number) => {
    const item = gates.get(destination)?.findLast((write) => write.at < at)?.item;
    return item?.item === 'gate' ? item : undefined;
  };
  return first(lives, (life) => {
    const steps = life.writes.filter((write) => write.before === undefined || !isLook(write));
    return first(steps, (step) => {
      const next = steps[steps.indexOf(step) + 1];
      if ((next?.at ?? log.length) < quietAt) return undefined;
      const endAtMs = next?.atMs ?? ended.restedAtMs;
      const fromAt = Math.max(step.at, quietAt) + 1;
      if (next === undefined) {
        return isAtRest(step.row, gateAt(life.destination, log.length), ended.restedAtMs)
          ? undefined
          : `${life.event} to ${life.destination} is still ${step.row.status}`;
      }
      const gate = gateAt(life.destination, fromAt);
      // Whoever opens a gate later begins the time anew.
      const turnedMs = gates.get(life.destination)?.findLast(({ at }) => at < next.at)?.atMs ?? 0;
      const fromMs = Math.max(
        quietAtMs,
        step.atMs,
        gate?.pause || (step.row.status === 'pending' && step.row.parking) ? turnedMs : 0,
      );
      const byMs = (at: number): number => {
        const latest = rowAt(life, at) ?? step.row;
        const boundMs = goesOnByMs(latest, { gate, plan: life.plan, fromMs, decided: plan.acts.length > 0 });
        // A sweep by a clock that is wrong has left its lease on the shard for as long as the clock is wrong.
        return boundMs + (clocksFit ? 0 : CLOCK_WRONG_MS);
      };
      if (endAtMs <= byMs(fromAt)) return undefined;
      const boundMs = byMs(isHeldBack(seen, life, next.at) ? next.at : fromAt);
      return endAtMs > boundMs
        ? `${life.event} to ${life.destination}, ${step.row.status}, goes on ${Math.round((endAtMs - boundMs) / 1_000)} s behind its bound`
        : undefined;
    });
  });
};

/**
 * A look that was written in the quiet time, for a message that was published before it: by its own worker, which stood
 * still in between, or by an earlier one of the same sweep, under the same key. What befell that message did so before
 * the quiet, so the look behind this one counts.
 */
const isHeldBack = ({ log, quietAt, works }: Seen, life: Life, untilAt: number): boolean => {
  const looks = life.writes.filter((write) => write.at > quietAt && write.at < untilAt && isLook(write));
  const messages = log
    .slice(0, untilAt)
    .flatMap((entry, at) => (entry.kind === 'publish' && isMessageOf(life, entry.body) ? [{ ...entry, at }] : []));
  const before = messages.filter(({ at, taken }) => at < quietAt && taken);
  const isSweep = (by: string): boolean => kindOf(works.get(by)?.push?.body) === 'sweep';
  return looks.some((look) =>
    before.some(
      ({ by, key }) =>
        by === look.by || (isSweep(by) && messages.some((late) => late.by === look.by && late.key === key)),
    ),
  );
};

const isLook = ({ before, row }: RowWrite): boolean => {
  if (before === undefined || before.status !== row.status || before.journal.head !== row.journal.head) return false;
  if (row.status === 'claimed') return claimOf(before)?.sendingAtMs === row.claim.sendingAtMs;
  if (before.status !== 'pending' || row.status !== 'pending') return false;
  return before.parking?.sinceMs === row.parking?.sinceMs && before.deferral?.untilMs === row.deferral?.untilMs;
};

/** Other content under one id is told so and leaves a record; the same content never does. */
export const conflictsKept = ({ log, plan, writes }: Seen): string | undefined =>
  first(plan.events, ({ id }) => {
    const told = log.filter((entry) => entry.kind === 'told' && entry.event === id && entry.via === 'api');
    const groupsOf = (what: string) =>
      new Set(told.flatMap((entry) => (entry.kind === 'told' && entry.what === what ? [groupOf(entry.sense)] : [])));
    if (groupsOf('accepted').size > 1) return `two contents of ${id} were accepted`;
    const kept = writes.some(({ item }) => item.item === 'conflict' && item.event === id);
    const wrong = [...groupsOf('conflict')].find((group) => groupsOf('accepted').has(group));
    if (wrong !== undefined) return `the content of ${id} was accepted, and its repeat was called a conflict`;
    if (groupsOf('conflict').size > 0 && !kept) return `a conflict of ${id} left no record`;
    const submitted = log.flatMap((entry) =>
      entry.kind === 'submitted' && entry.event === id ? [groupOf(entry.sense)] : [],
    );
    return kept && new Set(submitted).size < 2
      ? `${id} has a conflict on record, and only one content came`
      : undefined;
  });

const groupOf = (sense: 'first' | 'again' | 'conflict'): string => (sense === 'conflict' ? 'other' : 'same');

/** No push is acknowledged before the ledger has it, and what does not come from our queue writes nothing. */
export const durableBeforeAck = ({ works, lives, writes, plan }: Seen): string | undefined =>
  first(works.values(), ({ by, push, verdict, writes: own }) => {
    if (push === undefined || verdict === undefined) return undefined;
    if (!push.authentic) {
      if (verdict.status !== 401) return `${by} answers a forged push with ${verdict.status}`;
      return own.length > 0 ? `${by} writes for a forged push` : undefined;
    }
    if (verdict.status !== 200) return undefined;
    const stands = (event: string, destination: string): boolean =>
      lives.some(
        (life) => life.event === event && life.destination === destination && (life.writes[0]?.at ?? 0) < verdict.at,
      );
    const filed = writes.some(({ item, at }) => item.item === 'poison' && at < verdict.at);
    const message = JSON.parse(push.body) as Record<string, unknown>;
    switch (kindOf(push.body)) {
      case 'deliver':
        if (message['format'] !== 1) return `${by} acknowledges a message of a later format`;
        return filed || stands(String(message['event']), String(message['destination']))
          ? undefined
          : `${by} acknowledges ${push.about}, which does not stand`;
      case 'event': {
        const { id } = message['event'] as { id: string };
        const event = plan.events.find((one) => one.id === id);
        const conflict = writes.some(
          ({ item, at }) => item.item === 'conflict' && item.event === id && at < verdict.at,
        );
        const whole = event?.destinations.every((destination) => stands(id, destination)) ?? true;
        return whole || conflict ? undefined : `${by} acknowledges the event ${id}, which does not stand`;
      }
      case 'teleport':
        return `${by} acknowledges a message of a kind that it does not know`;
      default:
        return undefined;
    }
  });

/**
 * An operation acts on no more than its plan, and says of each message what it did. What a planner's late write puts into
 * a hole of the plan when that is made is nobody's: it is not counted here.
 */
export const operationsAddUp = ({ ended, writes }: Seen): string | undefined =>
  first(ended.items, (item) => {
    if (item.item !== 'operation') return undefined;
    const plannedAt = writes.find(
      ({ item: one }) => isOf(one, item) && one.item === 'operation' && one.state === 'planned',
    )?.at;
    const planned = new Set(
      writes.flatMap(({ item: one, at }) =>
        one.item === 'operation-message' && isOf(one, item) && at < (plannedAt ?? 0) ? [one.position] : [],
      ),
    );
    const messages = ended.items.filter(
      (one) =>
        one.item === 'operation-message' &&
        isOf(one, item) &&
        planned.has(one.position) &&
        one.position < item.messages,
    );
    if (messages.length > item.limit)
      return `an operation of ${messages.length} messages over its limit of ${item.limit}`;
    const open = messages.find((one) => one.item === 'operation-message' && one.action === undefined);
    return item.state === 'done' && open !== undefined ? 'an operation is done, and has not acted on all' : undefined;
  });

const isOf = (one: Item, { operation }: { readonly operation: string }): boolean =>
  (one.item === 'operation' || one.item === 'operation-message') && one.operation === operation;

/** The stored records say what was written; what newer code has added is still there. */
export const recordsAreWhole = ({ ended }: Seen): string | undefined => ended.torn[0];

export const noBug = ({ log }: Seen): string | undefined =>
  first(log, (entry) => (entry.kind === 'bug' ? `${entry.by}: ${entry.text}` : undefined));

/** What a person asked for is said in the journal by the request's own name, and a claim names what it is made of. */
export const writesAreSigned = ({ lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, (write) =>
      first(addedBy(write), (entry) => {
        if (entry.kind === 'outcome' && entry.cause === undefined) return undefined;
        if (entry.kind === 'late-outcome') return undefined;
        if (entry.cause === undefined) return `${life.event}: an entry ${entry.kind} says not why`;
        const claim = claimOf(write.row);
        return entry.kind === 'claimed' && claim?.attempt !== entry.attempt
          ? `${life.event}: a claim of another attempt`
          : undefined;
      }),
    ),
  );
