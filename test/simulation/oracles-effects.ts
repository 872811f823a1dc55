/** What the customer gets: one recorded success, one effect, a finite number of requests, always the same one. */
import type { Entry } from '../../functions/core/model.ts';
import type { EntryOf } from './log.ts';
import {
  addedBy,
  claimOf,
  entriesOf,
  first,
  isFinal,
  type Life,
  lastRow,
  type RowWrite,
  rowAt,
  type Seen,
} from './seen.ts';

const REFUNDS_MAX = 5;
const isSuccess = (status: number | undefined): boolean => status !== undefined && status >= 200 && status <= 299;

export const oneSuccess = ({ lives }: Seen): string | undefined =>
  first(lives, (life) => {
    const ends = life.writes.filter(({ before, row }) => row.status === 'delivered' && before?.status !== 'delivered');
    if (ends.length > 1) return `${ends.length} writes made ${life.event} to ${life.destination} delivered`;
    const recorded = entriesOf(lastRow(life)).filter(
      (entry) => (entry.kind === 'outcome' && entry.class === 'delivered') || entry.decision === 'resolve-delivered',
    );
    return recorded.length > 1 ? `${recorded.length} successes of ${life.event} in the journal` : undefined;
  });

/** A person who accepts a second effect, or says that nothing arrived, answers for one more each time. */
const acceptedBy = ({ log }: Seen, life: Life): number =>
  log.filter((entry) => {
    if (entry.kind !== 'asked') return false;
    const { deed } = entry;
    if (deed.do === 'operation') return deed.acceptSecondEffect;
    if (deed.do !== 'redrive' && deed.do !== 'resolve') return false;
    const isIts = deed.event === life.event && deed.destination === life.destination;
    return isIts && (deed.do === 'redrive' ? deed.acceptSecondEffect : deed.as === 'not-delivered');
  }).length;

export const oneEffect = (seen: Seen): string | undefined =>
  first(seen.lives, (life) => {
    // What a destination forgets at a time of its own is kept apart by clocks alone.
    if (life.plan?.keys === 'forgets-after' && !seen.clocksFit) return undefined;
    const effects = life.arrivals.filter(({ effect }) => effect).length;
    return effects > 1 + acceptedBy(seen, life)
      ? `${effects} effects of ${life.event} at ${life.destination}`
      : undefined;
  });

/** An attempt that may have arrived, and of which no failure is on record, is not sent again where that is not safe. */
export const doubtIsHeld = (seen: Seen): string | undefined =>
  first(seen.lives, (life) =>
    first(life.sends, (send) => {
      const claim = claimOf(claimBy(life, send.by));
      const now = entriesOf(rowAt(life, send.at));
      return first(life.sends, (earlier) => {
        if (earlier.at >= send.at || earlier.by === send.by) return undefined;
        const before = claimOf(claimBy(life, earlier.by));
        if (before === undefined || (before.repeatSafe && claim?.repeatSafe !== false)) return undefined;
        const left = life.arrivals.some((arrival) => arrival.by === earlier.by && arrival.at < send.at);
        if (!left || now.some((entry) => entry.attempt === before.attempt && isCertainFailure(entry))) return undefined;
        const decided = life.writes.some(
          (write) => write.at > earlier.at && write.at < send.at && addedBy(write).some(isOfPerson),
        );
        return decided
          ? undefined
          : `attempt ${before.attempt} of ${life.event} may have arrived, and it is sent again`;
      });
    }),
  );

export const isOfPerson = (entry: Entry): boolean =>
  entry.kind === 'redriven' || (entry.kind === 'decision' && entry.decision !== 'refuse');

const CERTAIN: readonly (Entry['class'] | undefined)[] = [
  'failed',
  'throttled',
  'rejected',
  'gone',
  'not-sent',
  'withheld',
];
const isCertainFailure = (entry: Entry): boolean =>
  (entry.kind === 'outcome' || entry.kind === 'late-outcome') && CERTAIN.includes(entry.class);

export const claimBy = (life: Life, by: string) => [...life.claims.values()].find((write) => write.by === by)?.row;

export const successIsTrue = ({ lives, log }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, ({ before, row, at, by }) => {
      if (row.status !== 'delivered' || before?.status === 'delivered' || row.by === 'decision') return undefined;
      const told = log.some(
        (entry) => entry.kind === 'answer' && entry.by === by && entry.at < at && isSuccess(entry.status),
      );
      return told ? undefined : `${life.event} is recorded as delivered by ${by}, which had no 2xx`;
    }),
  );

