/**
 * What one history is made of, drawn from its seed before it runs: who is there, what is asked, what may go wrong and
 * how often. Few events and few destinations, and many variations of them.
 */
import type { Keys } from '../../infra/local/partner/personality.ts';
import { Draws, type HistorySeed } from './draws.ts';
import { FAULT_NAMES, FAULTS, type FaultName } from './fault-classes.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export interface DestinationPlan {
  readonly id: string;
  readonly keys: Keys;
  readonly forgetsAfterHours: number;
  readonly repeatSafe: boolean;
  readonly scheduleSec: readonly number[];
  readonly timeoutMs: number;
  readonly ratePerSecond?: number;
  readonly concurrency?: number;
  readonly rejectOn: readonly number[];
  readonly mode: 'live' | 'shadow';
  /** It is told what a person should know: of the others, and of what is about none. */
  readonly notices?: true;
}

export interface EventPlan {
  readonly id: string;
  readonly atMs: number;
  readonly destinations: readonly string[];
  readonly payload: string;
  readonly by: 'api' | 'queue';
  readonly deliverInMs?: number;
  /** The same event once more, at that time after the first. */
  readonly again?: { readonly afterMs: number; readonly payload: string };
  readonly conflict?: { readonly afterMs: number; readonly payload: string };
}

export type Deed =
  | { readonly do: 'pause'; readonly destination: string; readonly resumeAfterMs?: number }
  | { readonly do: 'resume'; readonly destination: string }
  | { readonly do: 'edit'; readonly destination: string; readonly change: Partial<DestinationPlan> }
  | { readonly do: 'delete' | 'rotate-secret'; readonly destination: string }
  | {
      readonly do: 'redrive';
      readonly event: string;
      readonly destination: string;
      readonly grant: number;
      readonly acceptSecondEffect: boolean;
    }
  | {
      readonly do: 'resolve';
      readonly event: string;
      readonly destination: string;
      readonly as: 'delivered' | 'not-delivered';
    }
  | { readonly do: 'cancel'; readonly event: string; readonly destination: string }
  | { readonly do: 'replay'; readonly event: string }
  | {
      readonly do: 'operation';
      readonly source: 'dead-letters' | 'quarantine';
      readonly acceptSecondEffect: boolean;
      readonly stopAfterMs?: number;
    };

export interface Act {
  readonly name: string;
  readonly fault: FaultName;
  readonly atMs: number;
  readonly deed: Deed;
  readonly twice: boolean;
}

/** Something from outside that is not our own traffic. */
export interface Stranger {
  readonly name: string;
  readonly kind: Extract<
    FaultName,
    'forged-push' | 'senseless-push' | 'unknown-reference' | 'newer-message' | 'republished' | 'payload-changed'
  >;
  readonly atMs: number;
  readonly event: string;
  readonly destination: string;
}

/** A stretch of time in which something is away. */
export interface Outage {
  readonly name: string;
  readonly fault: FaultName;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Of a destination: which, and how it is down. */
  readonly destination?: string;
  readonly hangs?: boolean;
}

export interface ProcessPlan {
  readonly name: string;
  readonly skewMs: number;
  readonly step?: { readonly atMs: number; readonly byMs: number };
  readonly code: 'current' | 'next';
}

export interface Plan {
  readonly seed: HistorySeed;
  /** The share of the calls at its site that a class falls upon; a class that is off is not here. */
  readonly shares: ReadonlyMap<FaultName, number>;
  readonly destinations: readonly DestinationPlan[];
  readonly events: readonly EventPlan[];
  readonly acts: readonly Act[];
  readonly strangers: readonly Stranger[];
  readonly outages: readonly Outage[];
  readonly processes: readonly ProcessPlan[];
  readonly sweeps: 'on' | 'slow' | 'off';
  /** How long behind each full minute the schedule fires: nobody promises that it is at once. */
  readonly ticksBehindMs: number;
  /** After so long nothing goes wrong any more. */
  readonly faultsMs: number;
  /** `twin`: the product's own, with its codec; `raw`: a short cut that gives the same history. */
  readonly store: 'twin' | 'raw';
  /** Whether people open what they have paused when the faults are over. */
  readonly opens: boolean;
}

const PERSONALITIES: readonly Keys[] = [
  'replays-all',
  'replays-2xx',
  'stores-no-4xx',
  'busy-409',
  '422-on-other-body',
  'ignores-body',
  'forgets-after',
  'ignores',
];

const SCHEDULES: readonly (readonly number[])[] = [
  [5, 30],
  [5, 30],
  [1, 2, 4],
  [0, 0],
  [60, 300],
  [5, 30, 300, 1_800],
  [1_800, 7_200],
  [],
  [36_000],
];

/** Parts that a shrunk history goes without, by name: classes of faults, single faults, events, acts and so on. */
export type Without = Pick<ReadonlySet<string>, 'has'>;

