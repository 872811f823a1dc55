/**
 * Alarms that can fire: what each of them is for is made to happen to the real code, and what the code says of it puts the
 * alarm, as it stands in the template, into alarm. After a day on which all goes well, none is.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { renewing, SECRET_AGE_MS } from '../../functions/adapters/stored-settings.ts';
import { METRIC_NAMESPACE, METRICS } from '../../functions/core/metrics.ts';
import type { DeadLetters } from '../../functions/ports.ts';
import { reconcile } from '../../functions/reconciler/watch.ts';
import { eventId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, notSent, type Reaction, type RecordedTelemetry, unanswered } from '../support/world-ports.ts';
import { inAlarm, type Reading } from './alarm-state.ts';
import { alarmsIn, metricsOf } from './checks/alarms.ts';
import { resourcesOf } from './template.ts';

const MINUTE_MS = 60_000;

const OURS = new Map(
  alarmsIn(resourcesOf('both'))
    .filter(([, alarm]) => metricsOf(alarm).every(({ namespace }) => namespace === METRIC_NAMESPACE))
    .map(([id, alarm]) => [id.replace(/^OncewardAlarms|[0-9A-F]{8}$/g, ''), alarm] as const),
);

/** All that was said falls into one period. */
const readingOf =
  (telemetry: RecordedTelemetry): Reading =>
  (name, statistic) => {
    const latest = telemetry.measured.get(name);
    return latest === undefined || statistic === 'Maximum' ? latest : telemetry.counted(name);
  };

const redAfter = ({ telemetry }: Pick<TestWorld, 'telemetry'>): readonly string[] =>
  [...OURS].flatMap(([id, alarm]) => (inAlarm(alarm, readingOf(telemetry)) ? [id] : []));

const HEALTHY: Awaited<ReturnType<DeadLetters['stats']>> = {
  kind: 'stats',
  available: 0,
  delayed: 3,
  inFlight: 0,
  dead: 0,
  oldestAgeMs: 0,
};

const tick = (world: TestWorld, stats = HEALTHY) => reconcile({ ...world.ports, stats: async () => stats }, MINUTE_MS);

/** One delivery whose requests are answered so, in turn. */
const delivered = async (settings: Readonly<Record<string, unknown>>, ...reactions: readonly Reaction[]) => {
  const world = openTestWorld();
  await world.destination('partner', settings);
  world.sender.script(...reactions);
  await world.accepted('e1', 'partner');
  await world.run(1_000);
  return world;
};

const SCENES: Readonly<Record<string, () => Promise<Pick<TestWorld, 'telemetry'>>>> = {
  TickMissing: async () => openTestWorld(),
  SweepMissing: async () => {
    const world = openTestWorld();
    await tick(world);
    await world.run(1_000);
    await world.clock.advance(6 * MINUTE_MS);
    await tick(world);
    return world;
  },
  Overdue: async () => {
    const world = openTestWorld();
    await world.destination('partner');
    await world.accepted('e1', 'partner');
    world.queue.loseAll();
    await world.clock.advance(10 * MINUTE_MS);
    await tick(world);
    await world.run(1_000);
    await tick(world);
    return world;
  },
  NobodyConsumingOnInfrai: async () => {
    const world = openTestWorld();
    await tick(world, { ...HEALTHY, available: 40, oldestAgeMs: 301_000 });
    return world;
  },
  DeadLettersOnInfrai: async () => {
    const world = openTestWorld();
    await tick(world, { ...HEALTHY, dead: 1 });
    return world;
  },
  BudgetExhausted: () => delivered({ schedule: [] }, answered(500)),
  InDoubtHeld: () => delivered({ repeatSafe: false }, unanswered('timeout')),
  Refused: () => delivered({}, answered(422)),
  AddressBlocked: () => delivered({}, notSent('blocked')),
  DestinationPaused: () => delivered({}, answered(410)),
  DestinationClosed: () => delivered({}, answered(429, { retryAfter: ['7200'] })),
  BrokenData: async () => {
    const world = openTestWorld();
    await world.destination('partner');
    await world.accepted('e1', 'partner');
    const found = await world.records.load({ item: 'event', event: eventId('e1') });
    if (found.kind !== 'found') throw new Error(found.kind);
    world.store.poke(toItem({ ...found.item, payload: Buffer.from('{"n":2}') }));
    await world.run(1_000);
    return world;
  },
  PoisonFiled: async () => {
    const world = openTestWorld();
    await world.push({ kind: 'deliver', format: 1 });
    return world;
  },
  LaterFormat: async () => {
    const world = openTestWorld();
    await world.push({ kind: 'deliver', format: 99, event: 'e', destination: 'd' });
    return world;
  },
  LeasesLapsed: async () => {
    const world = openTestWorld();
    await world.destination('partner');
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await world.accepted(id, 'partner');
      world.queue.loseAll();
      const held = world.sender.hold();
      void world.deliver(id, 'partner');
      await held.left;
      await world.clock.advance(MINUTE_MS);
      await world.finish(world.deliver(id, 'partner'));
    }
    return world;
  },
  LedgerAway: async () => {
    const world = openTestWorld();
    world.ledgerAway();
    for (let n = 0; n < 3; n += 1) await world.deliver('e', 'partner');
    return world;
  },
  PublishFailing: async () => {
    const world = openTestWorld();
    world.queue.away = true;
    await tick(world);
    return world;
  },
  WalletEmpty: async () => {
    const world = openTestWorld();
    const publish = async () => ({ kind: 'failed', code: 'no-credit', detail: 'top it up' }) as const;
    await reconcile({ ...world.ports, queue: { ...world.queue, publish } }, MINUTE_MS);
    return world;
  },
  PushUnauthentic: async () => {
    const world = openTestWorld();
    for (let n = 0; n < 20; n += 1) await world.pushBody('{}', { headers: { 'x-infrai-signature': 'ff' } });
    return world;
  },
  SecretNotRenewed: async () => {
    const { ports, clock, telemetry } = openTestWorld();
    let reads = 0;
    const read = async (): Promise<string> => {
      reads += 1;
      if (reads > 1) throw new Error('away');
      return 'text';
    };
    const places = [{ setting: 'ONCEWARD_INFRAI_KEY', arn: 'arn:x' }];
    const handler = await renewing({ places, clock: ports.clock, telemetry, read }, async () => async () => 'done');
    await clock.advance(SECRET_AGE_MS);
    await handler();
    return { telemetry };
  },
};

