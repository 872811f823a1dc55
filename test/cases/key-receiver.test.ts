/** Real failures with business keys and outgoing keys, from the door to the request that leaves. */

import { describe, expect, it } from 'vitest';
import { deliverMessage, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER } from '../support/world-states.ts';

const keysOf = (world: TestWorld) => world.sender.sends.map(({ headers }) => headers['idempotency-key'] ?? '');

const VISIBLE_ASCII = /^[!-~]{1,64}$/;

describe('two deliveries whose ids would run together', () => {
  it.each(['#', ':', '|', '/', '%', ',', ' '])(
    'are two rows and two outgoing keys with %j in them [C035]',
    async (sign) => {
      const world = openTestWorld();
      const pairs = [
        [`a${sign}b`, 'c'],
        ['a', `b${sign}c`],
      ] as const;
      for (const [event, destination] of pairs) {
        expect((await world.destination(destination)).status).toBe(201);
        await world.accepted(event, destination);
      }
      await world.run(0);
      for (const [event, destination] of pairs) {
        expect(await world.row(event, destination)).toMatchObject({ status: 'delivered', attempts: 1 });
      }
      expect(new Set(keysOf(world)).size).toBe(2);
    },
  );
});

describe('an id that is a number', () => {
  it('is refused at the door and filed as poison from the queue: two are never taken for one [C067]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER, { acceptFromQueue: true });
    for (const id of ['9007199254740992', '9007199254740993']) {
      const event = `{"id":${id},"payload":1,"destinations":["${PARTNER}"]}`;
      expect(await world.submit(event)).toMatchObject({ status: 422, body: { field: 'id' } });
      const pushed = await world.push(`{"kind":"event","format":1,"event":${event}}`);
      expect(pushed.body).toEqual({ verdict: 'ack', note: 'poison' });
      const reference = await world.push(`{"kind":"deliver","format":1,"event":${id},"destination":"${PARTNER}"}`);
      expect(reference.body).toEqual({ verdict: 'ack', note: 'poison' });
    }
    expect(world.store.writes.filter(({ ref }) => ref?.item === 'event' || ref?.item === 'delivery')).toEqual([]);
  });

  it('as a text stays itself: two events [C067]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    for (const id of ['9007199254740992', '9007199254740993']) await world.accepted(id, PARTNER);
    await world.run(0);
    expect(new Set(keysOf(world)).size).toBe(2);
  });
});

describe('an id that no header can carry', () => {
  it.each(['😀', 'заказ-17', 'é', '"quoted"', 'a\u2028b', 'x'.repeat(256)])(
    'goes out as visible ASCII, once: %j [C075]',
    async (id) => {
      const world = openTestWorld();
      await world.destination(PARTNER);
      await world.accepted(id, PARTNER);
      await world.run(0);
      expect(await world.row(id, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
      expect(keysOf(world)).toEqual([expect.stringMatching(VISIBLE_ASCII)]);
      expect(world.sender.sends[0]?.headers['webhook-id']).toMatch(/^[^.]+$/);
    },
  );

  it('is never sent at all where a header of the destination cannot leave: one attempt, no endless retry [C075]', async () => {
    const world = await opened(openTestWorld());
    world.sender.script({ kind: 'not-sent', cause: 'argument', detail: 'a header holds é', durationMs: 0 });
    await world.run(0);
    await world.run(3_600_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'blocked', attempts: 1 });
  });
});

describe('a retry', () => {
  it('carries the same ids and byte-identical content as the attempt before it [C111]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const payload = '{ "at" : "2026-01-01" ,"n":1.0, "list":[3, 1,2] }';
    await world.submit(`{"id":"${EVENT}","payload":${payload},"destinations":["${PARTNER}"]}`);
    world.sender.script(answered(500), answered(500), answered(200));
    await world.run(120_000);
    const sent = world.sender.sends.map(({ headers, body }) => ({
      id: headers['webhook-id'],
      key: headers['idempotency-key'],
      type: headers['content-type'],
      body: Buffer.from(body).toString(),
    }));
    expect(sent).toHaveLength(3);
    expect(sent[0]?.body).toBe(payload);
    expect(sent[1]).toEqual(sent[0]);
    expect(sent[2]).toEqual(sent[0]);
    expect(sent[0]?.id).toBe(sent[0]?.key);
  });
});

describe('letters and blanks that look alike', () => {
  it.each([
    ['composed and decomposed é', 'é', 'e\u0301'],
    ['a blank before it', 'a', ' a'],
    ['a blank behind it', 'a', 'a '],
    ['upper and lower case', 'a', 'A'],
  ])('are two events from the door to the wire: %s', async (_what, one, other) => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    for (const id of [one, other]) await world.accepted(id, PARTNER);
    await world.run(0);
    expect(new Set(keysOf(world)).size).toBe(2);
    expect((await world.row(one, PARTNER)).status).toBe('delivered');
    expect((await world.row(other, PARTNER)).status).toBe('delivered');
  });

  it('are each one rule at every door: composed and decomposed [C164], with and without a blank [C165]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    for (const id of ['é', 'e\u0301', 'a', ' a']) {
      await world.accepted(id, PARTNER);
      expect((await world.deliver(id, PARTNER)).body).toEqual({ verdict: 'ack', note: 'settled' });
      expect((await world.deliver(id, PARTNER)).body).toEqual({ verdict: 'ack', note: 'done' });
    }
    expect(new Set(keysOf(world)).size).toBe(4);
  });

  it('are one event where there is no letter at all: an empty payload twice [C164]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const event = { id: EVENT, payloadBase64: '', contentType: 'application/octet-stream', destinations: [PARTNER] };
    expect([(await world.submit(event)).status, (await world.submit(event)).status]).toEqual([202, 202]);
    await world.run(0);
    expect(world.sender.sends.map(({ body }) => body.length)).toEqual([0]);
  });
});

describe('a message that was published again', () => {
  it('under three ids of the queue is one row and one success [C181]', async () => {
    const world = await opened(openTestWorld());
    const message = deliverMessage(EVENT, PARTNER);
    for (const messageId of ['qmsg_1', 'qmsg_2', 'qmsg_3']) {
      expect((await world.push(message, { messageId })).status).toBe(200);
    }
    expect(world.sender.sends).toHaveLength(1);
    const { journal } = await world.row(EVENT, PARTNER);
    expect(journal.lines.filter(({ entry }) => entry.class === 'delivered')).toHaveLength(1);
  });
});