export const NOTHING_LEFT_OUT: Without = { has: () => false };

export const planOf = (seed: HistorySeed, without: Without = NOTHING_LEFT_OUT): Plan => {
  const draws = new Draws(seed);
  const shares = sharesOf(draws, without);
  const faultsMs = draws.oneOf(
    'faults ms',
    [2, 5, 10, 20, 45, 180].map((minutes) => minutes * MINUTE),
  );
  const destinations = destinationsOf(draws, shares);
  const events = eventsOf(draws, destinations, shares, faultsMs).filter(({ id }) => !without.has(id));
  const outages = outagesOf({ draws, shares, faultsMs, destinations });
  const around = { draws, shares, faultsMs, destinations, events, outages };
  return {
    seed,
    shares,
    destinations,
    events,
    acts: actsOf(around).filter(({ name }) => !without.has(name)),
    strangers: strangersOf(around).filter(({ name }) => !without.has(name)),
    outages: outages.filter(({ name }) => !without.has(name)),
    processes: processesOf(draws, shares, faultsMs),
    ticksBehindMs: shares.has('tick-anytime') ? draws.whole('ticks behind', 0, MINUTE - 1) : 0,
    sweeps: shares.has('sweep-off') ? 'off' : shares.has('sweep-slow') ? 'slow' : 'on',
    faultsMs,
    opens: draws.happens('opens', 0.7),
    store: shares.has('next-code') || shares.has('payload-changed') || draws.happens('whole', 1 / 20) ? 'twin' : 'raw',
  };
};

const STRENGTHS = [0.25, 0.5, 1] as const;

/** Swarm: a third of the classes is on, each at a strength of its own; now and then nothing goes wrong at all. */
const sharesOf = (draws: Draws, without: Without): ReadonlyMap<FaultName, number> => {
  const on = draws.oneOf('how much is on', [0.05, 0.2, 0.4, 0.5, 0.8]);
  const shares = new Map<FaultName, number>();
  for (const name of FAULT_NAMES) {
    const { site, shareMax } = FAULTS[name];
    const isOn = draws.at(name, 0, 40) < (site === 'plan' ? shareMax * Math.min(1, on * 2) : on);
    if (!isOn) continue;
    const strength = STRENGTHS[Math.floor(draws.at(name, 0, 41) * STRENGTHS.length)] ?? 1;
    const share = site === 'plan' ? 1 : shareMax * strength;
    if (!without.has(name)) shares.set(name, share);
  }
  return shares;
};

const destinationsOf = (draws: Draws, shares: ReadonlyMap<FaultName, number>): readonly DestinationPlan[] =>
  Array.from({ length: draws.happens('two destinations', 0.2) ? 2 : 1 }, (_, n) => {
    const keys = draws.oneOf('personality', PERSONALITIES);
    const scheduleSec = draws.oneOf('schedule', SCHEDULES);
    const timeoutMs = draws.oneOf('timeout', [20_000, 20_000, 10_000, 1_000]);
    // A schedule that is longer than the life of the key is refused where settings are written.
    const longestSec = scheduleSec.reduce(
      (sum, delay) => sum + 1.2 * delay + timeoutMs / 1_000,
      timeoutMs / 1_000 + 15,
    );
    // Where a breaker opens, a key is often over by the time of its probe.
    const choices = shares.has('breaker-near') ? 2 : 4;
    const livesHours = [0.02, 0.05, 0.1, 1, 24, 48].filter((hours) => hours * 3_600 > longestSec).slice(0, choices);
    const rate = draws.happens('rate', 0.12);
    const concurrency = draws.happens('concurrency', 0.2);
    return {
      id: `d${n + 1}`,
      keys,
      forgetsAfterHours: draws.oneOf('forgets', livesHours),
      repeatSafe: keys !== 'ignores' && draws.happens('safe', 0.75),
      scheduleSec,
      timeoutMs,
      ...(rate ? { ratePerSecond: draws.oneOf('rate', [0.2, 1, 5]) } : {}),
      ...(concurrency ? { concurrency: draws.oneOf('concurrency', [1, 1, 2]) } : {}),
      rejectOn: draws.happens('reject', 0.1) ? [400] : [],
      mode: draws.happens('shadow', 0.02) ? 'shadow' : 'live',
      ...(shares.has('notices') ? { notices: true } : {}),
    };
  });

type Shares = ReadonlyMap<FaultName, number>;