/** Who knows of a 2xx and acknowledges has recorded it: the row is final from then on. */
export const successIsKept = ({ works, lives }: Seen): string | undefined =>
  first(works.values(), ({ by, answers, verdict, push }) => {
    const success = answers.find(({ status }) => isSuccess(status));
    if (success === undefined || verdict?.status !== 200) return undefined;
    // What newer code has taken over is not for this code to write.
    if (verdict.note === 'row-of-later-format') return undefined;
    const life = lives.find(({ event, destination }) => `${event} ${destination}` === push?.about);
    const row = life && rowAt(life, verdict.at);
    return row && isFinal(row) ? undefined : `${by} had a 2xx, acknowledged, and the row is ${row?.status}`;
  });

export const budgetHolds = ({ lives }: Seen): string | undefined =>
  first(lives, ({ event, writes, arrivals }) => {
    const [begun] = writes;
    const row = writes.at(-1)?.row;
    if (begun === undefined || row === undefined) return undefined;
    if (arrivals.length > row.budget) return `${arrivals.length} requests of ${event} on a budget of ${row.budget}`;
    if (arrivals.length > row.attempts) return `${arrivals.length} requests of ${event}, ${row.attempts} attempts`;
    const granted = entriesOf(row)
      .filter(({ kind }) => kind === 'redriven')
      .reduce((sum, { grant }) => sum + (grant ?? 0), 0);
    if (row.budget !== begun.row.budget + granted) return `the budget of ${event} grew without a grant`;
    const over = writes.find(({ row: one }) => one.attempts - one.refunds > one.budget || one.refunds > REFUNDS_MAX);
    return over && `${over.row.attempts} attempts of ${event}, ${over.row.refunds} refunds, budget ${over.row.budget}`;
  });

/** A unit comes back for each attempt of which no byte has left, up to the bound, and for no other. */
export const refundsFair = ({ lives }: Seen): string | undefined =>
  first(lives, ({ event, writes }) => first(writes, (write) => refundDefect(event, write)));

const refundDefect = (event: string, write: RowWrite): string | undefined => {
  const { before, row } = write;
  const outcome = addedBy(write).find(({ kind }) => kind === 'outcome');
  if (before === undefined || outcome === undefined || write.newer) return undefined;
  const unsent = outcome.class === 'withheld' || outcome.class === 'abandoned';
  const wanted = unsent ? Math.min(before.refunds + 1, REFUNDS_MAX) : before.refunds;
  return row.refunds === wanted
    ? undefined
    : `${row.refunds} refunds of ${event} behind an attempt ${outcome.class}, not ${wanted}`;
};

/** The same key and the same bytes on every attempt, the bytes that were handed in; no two deliveries share a key. */
export const sameRequest = (seen: Seen): string | undefined => {
  const owners = new Map<string, string>();
  return first(seen.lives, (life) => {
    const name = `${life.event} ${life.destination}`;
    const event = seen.plan.events.find(({ id }) => id === life.event);
    const known = event && [event.payload, event.again?.payload, event.conflict?.payload];
    const [one] = life.arrivals;
    return first(life.arrivals, ({ key, body }) => {
      if (key !== one?.key || body !== one.body) return `two attempts of ${name} differ in key or body`;
      if (known !== undefined && !known.includes(body)) return `${name} is sent with other bytes than were handed in`;
      if ((owners.get(key) ?? name) !== name) return `${name} shares its key with ${owners.get(key)}`;
      owners.set(key, name);
      return undefined;
    });
  });
};

const GATEWAYS: readonly number[] = [502, 504, 520, 524, 527, 598, 599];

/** What an answer means, said once more. Of a 503 it counts how long it asks for, which others judge. */
const meaningOf = (
  { status, text }: EntryOf<'answer'>,
  repeatSafe: boolean,
  rejectOn: readonly number[],
): readonly Entry['class'][] => {
  if (status === undefined) return [text.startsWith('not-sent') ? 'not-sent' : 'in-doubt'];
  if (isSuccess(status)) return ['delivered'];
  if (status === 410) return ['gone'];
  if (!repeatSafe && GATEWAYS.includes(status)) return ['in-doubt'];
  if (status === 422 || rejectOn.includes(status)) return ['rejected'];
  if ([408, 423, 425, 429].includes(status)) return ['throttled'];
  return status === 503 ? ['failed', 'throttled'] : ['failed'];
};

