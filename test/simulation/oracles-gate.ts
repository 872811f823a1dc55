/** What is due to a destination: who may knock at its gate, what its own word changes there, and whose turn it is. */
import type { Gate } from '../../functions/core/items.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { START_MS } from './clockwork.ts';
import { FAULTS, type FaultName } from './fault-classes.ts';
import { addedBy, CLOCK_WRONG_MS, first, isNewClaim, type Life, type RowWrite, type Seen, type Work } from './seen.ts';

const SLOT_GOOD_MS = 4_000;
const RATE_BURST_MS = 1_000;
const CLOSED_MS_MAX = 7 * 86_400_000;
/** Two clocks, and the way from an answer to its write. */
const SLACK_MS = 60_000;

const gateAt = (seen: Seen, destination: string, at: number): Gate | undefined => {
  const write = seen.gates.get(destination)?.findLast((one) => one.at < at);
  return write?.item.item === 'gate' ? write.item : undefined;
};

/** A gate that newer code has written is left to newer code. */
const isNewers = ({ gates }: Seen, destination: string, at: number): boolean =>
  gates.get(destination)?.findLast((write) => write.at < at)?.newer ?? false;

/** What a destination says is no fault of those who have to do something about it. */
const isAnswer = (fault: FaultName): boolean => FAULTS[fault].site === 'answer';

/** Those that have acknowledged while nothing at all went wrong: they have done all that was to be done. */
const carriedOut = (seen: Seen, { by, newer, row }: RowWrite): Work | undefined =>
  newer ? undefined : untroubled(seen, by, row.destination);

const untroubled = (seen: Seen, by: string, destination: string): Work | undefined => {
  const { works, log, plan } = seen;
  const work = works.get(by);
  if (work === undefined || work.crashed || work.froze) return undefined;
  const { push, verdict } = work;
  if (push === undefined || verdict?.status !== 200) return undefined;
  const wentWrong = log.some(
    (entry) => entry.kind === 'fault' && !isAnswer(entry.fault) && entry.at > push.at && entry.at < verdict.at,
  );
  // What is away for a while is a fault of the plan, and stands nowhere else.
  const away = plan.outages.some(
    ({ destination, fromMs, untilMs }) =>
      destination === undefined && push.atMs < START_MS + untilMs && verdict.atMs >= START_MS + fromMs,
  );
  return wentWrong || away || isNewers(seen, destination, verdict.at) ? undefined : work;
};

const eachWrite = (seen: Seen, defect: (life: Life, write: RowWrite) => string | undefined): string | undefined =>
  first(seen.lives, (life) => first(life.writes, (write) => defect(life, write)));

/** A gate that was seen closed is not passed: a claim is made only behind a look at an open one, or by the probe. */
export const claimAtOpenGate = (seen: Seen): string | undefined =>
  eachWrite(seen, (life, write) => {
    if (!isNewClaim(write) || write.newer) return undefined;
    const work = seen.works.get(write.by);
    const look = work?.looks.findLast((one) => one.at < write.at);
    if (look === undefined) return `${write.by} claims, and has not looked at the gate`;
    const gate = gateAt(seen, life.destination, look.at);
    if (gate?.pause === undefined) return undefined;
    const probes = gate.pause.probeAtMs !== undefined && isProbe(work, write.at);
    return probes ? undefined : `${write.by} claims a delivery to ${life.destination}, which it has seen paused`;
  });

/** It has moved the time of the next probe by its own write. */
const isProbe = (work: Work | undefined, beforeAt: number): boolean =>
  work?.writes.some(({ item, at }) => at < beforeAt && item.item === 'gate' && item.pause?.probeAtMs !== undefined) ??
  false;

/** A probe that gets through opens the destination for everybody, unless a person has paused it meanwhile. */
export const probeOpens = (seen: Seen): string | undefined =>
  eachWrite(seen, (life, write) => {
    if (write.row.status !== 'delivered' || write.before?.status === 'delivered') return undefined;
    const work = carriedOut(seen, write);
    if (work?.verdict === undefined || !isProbe(work, write.at)) return undefined;
    const pause = gateAt(seen, life.destination, work.verdict.at)?.pause;
    return pause?.probeAtMs === undefined
      ? undefined
      : `${write.by} gets through to ${life.destination}, and it stays shut`;
  });