const eventsOf = (
  draws: Draws,
  destinations: readonly DestinationPlan[],
  shares: Shares,
  faultsMs: number,
): readonly EventPlan[] => {
  const intoHang = shares.has('burst-into-hang');
  const burst = intoHang || shares.has('burst');
  const few = draws.oneOf('events', [1, 1, 1, 1, 2, 2, 3]);
  const many = intoHang ? 8 : draws.oneOf('how many come', [4, 4, 8, 8]);
  return Array.from({ length: burst ? many : few }, (_, n) => {
    const to = destinations.length === 1 || draws.happens('to all', 0.5) ? destinations : destinations.slice(-1);
    const payload = `{"n": ${n + 1}, "sum": 12.50}`;
    const again = shares.has('event-again') && draws.happens('again', 0.6);
    const conflict = shares.has('event-conflict') && draws.happens('conflict', 0.6);
    const wish = draws.happens('deliver at', 0.15);
    const more = { draws, faultsMs };
    return {
      id: `e${n + 1}`,
      atMs: n === 0 ? 0 : draws.whole('event at', 0, burst ? 200 : Math.min(faultsMs / 2, 3 * MINUTE)),
      destinations: to.map(({ id }) => id),
      payload,
      by: draws.happens('by queue', 0.15) ? 'queue' : 'api',
      ...(wish ? { deliverInMs: draws.oneOf('deliver in', [2 * SECOND, 90 * SECOND, 15 * MINUTE, 5 * HOUR]) } : {}),
      ...(again
        ? {
            again: {
              afterMs: soon(more),
              payload: draws.happens('other order', 0.5) ? `{"sum": 12.50, "n": ${n + 1}}` : payload,
            },
          }
        : {}),
      ...(conflict ? { conflict: { afterMs: soon(more), payload: `{"n": ${n + 1}, "sum": 12.5}` } } : {}),
    };
  });
};

const soon = ({ draws, faultsMs }: { readonly draws: Draws; readonly faultsMs: number }): number =>
  draws.happens('at once', 0.4)
    ? draws.whole('at once ms', 0, 50)
    : draws.whole('soon', 0, Math.min(faultsMs, 10 * MINUTE));

interface Around {
  readonly draws: Draws;
  readonly shares: Shares;
  readonly faultsMs: number;
  readonly destinations: readonly DestinationPlan[];
  readonly events: readonly EventPlan[];
  readonly outages: readonly Outage[];
}

const deedOf = (fault: FaultName, { draws, destinations, events }: Around): Deed | undefined => {
  const destination = draws.oneOf('whose', destinations);
  const event = events.length === 0 ? undefined : draws.oneOf('which', events);
  const ref = event && { event: event.id, destination: draws.oneOf('which one', event.destinations) };
  switch (fault) {
    case 'pause':
      return {
        do: 'pause',
        destination: destination.id,
        ...(draws.happens('resumes', 0.6) ? { resumeAfterMs: draws.whole('resume', 0, 3 * MINUTE) } : {}),
      };
    case 'edit':
      return { do: 'edit', destination: destination.id, change: changeOf(draws, destination) };
    case 'delete':
    case 'rotate-secret':
      return { do: fault, destination: destination.id };
    case 'replay':
      return event && { do: 'replay', event: event.id };
    case 'operation':
      return {
        do: 'operation',
        source: draws.oneOf('source', ['dead-letters', 'dead-letters', 'quarantine']),
        acceptSecondEffect: draws.happens('accepts', 0.4),
        ...(draws.happens('stops', 0.2) ? { stopAfterMs: draws.whole('stop', 100, MINUTE) } : {}),
      };
    default: {
      if (ref === undefined) return undefined;
      const kind = draws.oneOf('decision', ['redrive', 'redrive', 'resolve', 'cancel'] as const);
      if (kind === 'cancel') return { do: 'cancel', ...ref };
      if (kind === 'resolve') return { do: 'resolve', ...ref, as: draws.oneOf('as', ['delivered', 'not-delivered']) };
      const grant = draws.oneOf('grant', [0, 1, 2]);
      return { do: 'redrive', ...ref, grant, acceptSecondEffect: draws.happens('accepts', 0.5) };
    }
  }
};

/** Whoever changes `repeatSafe` stays honest: what ignores keys is never called safe. */
const changeOf = (draws: Draws, { keys, repeatSafe }: DestinationPlan): Partial<DestinationPlan> =>
  draws.oneOf('change', [
    keys === 'ignores' ? { timeoutMs: 5_000 } : { repeatSafe: !repeatSafe },
    keys === 'ignores' ? { scheduleSec: [2] } : { repeatSafe: !repeatSafe },
    { timeoutMs: 5_000 },
    { scheduleSec: [1, 1, 1] },
    { concurrency: 1 },
    { ratePerSecond: 1 },
  ]);

/** Often in the middle of the first attempts, where it matters most. */
const actAtMs = ({ draws, faultsMs, events }: Around): number => {
  const when = draws.next('when');
  const [event] = events;
  if (when < 0.4 && event !== undefined) return draws.oneOf('at whose time', events).atMs + draws.whole('act', 0, 400);
  return when < 0.7 ? draws.whole('act soon', 0, MINUTE) : draws.whole('act later', 0, faultsMs);
};

