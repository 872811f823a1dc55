/**
 * One history from its beginning to its rest.
 *
 *   set up -> faults: events, pushes, ticks, people, everything that may go wrong -> quiet: nothing goes wrong any more
 *          -> everything has come to its end, or waits in sight, or has not within its bound
 */
import { keyIn, toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { FORMAT_ATTRIBUTE } from '../../functions/adapters/ledger/schema.ts';
import type { AcceptedEvent, Item, ItemOf } from '../../functions/core/items.ts';
import { dueShard } from '../../functions/core/keys.ts';
import { DUE_SHARDS, TICK_MS } from '../../functions/core/limits.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { tick } from '../../functions/reconciler/tick.ts';
import { isAtRest } from './bounds.ts';
import { START_MS } from './clockwork.ts';
import { Destinations } from './destinations.ts';
import { isLater, NEW_ATTRIBUTE } from './later-code.ts';
import type { LogEntry } from './log.ts';
import { destinationIdOf, eventIdOf, People } from './people.ts';
import { type Act, NOTHING_LEFT_OUT, type Plan, type Stranger, type Without } from './plan.ts';
import { portsOf, type Surroundings } from './ports.ts';
import { beginPush, noteBug } from './pushes.ts';
import { SimulatedQueue } from './queue.ts';
import { nameOf } from './raw-store.ts';
import { setUpDestinations } from './set-up.ts';
import { Stage } from './stage.ts';

/** What judges look at. */
export interface Ended {
  readonly plan: Plan;
  readonly log: readonly LogEntry[];
  /** What stands in the ledger at the end. */
  readonly items: readonly Item[];
  /** Where the records of the ledger say something else than what was written. */
  readonly torn: readonly string[];
  /** Bodies of the dead letters at the end. */
  readonly dead: readonly string[];
  readonly secrets: ReadonlyMap<string, readonly string[]>;
  readonly restedAtMs: number;
  /** False: it was cut off because it did not come to an end. */
  readonly ended: boolean;
  readonly fired: ReadonlyMap<string, number>;
  readonly faultIds: readonly string[];
}

const STEPS_MAX = 60_000;
/** Whatever has not come to rest by then never will. */
const CALM_MS_MAX = 3 * 86_400_000;
const AFTERMATH_MS = 180_000;
const MINUTE_MS = 60_000;

export const runHistory = async (plan: Plan, without: Without = NOTHING_LEFT_OUT): Promise<Ended> =>
  new History(plan, without).run();

class History {
  readonly #stage: Stage;
  readonly #around: Surroundings;
  readonly #queue: SimulatedQueue;
  readonly #people: People;
  readonly #armed = new Set<number>();
  #sweeps: Plan['sweeps'];
  #forged = 0;

  constructor(plan: Plan, without: Without) {
    this.#stage = new Stage(plan, without);
    this.#queue = new SimulatedQueue(this.#stage, (messageId, payload, answer) =>
      beginPush(this.#around, { messageId, payload, answer }),
    );
    const destinations = new Destinations(this.#stage);
    this.#around = { stage: this.#stage, queue: this.#queue, destinations };
    this.#people = new People(this.#around, (actor, error) => noteBug(this.#around, actor, error));
    this.#sweeps = plan.sweeps;
  }

  async run(): Promise<Ended> {
    const stage = this.#stage;
    const { plan, clockwork } = stage;
    await this.#setUp();
    this.#planAll();
    const endsAtMs = START_MS + plan.faultsMs;
    const went = await clockwork.run(endsAtMs, STEPS_MAX);
    clockwork.nowMs = Math.max(clockwork.nowMs, endsAtMs);
    this.#calm();
    const ended = went && (await this.#rest(stage.nowMs + CALM_MS_MAX));
    const restedAtMs = stage.nowMs;
    return {
      plan,
      log: stage.log,
      items: [...stage.standing.values()],
      torn: await this.#torn(),
      dead: this.#queue.dead(),
      secrets: this.#around.destinations.secrets,
      restedAtMs,
      ended,
      fired: stage.fates.fired,
      faultIds: stage.fates.ids,
    };
  }

  /** Until everything is at rest and stays so for a while: an operation may still wake what was at rest. */
  async #rest(latestMs: number): Promise<boolean> {
    const { clockwork } = this.#stage;
    do {
      if (!(await clockwork.run(latestMs, STEPS_MAX, () => this.#atRest()))) return false;
      const untilMs = clockwork.nowMs + AFTERMATH_MS;
      if (!(await clockwork.run(untilMs, STEPS_MAX))) return false;
      clockwork.nowMs = Math.max(clockwork.nowMs, untilMs);
    } while (!this.#atRest() && clockwork.nowMs < latestMs);
    return true;
  }

  // ---- beginning ----------------------------------------------------------------------------------------------------

  async #setUp(): Promise<void> {
    const stage = this.#stage;
    await setUpDestinations(this.#around);
    stage.onRow = (row) => {
      this.#arm(row);
      if (row.status === 'quarantined') this.#react(row);
    };
  }

  #planAll(): void {
    const stage = this.#stage;
    const { plan, clockwork, fates } = stage;
    const at = (ms: number, call: () => void): void => void clockwork.at(START_MS + ms, call);
    for (const event of plan.events) {
      at(event.atMs, () => this.#people.submit(event, event.payload, 'first'));
      for (const [fault, more, sense] of [
        ['event-again', event.again, 'again'],
        ['event-conflict', event.conflict, 'conflict'],
      ] as const) {
        if (more === undefined) continue;
        at(event.atMs + more.afterMs, () => {
          if (fates.happens(fault, event.id, 0)) this.#people.submit(event, more.payload, sense);
        });
      }
      if (event.by === 'queue') this.#armRescue();
    }
    for (const act of plan.acts) at(act.atMs, () => this.#act(act));
    for (const stranger of plan.strangers) at(stranger.atMs, () => void this.#stranger(stranger));
    for (const process of stage.processes) {
      if (process.skewMs !== 0) fates.count(Math.abs(process.skewMs) > 2_500 ? 'clock-wrong' : 'clock-skew');
      if (process.code === 'next') fates.count('next-code');
      const { step } = process;
      if (step === undefined) continue;
      at(step.atMs, () => {
        if (!fates.happens('clock-step', process.name, 0)) return;
        process.skewMs += step.byMs;
      });
    }
    if (plan.shares.has('burst')) fates.count('burst');
    if (plan.ticksBehindMs > 0) fates.count('tick-anytime');
    if (plan.sweeps !== 'on') fates.count(plan.sweeps === 'off' ? 'sweep-off' : 'sweep-slow');
    this.#queue.skips = (body) => this.#isIdle(body);
  }

  #act({ name, fault, deed, twice }: Act): void {
    if (!this.#stage.fates.happens(fault, name, 0)) return;
    const request = name.replace(' ', '-');
    this.#people.ask(request, deed, twice);
    if (deed.do !== 'pause' || deed.resumeAfterMs === undefined) return;
    const { destination } = deed;
    this.#stage.clockwork.at(this.#stage.nowMs + deed.resumeAfterMs, () =>
      this.#people.ask(`${request}-resume`, { do: 'resume', destination }, twice),
    );
  }

  /** Somebody looks at what is held, and decides about it. */
  #react({ event, destination, version }: Delivery): void {
    const { fates, draws, clockwork } = this.#stage;
    const n = draws.nth('held');
    if (!fates.isOn('decide') || n >= 4 || draws.at('held', n) > 0.6) return;
    const name = `decide-held-${n + 1}`;
    const kind = draws.at('held', n, 1);
    const of = { event, destination };
    const redrive = {
      do: 'redrive',
      ...of,
      grant: Math.floor(kind * 10) % 3,
      acceptSecondEffect: draws.at('held', n, 2) < 0.5,
    } as const;
    const resolve = { do: 'resolve', ...of, as: kind < 0.85 ? 'not-delivered' : 'delivered' } as const;
    const deed = kind < 0.65 ? redrive : kind < 0.93 ? resolve : ({ do: 'cancel', ...of } as const);
    const twice = fates.isOn('asked-twice');
    clockwork.at(this.#stage.nowMs + Math.floor(draws.at('held', n, 3) ** 2 * 120_000), () => {
      if (fates.happens('decide', `${name} v${version}`, 0)) this.#people.ask(name, deed, twice);
    });
  }

  // ---- strangers -------------------------------------------------------------------------------------------------------

  #stranger({ name, kind, event, destination }: Stranger): void {
    const stage = this.#stage;
    if (!stage.fates.happens(kind, name, 0)) return;
    const reference = (of: string): string => JSON.stringify({ kind: 'deliver', format: 1, event: of, destination });
    switch (kind) {
      case 'forged-push': {
        const forged = stage.draws.oneOf('forged', ['', '0'.repeat(64), 'nonsense']);
        this.#forged += 1;
        beginPush(this.#around, {
          messageId: `forged-${this.#forged}`,
          payload: reference(event),
          forged,
          answer: () => undefined,
        });
        return;
      }
      case 'senseless-push':
        this.#queue.publishFrom(
          stage.draws.oneOf('senseless', ['{"order": 17}', '{"kind":"deliver","format":1,"event":7}', '[]']),
        );
        return;
      case 'unknown-reference':
        this.#queue.publishFrom(reference('nobody'));
        return;
      case 'newer-message':
        this.#queue.publishFrom(
          stage.draws.oneOf('newer', [
            '{"kind":"teleport","format":1}',
            `{"kind":"deliver","format":2,"to":"${event}"}`,
          ]),
        );
        return;
      case 'republished':
        this.#queue.publishFrom(reference(event), stage.draws.whole('republished', 0, 20_000));
        return;
      case 'payload-changed': {
        const stored = [...stage.standing.values()].find(
          (item): item is AcceptedEvent => item.item === 'event' && item.event === event,
        );
        if (stored === undefined) return;
        const changed = { ...stored, payload: Buffer.from('{"n": 666, "sum": 12.50}') };
        stage.twin?.store.poke(toItem(changed));
        stage.wrote(undefined, nameOf(changed), changed);
      }
    }
  }

  // ---- ticks --------------------------------------------------------------------------------------------------------
  // A tick in which no row is to be looked at would find nothing; only some of those are run.

  #arm(row: Delivery): void {
    if (row.status === 'pending' || row.status === 'claimed') this.#armAt(row.lookAfterMs);
  }

  #armAt(ms: number): void {
    const { plan, nowMs, clockwork } = this.#stage;
    const behindMs = plan.ticksBehindMs;
    const minute = Math.floor((Math.max(ms, nowMs) - behindMs) / MINUTE_MS) + 1;
    if (this.#armed.has(minute)) return;
    this.#armed.add(minute);
    clockwork.at(minute * MINUTE_MS + behindMs, () => this.#tick(minute));
  }

  #armRescue(): void {
    const minute = (Math.floor(this.#stage.nowMs / (10 * MINUTE_MS)) + 1) * 10;
    const { ticksBehindMs } = this.#stage.plan;
    // By a clock that is behind, the tick of the next minute still has this number; by one that is ahead, the last one has.
    if (isLateInMinute(ticksBehindMs)) this.#armAt((minute - 2) * MINUTE_MS + ticksBehindMs);
    this.#armAt((minute - 1) * MINUTE_MS + ticksBehindMs);
    this.#armAt(minute * MINUTE_MS + ticksBehindMs);
    this.#stage.clockwork.at(minute * MINUTE_MS, () => {
      if (!this.#haveArrived()) this.#armRescue();
      return false;
    });
  }

  #tick(minute: number): boolean {
    const { fates, draws } = this.#stage;
    for (const row of this.#rows()) {
      if (row.status === 'pending' || row.status === 'claimed') this.#armAt(row.lookAfterMs);
    }
    if (this.#sweeps === 'off' || (this.#sweeps === 'slow' && minute % 15 !== 0)) return false;
    const n = draws.nth('tick');
    if (!this.#isWorth(minute) && draws.at('tick', n, 31) > 0.15) return false;
    const fate = fates.pick('tick', 'tick', n);
    if (fate === 'tick-missed') return false;
    for (let times = fate === 'tick-twice' ? 2 : 1; times > 0; times -= 1) this.#tickOnce();
    return true;
  }

  #isWorth(minute: number): boolean {
    const nowMs = this.#stage.nowMs;
    const isOverdue = this.#rows().some((row) => 'lookAfterMs' in row && row.lookAfterMs <= nowMs + 3_000);
    const mayRescue = minute % 10 <= 1 || (minute % 10 === 9 && isLateInMinute(this.#stage.plan.ticksBehindMs));
    return isOverdue || (mayRescue && this.#queue.deadCount > 0);
  }

  #tickOnce(): void {
    const actor = this.#stage.actor('tick');
    tick(portsOf(this.#around, actor), TICK_MS).then(
      () => {
        actor.ended = true;
      },
      (error: unknown) => noteBug(this.#around, actor, error),
    );
  }

  #isIdle(body: string): boolean {
    const { shard, tick: number } = JSON.parse(body) as { shard: number; tick: number };
    const nowMs = this.#stage.nowMs;
    const isOverdue = this.#rows().some(
      (row) =>
        (row.status === 'pending' || row.status === 'claimed') &&
        row.lookAfterMs <= nowMs + 3_000 &&
        dueShard(row.event, row.destination, DUE_SHARDS) === shard,
    );
    const rescues = shard === 0 && number % 10 === 0 && this.#queue.deadCount > 0;
    return !isOverdue && !rescues && !this.#stage.draws.happens('an idle sweep', 0.12);
  }

  // ---- the end ------------------------------------------------------------------------------------------------------

  #calm(): void {
    const stage = this.#stage;
    stage.fates.quiet = true;
    this.#sweeps = 'on';
    stage.note(undefined, { kind: 'quiet' });
    // The deploy is through, and the clocks are right again.
    const deployed = stage.processes.some(({ code }) => code === 'next');
    for (const process of stage.processes) {
      if (deployed) process.code = 'next';
      if (Math.abs(process.skewMs) > 2_500) process.skewMs = 0;
    }
    for (const row of this.#rows()) this.#arm(row);
    if (stage.plan.opens) this.#people.resumeAll('at-the-end');
  }

  #rows(): readonly Delivery[] {
    return [...this.#stage.rows.values()];
  }

  #atRest(): boolean {
    const stage = this.#stage;
    if (this.#people.waiting > 0) return false;
    return (
      this.#haveArrived() && this.#rows().every((row) => isAtRest(row, stage.gates.get(row.destination), stage.nowMs))
    );
  }

  /** Every event that the queue has taken stands in the ledger, for each of its destinations that is still there. */
  #haveArrived(): boolean {
    const { plan, rows } = this.#stage;
    if (plan.shares.has('delete')) return true;
    return plan.events.every(
      ({ id, by, destinations }) =>
        by === 'api' || destinations.every((destination) => rows.has(nameOf(deliveryRef(id, destination)))),
    );
  }

  /** The records themselves must say what was written: whatever the codec loses shows here. */
  async #torn(): Promise<readonly string[]> {
    return tornIn(this.#stage);
  }
}

/** So late that a clock that is ahead within the margin counts the next minute already. */
const isLateInMinute = (behindMs: number): boolean => behindMs > MINUTE_MS - 2_600;

const deliveryRef = (event: string, destination: string) =>
  ({ item: 'delivery', event: eventIdOf(event), destination: destinationIdOf(destination) }) as const;

const tornIn = ({ standing, twin, touched, later }: Stage): readonly string[] => {
  const torn: string[] = [];
  if (twin === undefined) return torn;
  for (const [name, item] of standing) {
    if (item.item !== 'delivery') continue;
    const wanted = toItem(item satisfies ItemOf<'delivery'>);
    const there = twin.store.peek(keyIn(wanted)) ?? {};
    const differs = Object.keys(wanted).find(
      (attribute) =>
        attribute !== FORMAT_ATTRIBUTE && JSON.stringify(wanted[attribute]) !== JSON.stringify(there[attribute]),
    );
    if (differs !== undefined)
      torn.push(`${item.event} to ${item.destination} is not stored as it was written: ${differs}`);
    const dropped = touched.has(name) && there[NEW_ATTRIBUTE] === undefined;
    if (dropped) torn.push(`${item.event} to ${item.destination} has lost what newer code had added`);
  }
  for (const [name, key] of later) {
    if (!isLater(twin.store.peek(key))) torn.push(`${name} has gone back from the format of newer code`);
  }
  return torn;
};
