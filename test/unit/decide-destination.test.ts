/** Decisions about a destination: pause, resume, test, delete. */

import { describe, expect, it } from 'vitest';
import { fingerprintOfBytes } from '../../functions/core/fingerprint.ts';
import type { Gate } from '../../functions/core/items.ts';
import { publishKeyOf } from '../../functions/core/keys.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { accept } from '../../functions/steps/accept.ts';
import { resume } from '../../functions/steps/resume.ts';
import { CALLS, decideBy, decisionOf, isDecided } from '../support/decisions.ts';
import { destinationId, eventId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER, RESTING, toLaterFormat } from '../support/world-states.ts';

const ID = destinationId(PARTNER);
const GATE = { item: 'gate', destination: ID } as const;

const gateOf = async (world: TestWorld): Promise<Gate | undefined> => {
  const found = await world.records.load(GATE);
  return found.kind === 'found' ? found.item : undefined;
};

const putGate = async (world: TestWorld, gate: Partial<Gate>): Promise<void> => {
  const before = await gateOf(world);
  const next: Gate = { item: 'gate', destination: ID, carried: {}, ...gate, version: (before?.version ?? 0) + 1 };
  if (before) await world.records.replace<Gate>(before, next);
  else await world.records.create<Gate>(next);
};

/** The gate is written, and then the request is cut off. */
const cutOffBehindTheGate = (world: TestWorld): void => {
  world.ledgerHooks.after = ({ kind, ref }) => {
    if (ref?.item !== 'gate' || kind === 'load') return;
    delete world.ledgerHooks.after;
    throw new PortUnavailable('ledger', 'cut off behind the gate');
  };
};

const BREAKER = { by: 'system', reason: '20 failures in a row over 12 minutes', sinceMs: 1 };