/** Mostly when something that was away is back, and messages have died of it. */
const operationAtMs = (around: Around): number => {
  const { draws, outages } = around;
  if (outages.length === 0 || draws.happens('at a random time', 0.3)) return actAtMs(around);
  return draws.oneOf('behind which', outages).untilMs + draws.whole('behind', 0, 2 * MINUTE);
};

const ACTING: readonly FaultName[] = ['pause', 'edit', 'delete', 'rotate-secret', 'decide', 'replay', 'operation'];

const actsOf = (around: Around): readonly Act[] => {
  const { draws, shares } = around;
  return ACTING.filter((fault) => shares.has(fault)).flatMap((fault) => {
    const count =
      fault === 'decide' || fault === 'edit' || fault === 'pause' ? draws.whole(`how many ${fault}`, 1, 3) : 1;
    return Array.from({ length: count }, (_, n): Act[] => {
      const deed = deedOf(fault, around);
      const atMs = fault === 'operation' ? operationAtMs(around) : actAtMs(around);
      const twice = shares.has('asked-twice') && draws.happens('twice', 0.6);
      return deed === undefined ? [] : [{ name: `${fault} ${n + 1}`, fault, atMs, deed, twice }];
    }).flat();
  });
};

const STRANGE = [
  'forged-push',
  'senseless-push',
  'unknown-reference',
  'newer-message',
  'republished',
  'payload-changed',
] as const satisfies readonly FaultName[];

const strangersOf = ({ draws, shares, faultsMs, events }: Around): readonly Stranger[] =>
  STRANGE.filter((kind) => shares.has(kind) && events.length > 0).flatMap((kind) =>
    Array.from({ length: kind === 'republished' ? draws.whole('strangers', 1, 4) : 1 }, (_, n): Stranger => {
      const event = draws.oneOf('whose', events);
      const atMs = draws.happens('stranger soon', 0.6)
        ? event.atMs + draws.whole('stranger', 0, 30 * SECOND)
        : draws.whole('stranger later', 0, faultsMs);
      return {
        name: `${kind} ${n + 1}`,
        kind,
        atMs,
        event: event.id,
        destination: draws.oneOf('to', event.destinations),
      };
    }),
  );

const OUTAGES = [
  'ledger-outage',
  'long-ledger-outage',
  'queue-outage',
  'forbidden-for-long',
  'destination-throttles',
  'destination-down',
] as const satisfies readonly FaultName[];

type Before = Omit<Around, 'events' | 'outages'>;

const outagesOf = (before: Before): readonly Outage[] => [...drawnOutages(before), ...burstOutage(before)];

/** Long enough that a whole burst fails as one, and comes again as one while its destination still hangs. */
const burstOutage = ({ draws, shares, destinations }: Before): readonly Outage[] => {
  const id = destinations.at(-1)?.id;
  if (id === undefined || !shares.has('burst-into-hang')) return [];
  const untilMs = draws.whole('hangs for', 60, 300) * SECOND;
  return [{ name: 'burst-into-hang', fault: 'burst-into-hang', fromMs: 0, untilMs, destination: id, hangs: true }];
};

const drawnOutages = ({ draws, shares, faultsMs, destinations }: Before): readonly Outage[] =>
  OUTAGES.filter((fault) => shares.has(fault)).map((fault): Outage => {
    const fromMs = draws.happens('outage soon', 0.6)
      ? draws.whole('outage', 0, 20 * SECOND)
      : draws.whole('outage', 0, faultsMs);
    const long = fault === 'long-ledger-outage';
    const lastsMs = long ? draws.whole('lasts long', 61, 100) * MINUTE : draws.whole('lasts', 1, 300) * SECOND;
    const of =
      fault === 'destination-down' || fault === 'destination-throttles'
        ? { destination: draws.oneOf('down', destinations).id, hangs: draws.happens('hangs', 0.5) }
        : {};
    return { name: fault, fault, fromMs, untilMs: fromMs + lastsMs, ...of };
  });

const processesOf = (draws: Draws, shares: Shares, faultsMs: number): readonly ProcessPlan[] => {
  const skewed = shares.has('clock-skew');
  const wrong = shares.has('clock-wrong');
  const steps = shares.has('clock-step');
  return Array.from({ length: 3 }, (_, n): ProcessPlan => {
    const boundMs = wrong && n === 1 ? 300_000 : skewed ? 2_500 : 0;
    const step = steps && n === 2 ? { step: { atMs: draws.whole('step', 0, faultsMs), byMs: -60_000 } } : {};
    return {
      name: 'ABC'[n] ?? '',
      skewMs: draws.whole('skew', -boundMs, boundMs),
      code: shares.has('next-code') && n === 2 ? 'next' : 'current',
      ...step,
    };
  });
};