/** Who takes the turn of a probe makes an attempt, or says that it waits: a turn is minutes for everybody else. */
export const probeTries = (seen: Seen): string | undefined =>
  first(seen.writes, ({ before, item, by, newer, at, about }) => {
    if (newer || before?.item !== 'gate' || item.item !== 'gate' || before.pause === undefined) return undefined;
    if ((item.pause?.probeAtMs ?? 0) <= (before.pause.probeAtMs ?? Number.POSITIVE_INFINITY)) return undefined;
    const { push, verdict } = untroubled(seen, by, item.destination) ?? {};
    const life = seen.lives.find(({ event, destination }) => `${event} ${destination}` === about);
    if (push === undefined || verdict === undefined || life === undefined) return undefined;
    const tries = life.writes.some((write) => {
      if (write.at < push.at || write.at > verdict.at) return false;
      // Whoever has written the row since it was read may have ended it, or have made it one of a later format.
      if (write.by !== by) return true;
      const waits = write.row.status === 'pending' && write.row.parking !== undefined;
      return write.at > at && (isNewClaim(write) || waits);
    });
    return tries ? undefined : `${by} takes the probe of ${item.destination}, and tries nothing`;
  });

const CROWDED_PLACES = 5;

/** Who has seen that a destination does not answer in time keeps to the few places that it has left. */
export const crowdBounded = (seen: Seen): string | undefined => {
  const { log, works, clocksFit } = seen;
  if (!clocksFit || [...works.values()].some(({ froze }) => froze)) return undefined;
  const flying = new Map<string, string>();
  return first(log, (entry) => {
    if (entry.kind === 'answer' || entry.kind === 'crash') flying.delete(entry.by);
    if (entry.kind !== 'send') return undefined;
    const destination = entry.about?.split(' ').at(-1) ?? '';
    const look = works.get(entry.by)?.looks.findLast(({ at }) => at < entry.at);
    if (look === undefined || (gateAt(seen, destination, look.at)?.crowdedUntilMs ?? 0) <= entry.clockMs)
      return undefined;
    flying.set(entry.by, destination);
    const many = [...flying.values()].filter((one) => one === destination).length;
    return many > CROWDED_PLACES
      ? `${many} requests at once at ${destination}, which does not answer in time`
      : undefined;
  });
};

/** Who is told "gone" pauses the destination. */
export const goneIsPaused = (seen: Seen): string | undefined =>
  eachWrite(seen, (life, write) => {
    if (!addedBy(write).some((entry) => entry.class === 'gone' && entry.kind !== 'claimed')) return undefined;
    const work = carriedOut(seen, write);
    if (work?.verdict === undefined) return undefined;
    const paused =
      gateAt(seen, life.destination, work.verdict.at)?.pause !== undefined ||
      seen.gates.get(life.destination)?.some(({ by, item }) => by === write.by && item.item === 'gate' && item.pause);
    return paused ? undefined : `${life.destination} says that it is gone, and is not paused`;
  });

const askedMsOf = (work: Work): number | undefined => {
  const answer = work.answers.at(-1);
  const [value, ...more] = answer?.retryAfter ?? [];
  if (answer === undefined || (answer.status !== 429 && answer.status !== 503) || more.length > 0) return undefined;
  if (value === undefined || !/^[1-9]\d{0,5}$/.test(value)) return undefined;
  return answer.clockMs + Number(value) * 1_000;
};

/** A 429 or 503 that asks for time closes the destination for everybody, for as long as it asked. */
export const wishIsKept = (seen: Seen): string | undefined =>
  eachWrite(seen, (life, write) => {
    if (!addedBy(write).some(({ kind }) => kind === 'outcome' || kind === 'late-outcome')) return undefined;
    const work = carriedOut(seen, write);
    const untilMs = work && askedMsOf(work);
    if (work?.verdict === undefined || untilMs === undefined) return undefined;
    const { at } = work.verdict;
    const closed = seen.gates
      .get(life.destination)
      ?.some(({ item, at: then }) => then < at && item.item === 'gate' && (item.closedUntilMs ?? 0) >= untilMs);
    // What is in the past when it is written closes nothing.
    const over = write.atMs + write.skewMs >= untilMs;
    return closed || over ? undefined : `${life.destination} asks everybody to wait, and is not closed`;
  });