describe('a pause', () => {
  it('holds what comes, with its actor and reason, and spends nothing of it', async () => {
    const world = await opened(openTestWorld());
    const answer = await decideBy(world, CALLS.pause, 'stop-it');
    expect(answer.body).toMatchObject({
      ...{ state: 'paused', by: 'holder-of-pause', reason: CALLS.pause.body.reason, since: '2026-01-01T00:00:00.000Z' },
      ...{ parked: { count: 0 }, decision: 'stop-it' },
    });
    await world.run(5_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({
      status: 'pending',
      attempts: 0,
      parking: { reason: 'paused' },
    });
    expect(world.sender.sends).toEqual([]);
    expect(await decisionOf(world, 'stop-it')).toMatchObject({ command: 'pause', before: 'active', result: 'done' });
  });

  it('of a destination that is paused keeps the first one, with its reason', async () => {
    const world = await opened(openTestWorld());
    await decideBy(world, CALLS.pause, 'first');
    const gate = await gateOf(world);
    const again = await decideBy(world, CALLS.pause, 'second', { right: 'admin', body: { reason: 'me too' } });
    expect(again.body).toMatchObject({ status: 409, code: 'already-paused' });
    for (const word of ['holder-of-pause', CALLS.pause.body.reason]) expect(again.text).toContain(word);
    expect(await gateOf(world)).toEqual(gate);
    expect(isDecided(world, 'second')).toBe(false);
    expect((await decideBy(world, CALLS.pause, 'first')).body).toMatchObject({ state: 'paused', decision: 'first' });
  });

  it('of a destination that its breaker has paused is the person’s own: no probe ends it', async () => {
    const world = await opened(openTestWorld());
    await putGate(world, { pause: { ...BREAKER, probeAtMs: world.clock.nowMs() } });
    expect((await decideBy(world, CALLS.pause, 'mine')).body).toMatchObject({ state: 'paused', by: 'holder-of-pause' });
    await world.run(5_000);
    expect(world.sender.sends).toEqual([]);
    await resume(world.ports, ID, world.clock.nowMs());
    expect((await gateOf(world))?.pause).toMatchObject({ by: 'holder-of-pause' });
  });

  it('that was cut off behind the gate does not pause once more after somebody has resumed', async () => {
    const world = await opened(openTestWorld());
    cutOffBehindTheGate(world);
    expect((await decideBy(world, CALLS.pause, 'torn')).status).toBe(503);
    await decideBy(world, CALLS.resume, 'other');
    expect((await decideBy(world, CALLS.pause, 'torn')).body).toMatchObject({ state: 'active', decision: 'torn' });
    expect((await gateOf(world))?.pause).toBeUndefined();
  });

  it('would pause once more, were the request not named in the gate', async () => {
    const world = await opened(openTestWorld());
    cutOffBehindTheGate(world);
    await decideBy(world, CALLS.pause, 'torn');
    await decideBy(world, CALLS.resume, 'other');
    const { decided: _names, ...unnamed } = (await gateOf(world)) ?? {};
    await putGate(world, unnamed);
    expect((await decideBy(world, CALLS.pause, 'torn')).body).toMatchObject({ state: 'paused' });
  });

  it.each(['pause', 'resume'] as const)('leaves a gate of newer code alone: %s', async (call) => {
    const world = await opened(openTestWorld());
    await putGate(world, { pause: BREAKER });
    toLaterFormat(world, GATE);
    const writes = await world.writesOf(async () => {
      expect((await decideBy(world, CALLS[call], 'old')).body).toMatchObject({ code: 'written-by-newer-code' });
    });
    expect(writes).toEqual([]);
    expect(isDecided(world, 'old')).toBe(false);
  });
});

describe('a resume', () => {
  it('opens what was paused and closed, forgets the failures, and lets go what was held', async () => {
    const world = await opened(openTestWorld());
    await decideBy(world, CALLS.pause, 'hold');
    await world.run(5_000);
    const nowMs = world.clock.nowMs();
    const before = (await gateOf(world)) ?? {};
    await putGate(world, {
      ...before,
      closedUntilMs: nowMs + 3_600_000,
      closedSinceMs: nowMs,
      failures: { count: 7, sinceMs: 1 },
    });
    const answer = await decideBy(world, CALLS.resume, 'go');
    expect(answer.body).toMatchObject({ state: 'active', decision: 'go', parked: { count: 1 } });
    const gate = await gateOf(world);
    for (const member of ['pause', 'closedUntilMs', 'closedSinceMs', 'failures'])
      expect(gate).not.toHaveProperty(member);
    await world.run(5_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('of a destination that is open changes nothing, but lets go what may have been left behind', async () => {
    const world = await opened(openTestWorld());
    const answer = await decideBy(world, CALLS.resume, 'go');
    expect(answer.body).toMatchObject({ state: 'active' });
    expect(await gateOf(world)).toBeUndefined();
    expect(world.queue.published.at(-1)?.body).toContain('"kind":"drain"');
  });

  it('enqueues one drain for one decision, named by its time; another decision has another', async () => {
    const world = await opened(openTestWorld());
    const atMs = world.clock.nowMs();
    await decideBy(world, CALLS.resume, 'one');
    await world.clock.advance(1_000);
    await decideBy(world, CALLS.resume, 'one');
    await decideBy(world, CALLS.resume, 'two');
    const drains = world.queue.published.filter(({ body }) => body.includes('drain')).map(({ key }) => key);
    expect(drains).toEqual([atMs, atMs + 1_000].map((drain) => publishKeyOf('drain', ID, drain, 0)));
  });

  it('that was cut off behind the gate does not open it once more after somebody has paused', async () => {
    const world = await opened(openTestWorld());
    await decideBy(world, CALLS.pause, 'hold');
    cutOffBehindTheGate(world);
    expect((await decideBy(world, CALLS.resume, 'torn')).status).toBe(503);
    await decideBy(world, CALLS.pause, 'hold-again');
    expect((await decideBy(world, CALLS.resume, 'torn')).body).toMatchObject({ state: 'paused' });
  });

  it('by a probe takes back what the breaker did, and not what the destination asked for', async () => {
    const world = await opened(openTestWorld());
    const closedUntilMs = world.clock.nowMs() + 60_000;
    await putGate(world, {
      ...{ pause: { ...BREAKER, probeAtMs: 5 }, failures: { count: 20, sinceMs: 1 } },
      ...{ closedUntilMs, closedSinceMs: world.clock.nowMs() },
    });
    expect(await resume(world.ports, ID, 5)).toBe(true);
    const gate = await gateOf(world);
    expect(gate).toMatchObject({ closedUntilMs });
    expect([gate?.pause, gate?.failures]).toEqual([undefined, undefined]);
    expect(world.queue.published.at(-1)?.key).toBe(publishKeyOf('drain', ID, 5, 0));
  });

  it('by a probe enqueues nothing where a person has paused in the meantime', async () => {
    const world = await opened(openTestWorld());
    await putGate(world, { pause: BREAKER });
    const published = world.queue.published.length;
    expect(await resume(world.ports, ID, 5)).toBe(true);
    expect((await gateOf(world))?.pause).toEqual(BREAKER);
    expect(world.queue.published.length).toBe(published);
  });

  it('says so where the queue did not take the drain', async () => {
    const world = await opened(openTestWorld());
    world.queue.away = true;
    expect(await resume(world.ports, ID, 5)).toBe(false);
    expect(world.telemetry.counted('publish-failed')).toBe(1);
  });
});

describe('a test of a destination', () => {
  const rowOf = (world: TestWorld, answer: { body: unknown }) =>
    world.row((answer.body as { event: string }).event, PARTNER);

  it('sends a harmless event through the normal way, journaled like any other', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const answer = await decideBy(world, CALLS.test, 'try');
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ event: expect.stringMatching(/^test~/), decision: 'try' });
    await world.run(5_000);
    const [sent] = world.sender.sends;
    expect(Buffer.from(sent?.body ?? []).toString()).toBe('{"onceward":"test"}');
    expect(sent?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-signature': expect.any(String),
    });
    const row = await rowOf(world, answer);
    expect(row).toMatchObject({ status: 'delivered' });
    expect(row.journal.lines[0]?.entry).toMatchObject({ kind: 'accepted', cause: 'a:try' });
    const { href } = answer.body as { href: string };
    expect((await world.call('operator', 'GET', href, { token: world.token('view') })).status).toBe(200);
  });

  it('is another event for every request, and the same for the same', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const answers = [];
    for (const request of ['a', 'b', 'a']) answers.push(await decideBy(world, CALLS.test, request));
    const [a, b, again] = answers.map(({ text }) => text);
    expect(again).toBe(a);
    expect(b).not.toBe(a);
    await world.run(5_000);
    expect(world.sender.sends).toHaveLength(2);
  });

  it('waits where the destination is paused', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    await decideBy(world, CALLS.pause, 'hold');
    const answer = await decideBy(world, CALLS.test, 'try');
    await world.run(5_000);
    expect(await rowOf(world, answer)).toMatchObject({ status: 'pending', parking: { reason: 'paused' } });
  });

  it('is refused where somebody else’s event stands under its id, and that event goes on', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const { event } = (await decideBy(world, CALLS.test, 'try')).body as { event: string };
    const other = openTestWorld();
    await other.destination(PARTNER);
    // Intake refuses such an id by now; it may stand there from before.
    const payload = Buffer.from('mine');
    const [contentType, destinations] = ['text/plain', [destinationId(PARTNER)]];
    const fingerprint = fingerprintOfBytes(contentType, payload);
    const mine = { event: eventId(event), payload, contentType, fingerprint, destinations };
    await accept(other.ports, mine, { kind: 'api', cause: 'i:before' });
    const refused = await decideBy(other, CALLS.test, 'try');
    expect(refused.body).toMatchObject({ status: 409, code: 'event-conflict' });
    expect((await decideBy(other, CALLS.test, 'try')).text).toBe(refused.text);
    expect(await other.row(event, PARTNER)).toMatchObject({ status: 'pending' });
  });
});

