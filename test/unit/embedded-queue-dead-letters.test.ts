import { describe, expect, it } from 'vitest';
import { API_KEY, embeddedWorld, QUEUE } from '../support/embedded-world.ts';

const DEAD = `${QUEUE}.dlq`;
const PAYLOAD = '{ "n":1.00, "n":2, "big":12345678901234567890, "u":"\\u00e9é" }';

describe('a message put straight to the dead letters', () => {
  it('is dead: counted, kept as it was given, and pushed to nobody', async () => {
    const { embedded, subscribe, receiver, pass } = await embeddedWorld();
    subscribe();
    const id = embedded.deadLetter(PAYLOAD);
    await pass(60_000);
    expect(receiver.received).toHaveLength(0);
    expect(embedded.stats(QUEUE)).toEqual({ available: 0, delayed: 0, inFlight: 0, oldestAgeMs: 0, dead: 1 });
    const response = await embedded.app.request('/v1/queue/consume', {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: JSON.stringify({ queue: DEAD }),
    });
    expect(await response.text()).toContain(`{"message_id":"${id}","delivery_count":1,"payload":${PAYLOAD}}`);
  });

  it('has an id of its own, beside those of published messages', async () => {
    const { embedded, publish } = await embeddedWorld();
    const ids = [embedded.deadLetter('{}'), await publish(1), embedded.deadLetter('{}'), await publish(2)];
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^qmsg_[0-9a-z]+$/);
  });

  it('comes to life by a redrive, like any other', async () => {
    const { embedded, subscribe, receiver, post } = await embeddedWorld();
    subscribe();
    const id = embedded.deadLetter('{"n":7}');
    await post(`dlq/redrive/${QUEUE}`, { message_id: id });
    await embedded.idle();
    expect(Buffer.from(receiver.received[0]?.body ?? []).toString()).toBe(`{"message_id":"${id}","payload":{"n":7}}`);
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 0, dead: 0 });
  });

  it('goes to the queue that is named, or to the first', async () => {
    const { embedded } = await embeddedWorld({ queues: ['one', 'two'] });
    embedded.deadLetter('{}');
    embedded.deadLetter('{}', 'two');
    embedded.deadLetter('{}', 'two');
    expect([embedded.stats('one')?.dead, embedded.stats('two')?.dead]).toEqual([1, 2]);
  });

  it.each(['', 'x', '[]', '"{}"', 'null', '{} {}'])('must be the text of an object: not %j', async (payload) => {
    const { embedded } = await embeddedWorld();
    expect(() => embedded.deadLetter(payload)).toThrow();
    expect(embedded.stats(QUEUE)?.dead).toBe(0);
  });

  it.each(['nowhere', DEAD])('has to have a queue to die in: not %s', async (queue) => {
    const { embedded } = await embeddedWorld();
    expect(() => embedded.deadLetter('{}', queue)).toThrow(queue);
  });
});

describe('a dead letter that is read', () => {
  it('is leased for as long as the reader asks, and counted as dead all the time', async () => {
    const { embedded, post, pass } = await embeddedWorld();
    const id = embedded.deadLetter('{"n":1}');
    const read = () => post('consume', { queue: DEAD, max_messages: 10, visibility_timeout: 900 });
    const items = [{ message_id: id, payload: { n: 1 } }];
    expect((await read()).body).toMatchObject({ data: { items } });
    await pass(899_999);
    expect((await read()).body).toMatchObject({ data: { items: [] } });
    expect(embedded.stats(QUEUE)).toMatchObject({ dead: 1, inFlight: 0 });
    expect(embedded.stats(DEAD)).toMatchObject({ available: 0, inFlight: 1 });
    await pass(1);
    expect((await read()).body).toMatchObject({ data: { items } });
  });

  it('is removed by an acknowledgement, and only while it is leased', async () => {
    const { embedded, post, pass } = await embeddedWorld();
    const id = embedded.deadLetter('{}');
    const ack = () => post('ack', { queue: DEAD, receipt_handle: id });
    const late = { body: { ok: false, error: { code: 'QUEUE_MESSAGE_NOT_IN_FLIGHT' } } };
    expect(await ack()).toMatchObject(late);
    await post('consume', { queue: DEAD, visibility_timeout: 900 });
    await pass(900_000);
    expect(await ack()).toMatchObject(late);
    await post('consume', { queue: DEAD, visibility_timeout: 900 });
    expect(await ack()).toMatchObject({ status: 200 });
    expect(embedded.stats(QUEUE)?.dead).toBe(0);
    expect(await ack()).toMatchObject(late);
  });

  it('cannot be acknowledged on the main queue', async () => {
    const { embedded, post } = await embeddedWorld();
    const id = embedded.deadLetter('{}');
    await post('consume', { queue: DEAD });
    expect(await post('ack', { queue: QUEUE, receipt_handle: id })).toMatchObject({ status: 409 });
    expect(embedded.stats(QUEUE)?.dead).toBe(1);
  });

  it('can be redriven while it is leased, and its reader then holds nothing', async () => {
    const { embedded, post, pass } = await embeddedWorld();
    const id = embedded.deadLetter('{}');
    await post('consume', { queue: DEAD, visibility_timeout: 900 });
    expect(await post(`dlq/redrive/${QUEUE}`, { message_id: id })).toMatchObject({ status: 200 });
    expect(await post('ack', { queue: DEAD, receipt_handle: id })).toMatchObject({ status: 409 });
    await pass(900_000);
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 1, dead: 0 });
  });
});

describe('a fault of the dead letters on request', () => {
  it('answers a redrive as always and does nothing, for the message named and for no other', async () => {
    const { embedded, post } = await embeddedWorld();
    const [stuck, other] = [embedded.deadLetter('{}'), embedded.deadLetter('{}')];
    embedded.faults.ignoreRedriveOf(stuck);
    const redrive = (id: string) => post(`dlq/redrive/${QUEUE}`, { message_id: id });
    expect((await redrive(stuck)).body).toMatchObject({ ok: true, data: { redriven: 1 } });
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 0, dead: 2 });
    expect((await redrive(other)).body).toMatchObject({ ok: true, data: { redriven: 1 } });
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 1, dead: 1 });
  });

  it('makes so many requests for statistics fail, and then no more', async () => {
    const { embedded, get } = await embeddedWorld();
    embedded.faults.failNextStats(2);
    const statuses = [];
    for (let nth = 0; nth < 3; nth += 1) statuses.push((await get(`/queue/stats/${QUEUE}`)).status);
    expect(statuses).toEqual([503, 503, 200]);
  });
});