/** What is recorded of an attempt is what its worker was told. */
export const classIsTrue = ({ lives, works }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.claims.values(), ({ by, row, newer }) => {
      const answer = works.get(by)?.answers.at(-1);
      const claim = claimOf(row);
      const entry = entriesOf(lastRow(life)).find(
        (one) =>
          (one.kind === 'outcome' || one.kind === 'late-outcome') &&
          one.attempt === claim?.attempt &&
          isBy(life, one, by),
      );
      if (answer === undefined || claim === undefined || entry === undefined || newer) return undefined;
      const meaning = meaningOf(answer, claim.repeatSafe, life.plan?.rejectOn ?? []);
      return meaning.includes(entry.class)
        ? undefined
        : `${by} was told ${answer.text} by ${life.destination}, and records ${entry.class}`;
    }),
  );

/** Late is what comes when another has the claim: whoever still has it settles its own attempt. */
export const lateIsLate = ({ lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, (write) => {
      const held = claimOf(write.before);
      const late = addedBy(write).find(({ kind }) => kind === 'late-outcome');
      return late !== undefined && held !== undefined && late.attempt === held.attempt
        ? `${write.by} records attempt ${held.attempt} of ${life.event} as late, and its claim still stands`
        : undefined;
    }),
  );

/** Somebody else may have closed the attempt before. */
const isBy = (life: Life, { writeId }: Entry, by: string): boolean =>
  life.writes.some((write) => write.by === by && addedBy(write).some((entry) => entry.writeId === writeId));

const UNSENT: readonly (Entry['class'] | undefined)[] = ['withheld', 'abandoned', 'not-sent'];

/** What is recorded as never having left has never arrived, also later. */
export const certaintyIsTrue = ({ lives }: Seen): string | undefined =>
  first(lives, (life) =>
    first(entriesOf(lastRow(life)), (entry) => {
      if ((entry.kind !== 'outcome' && entry.kind !== 'late-outcome') || !UNSENT.includes(entry.class))
        return undefined;
      const claim = [...life.claims.values()].find(({ row }) => claimOf(row)?.attempt === entry.attempt);
      const arrived = life.arrivals.some(({ by }) => by === claim?.by);
      return arrived
        ? `attempt ${entry.attempt} of ${life.event} is recorded as ${entry.class}, and it arrived`
        : undefined;
    }),
  );

/** Never earlier than the destination asked for, and never at once. */
export const retryInTime = ({ lives, works }: Seen): string | undefined =>
  first(lives, (life) =>
    first(life.writes, (write) => {
      const { row, by } = write;
      const outcome = addedBy(write).find(({ kind }) => kind === 'outcome');
      if (row.status !== 'pending' || outcome === undefined || row.parking || row.deferral) return undefined;
      if (outcome.class !== 'failed' && outcome.class !== 'throttled' && outcome.class !== 'not-sent') return undefined;
      if (row.dueAtMs < outcome.atMs + 1_000) return `the next attempt of ${life.event} is due at once`;
      const answer = works.get(by)?.answers.at(-1);
      const askedMs = askedOf(answer);
      return askedMs !== undefined && answer !== undefined && row.dueAtMs < answer.clockMs + askedMs
        ? `${life.event} is due before the destination asked for it`
        : undefined;
    }),
  );

const askedOf = (answer: EntryOf<'answer'> | undefined): number | undefined => {
  const [value] = answer?.retryAfter ?? [];
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) * 1_000 : undefined;
};

/** No connection but to a public address, no request but to the destination's own, each as its receiver checks it. */
export const rightAddress = ({ log }: Seen): string | undefined =>
  first(log, (entry) => {
    if (entry.kind === 'connect' && entry.address !== '93.184.215.14') return `a connection to ${entry.address}`;
    if (entry.kind === 'arrive' && entry.fault !== undefined) return `a request arrives, and ${entry.fault}`;
    if (entry.kind !== 'send') return undefined;
    const wanted = `https://${entry.about?.split(' ').at(-1)}.example/hook`;
    return entry.url === wanted ? undefined : `a request for ${wanted} goes to ${entry.url}`;
  });