describe('the deletion of a destination', () => {
  const show = (world: TestWorld) =>
    world.call('operator', 'GET', `/v1/destinations/${PARTNER}`, { token: world.token('view') });

  it('leaves its id taken, and ends by name what is open there when it is next looked at', async () => {
    const world = await opened(openTestWorld());
    const answer = await decideBy(world, CALLS.delete, 'away');
    expect(answer.body).toEqual({ destination: PARTNER, deletedAt: '2026-01-01T00:00:00.000Z', decision: 'away' });
    expect((await show(world)).status).toBe(404);
    expect((await world.destination(PARTNER)).body).toMatchObject({ status: 409, code: 'destination-deleted' });
    expect((await world.submit({ id: 'late', payload: 1, destinations: [PARTNER] })).status).toBe(422);
    await world.run(5_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'no-destination' });
    expect(world.sender.sends).toEqual([]);
  });

  it('ends what is parked there within the hour', async () => {
    const world = openTestWorld();
    await RESTING['parked at a paused destination']?.(world);
    await decideBy(world, CALLS.delete, 'away');
    await world.clock.advance(3_600_000);
    await world.tick();
    await world.run(60_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'no-destination' });
  });

  it('by a second request finds nothing', async () => {
    const world = await opened(openTestWorld());
    await decideBy(world, CALLS.delete, 'away');
    expect((await decideBy(world, CALLS.delete, 'again')).body).toMatchObject({ status: 404, code: 'not-found' });
  });

  it('goes through although settings are changed at the same moment', async () => {
    const world = await opened(openTestWorld());
    world.ledgerHooks.before = async ({ kind, ref }) => {
      if (kind !== 'replace' || ref?.item !== 'destination') return;
      delete world.ledgerHooks.before;
      await world.destination(PARTNER, { timeoutMs: 5_000 });
    };
    expect((await decideBy(world, CALLS.delete, 'away')).status).toBe(200);
    expect((await show(world)).status).toBe(404);
  });
});

describe('what a pause keeps', () => {
  it('is not touched by a redrive: a redriven delivery waits like any other', async () => {
    const world = await opened(openTestWorld());
    world.sender.script(answered(422));
    await world.deliver(EVENT, PARTNER);
    await decideBy(world, CALLS.pause, 'hold');
    await decideBy(world, CALLS.redrive, 'send');
    await world.run(10_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'pending', parking: { reason: 'paused' } });
    expect(world.sender.sends).toHaveLength(1);
  });
});
