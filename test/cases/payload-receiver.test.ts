/** Real failures with the content of an event, between its acceptance and the request that carries it. */

import { describe, expect, it } from 'vitest';
import { keyOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { DUE_SHARDS } from '../../functions/core/limits.ts';
import { deliverBody, drainBody, readMessage, redriveBody, sweepBody } from '../../functions/core/message.ts';
import type { Ref } from '../../functions/ports.ts';
import { destinationId, eventId, openTestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { alter, EVENT, opened, PARTNER } from '../support/world-states.ts';

const THE_EVENT: Ref = { item: 'event', event: eventId(EVENT) };

describe('one event id with two contents', () => {
  it('is a conflict when only the order of an array differs: on record, and the first goes on [C010]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const event = (items: string) => `{"id":"${EVENT}","payload":{"items":${items}},"destinations":["${PARTNER}"]}`;
    expect((await world.submit(event('[1,2]'))).status).toBe(202);
    expect((await world.submit(event('[2,1]'))).status).toBe(409);
    await world.run(0);
    expect(world.sender.sends.map(({ body }) => Buffer.from(body).toString())).toEqual(['{"items":[1,2]}']);
  });
});

describe('a content that changes between two attempts', () => {
  it('is not sent: the delivery is held, by name [C113]', async () => {
    const world = await opened(openTestWorld());
    world.sender.script(answered(500));
    await world.run(0);
    alter(world, THE_EVENT, (record) => ({ ...record, ...otherBytes(record) }));
    await world.run(60_000);
    expect(world.sender.sends).toHaveLength(1);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'payload-changed' });
    expect(world.telemetry.counted('payload-changed')).toBe(1);
  });

  it('would have been sent unchanged: it is the change that holds it [C113]', async () => {
    const world = await opened(openTestWorld());
    world.sender.script(answered(500));
    await world.run(60_000);
    expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
  });

  it('that is gone ends the delivery with a reason, never in silence [C158]', async () => {
    const world = await opened(openTestWorld());
    world.sender.script(answered(500));
    await world.run(0);
    world.store.remove(keyOf(THE_EVENT));
    await world.run(60_000);
    expect(world.sender.sends).toHaveLength(1);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'payload-changed' });
  });

  it('needs no source: what was accepted is delivered although its producer has forgotten it [C158]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const body = Buffer.from(`{"id":"${EVENT}","payload":{"state":"paid"},"destinations":["${PARTNER}"]}`);
    await world.submit(body.toString());
    body.fill(0);
    world.sender.script(answered(503));
    await world.run(60_000);
    expect(world.sender.sends.map((sent) => Buffer.from(sent.body).toString())).toEqual(
      Array(2).fill('{"state":"paid"}'),
    );
  });
});

/** The stored bytes of the payload, one of them another. */
const otherBytes = (record: Readonly<Record<string, { B?: Uint8Array }>>) => {
  const [name, value] =
    Object.entries(record).find(([, { B }]) => B !== undefined && Buffer.from(B).toString() === '{"n":1}') ?? [];
  if (name === undefined || value?.B === undefined) throw new Error('no payload in the record');
  return { [name]: { B: Uint8Array.from(Buffer.from('{"n":2}')) } };
};

const DRAIN = {
  kind: 'drain',
  destination: destinationId(PARTNER),
  drain: 7,
  page: 0,
  fromMs: 1_767_225_600_000,
  sent: 0,
} as const;

describe('whatever the publishers of this code can make', () => {
  const ids = ['order-17', 'a#b', '😀', '"', '\\', 'é', ' a ', 'x'.repeat(256), '</script>', '\u2028'];
  const bodies = [
    ...ids.flatMap((id) => ids.map((other) => deliverBody(eventId(id), destinationId(other)))),
    ...Array.from({ length: DUE_SHARDS }, (_, shard) => sweepBody(shard, 29_453_760, 0)),
    sweepBody(0, 0, 12),
    ...ids.map((id) => drainBody({ ...DRAIN, destination: destinationId(id) })),
    drainBody({ ...DRAIN, cursor: 'x'.repeat(8_192) }),
    redriveBody('A-z_09', 0, 0),
    redriveBody('x'.repeat(64), 4_000, 3),
  ];

  it('is understood by the receiver [C144]', () => {
    for (const body of bodies) {
      const read = readMessage(Buffer.from(body), 0);
      expect([body, read.kind]).toEqual([body, 'message']);
    }
  });

  it('comes through the push side as it was published: every message of a whole life [C144]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    for (const id of ids) await world.accepted(id, PARTNER);
    world.sender.script(...ids.map(() => answered(500)), answered(429, { retryAfter: ['30'] }));
    await world.tick();
    await world.run(300_000);
    await world.tick();
    await world.run(0);
    expect(world.queue.published.length).toBeGreaterThan(30);
    expect(world.store.writes.filter(({ ref }) => ref?.item === 'poison')).toEqual([]);
    for (const id of ids) expect((await world.row(id, PARTNER)).status).toBe('delivered');
  });

  it('is stored with a reason when it is refused, and never deleted unseen [C144]', async () => {
    const world = openTestWorld();
    await world.push({ kind: 'deliver', format: 1, event: 'a' }, { messageId: 'm1' });
    expect(await world.records.load({ item: 'poison', id: 'message:m1' })).toMatchObject({
      kind: 'found',
      item: { reason: expect.stringContaining('destination') },
    });
  });
});
