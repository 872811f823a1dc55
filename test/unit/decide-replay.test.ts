/** Replay: what was delivered, once more, as a new event that is linked to the old one. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { parseEventId, parseRequestId } from '../../functions/core/ids.ts';
import { ID_BYTES_MAX } from '../../functions/core/limits.ts';
import { replayIdOf } from '../../functions/operator/commands/replay.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { CALLS, decideBy, decisionOf, isDecided } from '../support/decisions.ts';
import { eventId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, PARTNER } from '../support/world-states.ts';

const BODY = '{ "b":1.0,  "a":[1e2, "é"] }';

/** Delivered to all of these, but for those that answer with a refusal. */
const deliveredTo = async (destinations: readonly string[], refusing: readonly string[] = []): Promise<TestWorld> => {
  const world = openTestWorld();
  for (const id of destinations) await world.destination(id, { url: `https://${id}.example/hook` });
  world.sender.always(async ({ url }) => answered(refusing.some((id) => url.includes(`//${id}.`)) ? 422 : 200));
  const list = JSON.stringify(destinations);
  await world.submit(`{"id":"${EVENT}","type":"order.paid","payload":${BODY},"destinations":${list}}`);
  await world.run(5_000);
  world.sender.always(answered(200));
  return world;
};

const made = z.object({
  event: z.string(),
  replayOf: z.string(),
  deliveries: z.array(z.object({ destination: z.string(), href: z.string() })),
});

const eventOf = async (world: TestWorld, id: string) => {
  const found = await world.records.load({ item: 'event', event: eventId(id) });
  if (found.kind !== 'found') throw new Error(`event ${id}: ${found.kind}`);
  return found.item;
};

const show = (world: TestWorld, path: string) => world.call('operator', 'GET', path, { token: world.token('view') });