/** A closing only grows, until a person opens the destination, and never beyond what a delivery can wait. */
export const closingsGrow = ({ gates }: Seen): string | undefined =>
  first(gates.values(), (writes) =>
    first(writes, ({ before, item, atMs, skewMs, by, newer }) => {
      if (item.item !== 'gate' || newer) return undefined;
      const untilMs = item.closedUntilMs;
      const earlierMs = before?.item === 'gate' ? before.closedUntilMs : undefined;
      if (untilMs === undefined) return undefined;
      if (earlierMs !== undefined && untilMs < earlierMs) return `${by} shortens the closing of ${item.destination}`;
      return untilMs > atMs + skewMs + CLOSED_MS_MAX + SLACK_MS && untilMs !== earlierMs
        ? `${by} closes ${item.destination} for longer than a delivery can wait`
        : undefined;
    }),
  );

/** A person who resumes opens the destination: no pause is left, and no closing. */
export const resumeOpens = ({ log, gates }: Seen): string | undefined => {
  const resumers = new Set(
    log.filter((entry) => entry.kind === 'asked' && entry.deed.do === 'resume').map(({ by }) => by),
  );
  return first(gates.values(), (writes) =>
    first(writes, ({ by, before, item }) => {
      if (item.item !== 'gate' || before?.item !== 'gate' || !resumers.has(by)) return undefined;
      const opens = before.pause !== undefined && item.pause === undefined;
      return opens && item.closedUntilMs !== undefined
        ? `${by} resumes ${item.destination}, and it stays closed`
        : undefined;
    }),
  );
};

const slotsOf = ({ log }: Seen, by: string, line: string, beforeAt: number): readonly number[] =>
  log.flatMap((one) =>
    one.kind === 'slot' && one.by === by && one.at < beforeAt && one.line.startsWith(line) ? one.slotMs : [],
  );

const isOf = ({ event, destination }: Life, row: Delivery): boolean =>
  row.event === event && row.destination === destination;

/** Who waits behind a closing has a slot of its own there, and at a rate each claim has one. */
export const slotsKept = (seen: Seen): string | undefined =>
  eachWrite(seen, (life, write) => {
    const { before, row, by, at } = write;
    if (write.newer) return undefined;
    const deferral = row.status === 'pending' ? row.deferral : undefined;
    const old = before?.status === 'pending' ? before.deferral : undefined;
    if (deferral?.reason === 'closed' && deferral.untilMs !== old?.untilMs) {
      // A slot that has passed by the time of the write is: now.
      const nowMs = write.atMs + write.skewMs;
      const own = slotsOf(seen, by, '', at).some(
        (slotMs) => slotMs === deferral.untilMs || (slotMs < deferral.untilMs && deferral.untilMs <= nowMs),
      );
      if (!own) return `${by} puts ${life.event} off to a time that is not its own`;
    }
    const edited = seen.plan.acts.some(({ deed }) => deed.do === 'edit' && deed.destination === life.destination);
    if (!isNewClaim(write) || edited || life.plan?.ratePerSecond === undefined) return undefined;
    const work = seen.works.get(by);
    // A claim whose slot has passed by the re-check is withheld; what matters is who sends.
    if (isProbe(work, at) || work?.sends.length === 0) return undefined;
    const nowMs = write.atMs + write.skewMs;
    // The slot that it has seen is good for it, whatever has become of the row between its look and its claim.
    const looks = (work?.reads ?? [])
      .filter((read) => read.at < at && isOf(life, read.row))
      .map(({ row: seenRow }) => seenRow);
    const kept = [before, ...looks].some((one) => {
      const slot = one?.status === 'pending' && one.deferral?.line !== undefined ? one.deferral : undefined;
      return slot !== undefined && nowMs >= slot.untilMs - SLACK_MS && nowMs <= slot.untilMs + SLOT_GOOD_MS + SLACK_MS;
    });
    // A clock that is set right between the two finds its own slot ahead of it.
    const burstMs = RATE_BURST_MS + (seen.clocksFit ? 0 : CLOCK_WRONG_MS);
    const taken = slotsOf(seen, by, 'rate', at).some((slotMs) => slotMs <= nowMs + burstMs);
    return kept || taken ? undefined : `${by} claims ${life.event} without a slot of the rate`;
  });

