/**
 * A day of a busy sender, in virtual time.
 *
 *   events, evenly; ten of fifty destinations are bad --the day is over--> those are well again --> all is at rest
 *
 * A million calls leave no log behind: what is looked at is counted as it happens, from what stands in the ledger and
 * from what arrives at the destinations.
 */

import type { Item } from '../../functions/core/items.ts';
import { TICK_MS } from '../../functions/core/limits.ts';
import { tick } from '../../functions/reconciler/tick.ts';
import { START_MS } from './clockwork.ts';
import { type BadWay, Destinations } from './destinations.ts';
import type { Happening } from './log.ts';
import { People } from './people.ts';
import { type DestinationPlan, NOTHING_LEFT_OUT, type Plan } from './plan.ts';
import { portsOf, type Surroundings } from './ports.ts';
import { beginPush, noteBug } from './pushes.ts';
import { SimulatedQueue } from './queue.ts';
import { setUpDestinations } from './set-up.ts';
import { type Actor, Stage } from './stage.ts';

const DESTINATIONS = 50;
const HOUR_MS = 3_600_000;

const BAD: readonly BadWay[] = ['hang', 'hang', '500', '503', '429', '404', '502', 'reset', 'refused', 'dns'];

const destinationOf = (n: number): DestinationPlan => ({
  id: `d${n}`,
  keys: 'replays-2xx',
  forgetsAfterHours: 24,
  repeatSafe: true,
  scheduleSec: [5, 30, 300, 1_800, 7_200, 18_000, 36_000],
  timeoutMs: 20_000,
  rejectOn: [],
  mode: 'live',
});

/** Destinations 1 to 10 are the bad ones. */
const badWayOf = (id: string): BadWay | undefined => BAD[Number(id.slice(1)) - 1];

const planOf = (): Plan => ({
  seed: { high: 1, low: 1 },
  shares: new Map(),
  destinations: Array.from({ length: DESTINATIONS }, (_, n) => destinationOf(n + 1)),
  events: [],
  acts: [],
  strangers: [],
  outages: [],
  processes: ['A', 'B', 'C'].map((name) => ({ name, skewMs: 0, code: 'current' })),
  sweeps: 'on',
  ticksBehindMs: 0,
  faultsMs: 24 * HOUR_MS,
  opens: false,
  store: 'raw',
});

interface Tally {
  accepted: number;
  delivered: number;
  twice: number;
  effects: Map<string, number>;
  requests: number;
  pushes: number;
  readonly bugs: string[];
  /** From the 202 to the recorded success, of healthy destinations. */
  readonly latenciesMs: number[];
  readonly acceptedAtMs: Map<string, number>;
}

class DayStage extends Stage {
  readonly tally: Tally = {
    accepted: 0,
    delivered: 0,
    twice: 0,
    effects: new Map(),
    requests: 0,
    pushes: 0,
    bugs: [],
    latenciesMs: [],
    acceptedAtMs: new Map(),
  };
  open = 0;

  override note(_actor: Actor | undefined, happening: Happening): void {
    const { tally } = this;
    if (happening.kind === 'told' && happening.what === 'accepted') {
      tally.accepted += 1;
      tally.acceptedAtMs.set(happening.event, this.nowMs);
    } else if (happening.kind === 'arrive') {
      tally.requests += 1;
      if (happening.effect) tally.effects.set(happening.key, (tally.effects.get(happening.key) ?? 0) + 1);
    } else if (happening.kind === 'push') tally.pushes += 1;
    else if (happening.kind === 'bug') tally.bugs.push(happening.text);
  }

  override wrote(actor: Actor | undefined, name: string, item: Item): void {
    const before = this.standing.get(name);
    super.wrote(actor, name, item);
    if (item.item !== 'delivery') return;
    const was = before?.item === 'delivery' ? before.status : undefined;
    const isOpen = item.status === 'pending' || item.status === 'claimed';
    this.open += (isOpen ? 1 : 0) - (was === 'pending' || was === 'claimed' ? 1 : 0);
    if (item.status !== 'delivered') return;
    if (was === 'delivered') this.tally.twice += 1;
    this.tally.delivered += 1;
    const sinceMs = this.tally.acceptedAtMs.get(item.event) ?? this.nowMs;
    if (badWayOf(item.destination) === undefined) this.tally.latenciesMs.push(this.nowMs - sinceMs);
  }
}