describe('a replay', () => {
  it('is a new event with the same bytes, linked to the old one, under keys of its own', async () => {
    const world = await deliveredTo([PARTNER, 'audit']);
    const answer = await decideBy(world, CALLS.replay, 'once-more');
    expect(answer.status).toBe(202);
    const { event, replayOf, deliveries } = z.parse(made, answer.body);
    expect(replayOf).toBe(EVENT);
    expect(event).toMatch(/^order-17~replay~[\w-]{22}$/);
    expect(deliveries.map(({ destination }) => destination)).toEqual([PARTNER, 'audit']);
    await world.run(5_000);
    const [one, two] = [await eventOf(world, EVENT), await eventOf(world, event)];
    for (const member of ['type', 'contentType', 'fingerprint', 'payloadHash'] as const) {
      expect(two[member], member).toBe(one[member]);
    }
    expect(Buffer.from(two.payload).toString()).toBe(BODY);
    expect((await show(world, `/v1/events/${event}`)).body).toMatchObject({ replayOf: EVENT });
    const sent = world.sender.sends.map(({ body, headers }) => ({ body, key: headers['idempotency-key'] }));
    expect(sent.map(({ body }) => Buffer.from(body).toString())).toEqual([BODY, BODY, BODY, BODY]);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(4);
    expect(await world.row(event, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(await decisionOf(world, 'once-more')).toMatchObject({ command: 'replay', event: EVENT, result: 'done' });
  });

  it('shows each delivery where it says that it is', async () => {
    const world = await deliveredTo([PARTNER]);
    const { deliveries } = z.parse(made, (await decideBy(world, CALLS.replay, 'once-more')).body);
    expect((await show(world, deliveries[0]?.href ?? '')).body).toMatchObject({ status: 'pending', attempts: 0 });
  });

  it('goes to some of the destinations where they are named', async () => {
    const world = await deliveredTo([PARTNER, 'audit']);
    const answer = await decideBy(world, CALLS.replay, 'once-more', { body: { destinations: ['audit'] } });
    expect(z.parse(made, answer.body).deliveries.map(({ destination }) => destination)).toEqual(['audit']);
    await world.run(5_000);
    expect(world.sender.sends.map(({ url }) => new URL(url).hostname)).toEqual([
      ...['partner.example', 'audit.example', 'audit.example'],
    ]);
  });

  it('is no way around a budget: what was not delivered stays out, or is refused where it is named', async () => {
    const world = await deliveredTo([PARTNER, 'audit'], ['audit']);
    const named = await decideBy(world, CALLS.replay, 'named', { body: { destinations: ['audit'] } });
    expect(named.body).toMatchObject({ status: 409, code: 'not-delivered' });
    expect(named.body).toHaveProperty('detail', expect.stringContaining('audit is quarantined / rejected'));
    expect(isDecided(world, 'named')).toBe(false);
    const plain = await decideBy(world, CALLS.replay, 'plain');
    expect(z.parse(made, plain.body).deliveries.map(({ destination }) => destination)).toEqual([PARTNER]);
  });

  it('keeps its destinations when another delivery has come through before it is sent again', async () => {
    const world = await deliveredTo([PARTNER, 'audit'], ['audit']);
    world.ledgerHooks.after = ({ kind, ref }) => {
      if (kind !== 'create' || ref?.item !== 'event') return;
      delete world.ledgerHooks.after;
      throw new Error('the process has died');
    };
    expect((await decideBy(world, CALLS.replay, 'torn')).status).toBe(500);
    const row = await world.row(EVENT, 'audit');
    const { reason: _reason, ...rest } = row as Extract<typeof row, { status: 'quarantined' }>;
    await world.records.replace(row, { ...rest, version: row.version + 1, status: 'delivered', by: 'decision' });
    const again = await decideBy(world, CALLS.replay, 'torn');
    expect(z.parse(made, again.body).deliveries.map(({ destination }) => destination)).toEqual([PARTNER]);
    expect(await world.row(z.parse(made, again.body).event, PARTNER)).toMatchObject({ status: 'pending' });
  });

  it('of a replay is one more link', async () => {
    const world = await deliveredTo([PARTNER]);
    const first = z.parse(made, (await decideBy(world, CALLS.replay, 'one')).body);
    await world.run(5_000);
    const path = `/v1/events/${first.event}/replay`;
    const second = z.parse(made, (await decideBy(world, CALLS.replay, 'two', { path })).body);
    expect(second.replayOf).toBe(first.event);
    expect((await eventOf(world, second.event)).replayOf).toBe(first.event);
  });

  it('is refused where a destination is gone, and no event is left behind', async () => {
    const world = await deliveredTo([PARTNER]);
    await decideBy(world, CALLS.delete, 'away');
    const refused = await decideBy(world, CALLS.replay, 'late');
    expect(refused.body).toMatchObject({ status: 409, code: 'unknown-destination' });
    expect((await decideBy(world, CALLS.replay, 'late')).text).toBe(refused.text);
    expect(world.store.writes.filter(({ ref }) => ref?.item === 'event')).toHaveLength(1);
  });

  it('that stands already is told of, although its destination was deleted before it was sent again', async () => {
    const world = await deliveredTo([PARTNER]);
    world.ledgerHooks.before = ({ kind, ref }) => {
      if (kind === 'replace' && ref?.item === 'decision') throw new PortUnavailable('ledger', 'cut off at the result');
    };
    expect((await decideBy(world, CALLS.replay, 'torn')).status).toBe(503);
    world.ledgerBack();
    await decideBy(world, CALLS.delete, 'away');
    const again = await decideBy(world, CALLS.replay, 'torn');
    expect(again.status).toBe(202);
    expect(await world.row(z.parse(made, again.body).event, PARTNER)).toMatchObject({ status: 'pending' });
  });

  it('is refused where somebody else’s event stands under its id', async () => {
    const world = await deliveredTo([PARTNER]);
    const id = replayIdOf(eventId(EVENT), request('mine'));
    await world.submit({ id, payload: 'not a replay', destinations: [PARTNER] });
    expect((await decideBy(world, CALLS.replay, 'mine')).body).toMatchObject({ status: 409, code: 'event-conflict' });
    expect((await eventOf(world, id)).replayOf).toBeUndefined();
  });

  it('sends nothing where the stored bytes have changed since', async () => {
    const world = await deliveredTo([PARTNER]);
    const original = await eventOf(world, EVENT);
    const damaged = { ...original, version: 2, payload: Buffer.from('{"total":0}') };
    await world.records.replace(original, damaged);
    const { event } = z.parse(made, (await decideBy(world, CALLS.replay, 'once-more')).body);
    await world.run(5_000);
    expect(world.sender.sends).toHaveLength(1);
    expect(await world.row(event, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'payload-changed' });
  });
});

const request = (text: string) => {
  const parsed = parseRequestId(text);
  if (parsed.kind === 'bad') throw new TypeError(`request id ${parsed.reason}`);
  return parsed.id;
};

const eventIds = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 256 })
  .map((text) => parseEventId(text))
  .filter((parsed) => parsed.kind === 'ok')
  .map((parsed) => parsed.id);

describe('the id of a replay', () => {
  it('is always an id, begins as the old one does, and is another for every request and event', () => {
    fc.assert(
      fc.property(eventIds, eventIds, (one, other) => {
        const [a, b] = [replayIdOf(one, request('a')), replayIdOf(one, request('b'))];
        expect(parseEventId(a)).toMatchObject({ kind: 'ok' });
        expect(Buffer.byteLength(a)).toBeLessThanOrEqual(ID_BYTES_MAX);
        expect(replayIdOf(one, request('a'))).toBe(a);
        expect(a).not.toBe(b);
        if (one !== other) expect(replayIdOf(other, request('a'))).not.toBe(a);
        if (Buffer.byteLength(one) <= 226) expect(a.startsWith(`${one}~replay~`)).toBe(true);
      }),
    );
  });

  it('keeps whole letters of an id that is too long, and still tells two such ids apart', () => {
    const long = (end: string) => eventId(`${'é'.repeat(127)}${end}`);
    const [a, b] = [replayIdOf(long('a'), request('r')), replayIdOf(long('b'), request('r'))];
    expect(a.startsWith(`${'é'.repeat(113)}~replay~`)).toBe(true);
    expect(a).not.toBe(b);
    expect(Buffer.byteLength(a)).toBe(256);
  });
});