describe('an alarm on a number of ours', () => {
  it('has a scene here, whichever it is', () => {
    expect([...OURS.keys()].toSorted()).toEqual(Object.keys(SCENES).toSorted());
  });

  it.each(Object.keys(SCENES))('%s goes off when what it is for has happened', async (id) => {
    expect(redAfter((await SCENES[id]?.()) ?? openTestWorld())).toContain(id);
  });

  it('is quiet while all goes well: accepted, tried twice, delivered; ticks and sweeps', async () => {
    const world = await delivered({}, answered(500));
    for (let minute = 0; minute < 4; minute += 1) {
      await tick(world);
      await world.run(MINUTE_MS);
    }
    expect(world.telemetry.counted('attempt-delivered')).toBe(1);
    expect(redAfter(world)).toEqual([]);
  });
});

describe('a number that has a name', () => {
  const sources = readdirSync('functions', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('core/metrics.ts'))
    .map((path) => readFileSync(`functions/${path}`, 'utf8'))
    .join('\n');

  /** By its name, or by a name that is put together: `attempt-${class}`. A bare word may be a member: `accepted: 1`. */
  const isSaid = (name: string): boolean =>
    sources.includes(`'${name}'`) ||
    new RegExp(`\\b${name}: [0-9a-z]`).test(sources) ||
    ['attempt', 'quarantined', 'redrive'].some(
      (kind) => name.startsWith(`${kind}-`) && sources.includes(`\`${kind}-\${`),
    ) ||
    sources.includes(`['${name}']`);

  it.each(Object.keys(METRICS))('%s is said by some function', (name) => {
    expect(isSaid(name)).toBe(true);
  });

  it('would be missed if nobody said it', () => {
    expect(isSaid('never-said')).toBe(false);
  });
});

describe('what the functions print', () => {
  it('holds no secret: no signature, no token, no key, no payload', async () => {
    const world = openTestWorld();
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const headers = { 'x-api-key': 'key-of-the-partner-123' };
    await world.destination('partner', { signingSecret: secret, headers });
    world.sender.script(answered(500, { excerpt: `you sent key-of-the-partner-123` }), unanswered('reset'));
    await world.submit({ id: 'e1', payload: { card: '4111-1111' }, destinations: ['partner'] });
    await world.run(120_000);
    await world.pushBody('{}', { headers: { 'x-infrai-signature': 'a-forged-signature' } });
    const printed = JSON.stringify(world.telemetry.lines);
    expect(world.telemetry.lines.filter(({ name }) => name === 'delivery.attempted')).toHaveLength(3);
    const secrets = [secret.slice(6), 'key-of-the-partner', '4111', 'a-forged-signature', world.token('send'), 'v1,'];
    expect(secrets.filter((text) => printed.includes(text))).toEqual([]);
    // The attempts themselves did carry them.
    const sent = JSON.stringify(world.sender.sends.map((one) => [one.headers, Buffer.from(one.body).toString()]));
    expect(['key-of-the-partner', '4111', 'v1,'].filter((text) => !sent.includes(text))).toEqual([]);
  });
});