export interface DayDone {
  readonly accepted: number;
  readonly requests: number;
  readonly pushes: number;
  /** When the day was over, before the bad ones were well again. */
  readonly atDusk: Readonly<Record<string, number>>;
  readonly overdueAtDusk: number;
  readonly atTheEnd: Readonly<Record<string, number>>;
  readonly lost: number;
  readonly secondSuccesses: number;
  readonly secondEffects: number;
  readonly bugs: readonly string[];
  readonly latenciesMs: readonly number[];
  readonly restedAfterHours: number;
}

export const runDay = async (events: number, hours: number, say: (text: string) => void): Promise<DayDone> => {
  const stage = new DayStage(planOf(), NOTHING_LEFT_OUT);
  const { clockwork, tally } = stage;
  let bad = true;
  const queue = new SimulatedQueue(stage, (messageId, payload, answer) =>
    beginPush(around, { messageId, payload, answer }),
  );
  const destinations = new Destinations(stage, (id) => (bad ? badWayOf(id) : undefined));
  const around: Surroundings = { stage, queue, destinations };
  const people = new People(around, (actor, error) => noteBug(around, actor, error));
  await setUpDestinations(around);
  const dayMs = hours * HOUR_MS;
  submitEvenly(stage, people, events, dayMs);
  tickEvery(around);
  for (let hour = 1; hour <= hours; hour += 1) {
    await clockwork.run(START_MS + hour * HOUR_MS, Number.POSITIVE_INFINITY);
    clockwork.nowMs = START_MS + hour * HOUR_MS;
    say(`hour ${hour}: ${tally.accepted} accepted, ${tally.delivered} delivered, ${stage.open} open`);
  }
  const atDusk = statesOf(stage);
  const overdueAtDusk = overdueIn(stage);
  bad = false;
  const healed = clockwork.nowMs;
  await clockwork.run(healed + 48 * HOUR_MS, Number.POSITIVE_INFINITY, () => stage.open === 0 && people.waiting === 0);
  return {
    accepted: tally.accepted,
    requests: tally.requests,
    pushes: tally.pushes,
    atDusk,
    overdueAtDusk,
    atTheEnd: statesOf(stage),
    lost: events - stage.rows.size + stage.open,
    secondSuccesses: tally.twice,
    secondEffects: [...tally.effects.values()].filter((count) => count > 1).length,
    bugs: tally.bugs,
    latenciesMs: tally.latenciesMs.toSorted((a, b) => a - b),
    restedAfterHours: (clockwork.nowMs - healed) / HOUR_MS,
  };
};

const submitEvenly = (stage: Stage, people: People, events: number, dayMs: number): void => {
  const next = (n: number): void => {
    const event = {
      id: `e${n}`,
      atMs: 0,
      destinations: [`d${(n % DESTINATIONS) + 1}`],
      payload: `{"n": ${n}}`,
      by: 'api',
    } as const;
    people.submit(event, event.payload, 'first');
    if (n + 1 < events) stage.clockwork.at(START_MS + Math.floor(((n + 1) * dayMs) / events), () => next(n + 1));
  };
  stage.clockwork.at(START_MS, () => next(0));
};

const tickEvery = (around: Surroundings): void => {
  const { stage } = around;
  const once = (): void => {
    const actor = stage.actor('tick');
    tick(portsOf(around, actor), TICK_MS).catch((error: unknown) => noteBug(around, actor, error));
    stage.clockwork.at(stage.nowMs + TICK_MS, once);
  };
  stage.clockwork.at(stage.nowMs + TICK_MS, once);
};

const statesOf = ({ rows }: Stage): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const row of rows.values()) {
    const parked = row.status === 'pending' && row.parking ? ' parked' : '';
    const reason = row.status === 'quarantined' ? ` ${row.reason}` : '';
    const name = `${row.status}${parked}${reason}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

/** Rows that should have been looked at more than three ticks ago: they would wait unseen. */
const overdueIn = ({ rows, nowMs }: Stage): number =>
  [...rows.values()].filter((row) => 'lookAfterMs' in row && row.lookAfterMs < nowMs - 3 * TICK_MS).length;