/** An attempt goes out under the settings that its claim was made on. */
export const settingsCurrent = (seen: Seen): string | undefined =>
  first(seen.lives, (life) =>
    first(life.sends, ({ by, at }) => {
      const work = seen.works.get(by);
      const claim = [...life.claims.values()].find((write) => write.by === by);
      if (work === undefined || claim === undefined || claim.newer) return undefined;
      const settingsAt = (place: number | undefined): string | undefined => {
        const { item } =
          seen.writes.findLast(
            (write) =>
              write.at < (place ?? 0) &&
              write.item.item === 'destination' &&
              write.item.destination === life.destination,
          ) ?? {};
        if (item?.item !== 'destination') return undefined;
        const { url, headers, repeatSafe, keyLifeHours, mode, timeoutMs } = item;
        return JSON.stringify([url, headers, repeatSafe, keyLifeHours, mode, timeoutMs]);
      };
      const claimed = settingsAt(work.looks.findLast((look) => look.at < claim.at)?.at);
      const sent = settingsAt(work.looks.findLast((look) => look.at < at)?.at);
      return claimed === sent ? undefined : `${by} sends under settings that it has seen changed`;
    }),
  );

/** A row that is parked looks at the gate again: it may have opened meanwhile, and then nobody else would wake it. */
export const parkedLooksAgain = (seen: Seen): string | undefined =>
  eachWrite(seen, (life, write) => {
    const { before, row, at, by } = write;
    const parks = row.status === 'pending' && row.parking && !(before?.status === 'pending' && before.parking);
    const work = parks ? carriedOut(seen, write) : undefined;
    if (work === undefined) return undefined;
    return work.looks.some((look) => look.at > at) ? undefined : `${by} parks ${life.event} and looks no more`;
  });

/** Who opens a destination lets go what is parked there. */
export const resumeDrains = ({ log, gates }: Seen): string | undefined => {
  const resumers = new Set(
    log.filter((entry) => entry.kind === 'asked' && entry.deed.do === 'resume').map(({ by }) => by),
  );
  return first(gates.values(), (writes) =>
    first(writes, ({ by, at, before, item }) => {
      if (item.item !== 'gate' || before?.item !== 'gate' || !resumers.has(by)) return undefined;
      if (before.pause === undefined || item.pause !== undefined) return undefined;
      const after = log.filter((entry) => entry.at > at && (entry.by === by || entry.kind === 'fault'));
      const end = after.find(({ kind }) => kind === 'decided');
      const meanwhile = after.filter((entry) => entry.at < (end?.at ?? 0));
      // Only of those that were told how it ended, and upon whom nothing fell.
      if (end === undefined || meanwhile.some(({ kind }) => kind === 'fault' || kind === 'froze')) return undefined;
      const drains = meanwhile.some((entry) => entry.kind === 'publish' && entry.body.includes('"kind":"drain"'));
      return drains ? undefined : `${by} opens ${item.destination}, and lets nothing go`;
    }),
  );
};

/** Who is done with its place gives it back by itself, and leaves that to its lease only where something goes wrong. */
export const placesReturned = (seen: Seen): string | undefined =>
  first(seen.writes, ({ item, by, newer, at }) => {
    if (newer || item.item !== 'slot' || item.holder === undefined) return undefined;
    const { destination, n } = item;
    const verdict = untroubled(seen, by, destination)?.verdict;
    // Whether another one may take it from its holder is judged elsewhere.
    const moves = seen.writes.some(
      (later) =>
        later.at > at &&
        later.at < (verdict?.at ?? 0) &&
        later.item.item === 'slot' &&
        later.item.destination === destination &&
        later.item.n === n,
    );
    return verdict === undefined || verdict.at < at || moves
      ? undefined
      : `${by} keeps its place at ${destination} behind its answer`;
  });
