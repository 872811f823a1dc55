/** Real failures around the moment when a request has left and its outcome is not yet on record. */

import { describe, expect, it } from 'vitest';
import { leaseMsOf, SETTLE_TRIES_MAX, SKEW_MARGIN_MS, TIMEOUT_MS_DEFAULT } from '../../functions/core/limits.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER, sending } from '../support/world-states.ts';

const LAPSED_MS = leaseMsOf(TIMEOUT_MS_DEFAULT) + SKEW_MARGIN_MS + 1;
const MINUTE_MS = 60_000;

const keysOf = (world: TestWorld) => new Set(world.sender.sends.map(({ headers }) => headers['idempotency-key']));

const classesOf = async (world: TestWorld) =>
  (await world.row(EVENT, PARTNER)).journal.lines.map(({ entry }) => entry.class).filter(Boolean);

/** The destination answers 200, and from then on so many writes of a row fail. */
const failWritesAfterSend = (world: TestWorld, failures: number): void => {
  let left = failures;
  world.ledgerHooks.before = ({ kind, ref }) => {
    if (kind !== 'replace' || ref?.item !== 'delivery' || world.sender.sends.length === 0 || left <= 0) return;
    left -= 1;
    throw new PortUnavailable('ledger', 'throttled');
  };
};

const recover = async (world: TestWorld): Promise<void> => {
  for (let minute = 0; minute < 3; minute += 1) {
    await world.run(MINUTE_MS);
    await world.tick();
    await world.run(0);
  }
};

describe('a success whose record cannot be written', () => {
  it.each(Array.from({ length: SETTLE_TRIES_MAX - 1 }, (_, index) => index + 1))(
    'is written in place after %d failed writes: one request, one record [C011]',
    async (failures) => {
      const world = await opened(openTestWorld());
      failWritesAfterSend(world, failures);
      expect((await world.finish(world.deliver(EVENT, PARTNER))).status).toBe(200);
      expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
      expect(world.sender.sends).toHaveLength(1);
    },
  );

  it('keeps its claim after five: 503, busy for its lease, then in doubt and never as if nothing had been sent [C011]', async () => {
    const world = await opened(openTestWorld());
    failWritesAfterSend(world, 5);
    expect((await world.finish(world.deliver(EVENT, PARTNER))).status).toBe(503);
    expect((await world.row(EVENT, PARTNER)).status).toBe('claimed');
    expect((await world.deliver(EVENT, PARTNER)).body).toEqual({ verdict: 'ack', note: 'busy' });
    await world.clock.advance(LAPSED_MS);
    failWritesAfterSend(world, 0);
    await world.deliver(EVENT, PARTNER);
    expect(await classesOf(world)).toEqual(['in-doubt', 'delivered']);
    expect([world.sender.sends.length, keysOf(world).size]).toEqual([2, 1]);
  });

  it('is not forgotten when the answer to its write was lost: the row is found to be ours [C011]', async () => {
    const world = await opened(openTestWorld());
    let lost = 0;
    world.ledgerHooks.after = ({ kind, ref }) => {
      if (kind !== 'replace' || ref?.item !== 'delivery' || world.sender.sends.length === 0 || lost > 0) return;
      lost += 1;
      throw new PortUnavailable('ledger', 'the answer got lost');
    };
    expect((await world.finish(world.deliver(EVENT, PARTNER))).status).toBe(200);
    expect(lost).toBe(1);
    expect(await classesOf(world)).toEqual(['delivered']);
  });

  it.each([
    [true, 'delivered', ['in-doubt', 'delivered'], 2],
    [false, 'quarantined', ['in-doubt'], 1],
  ] as const)(
    'for a minute is an unknown outcome: sent again only where a repeat is safe (%s) [C114]',
    async (repeatSafe, status, classes, sends) => {
      const world = await opened(openTestWorld(), { repeatSafe });
      const from = world.clock.nowMs();
      world.ledgerHooks.before = () => {
        if (world.sender.sends.length > 0 && world.clock.nowMs() < from + MINUTE_MS) {
          throw new PortUnavailable('ledger', 'no answer');
        }
      };
      expect((await world.finish(world.deliver(EVENT, PARTNER))).status).toBe(503);
      await recover(world);
      expect((await world.row(EVENT, PARTNER)).status).toBe(status);
      expect(await classesOf(world)).toEqual(classes);
      expect([world.sender.sends.length, keysOf(world).size]).toEqual([sends, 1]);
    },
  );
});

describe('an acknowledgement that gets lost', () => {
  it('brings the message back three times, and three times nothing is sent [C041]', async () => {
    const world = await opened(openTestWorld());
    await world.deliver(EVENT, PARTNER);
    for (let redelivery = 0; redelivery < 3; redelivery += 1) {
      await world.clock.advance(6_000);
      const again = await world.deliver(EVENT, PARTNER, { messageId: 'qmsg_1' });
      expect([again.status, again.body]).toEqual([200, { verdict: 'ack', note: 'done' }]);
    }
    expect(world.sender.sends).toHaveLength(1);
  });
});

describe('a send that outlives its invocation', () => {
  it.each([25_000, 30_000, 45_000])(
    'is given a deadline that ends well before the invocation does: %d ms left [C069]',
    async (remainingMs) => {
      const world = await opened(openTestWorld());
      await world.deliver(EVENT, PARTNER, { remainingMs });
      const [sent] = world.sender.sends;
      expect((sent?.deadlineMs ?? Number.POSITIVE_INFINITY) + SKEW_MARGIN_MS).toBeLessThanOrEqual(remainingMs);
    },
  );

  it('touches no other delivery when the process thaws inside the next invocation [C069]', async () => {
    const world = await opened(openTestWorld());
    await world.accepted('order-18', PARTNER);
    const frozen = await sending(world);
    await world.clock.advance(LAPSED_MS);
    await world.deliver(EVENT, PARTNER);
    await world.deliver('order-18', PARTNER);
    const [mine, other] = [await world.row(EVENT, PARTNER), await world.row('order-18', PARTNER)];
    const writes = await world.writesOf(async () => {
      frozen.answer(answered(500));
      await frozen.push;
    });
    const rows = writes.map(({ ref }) => ref).filter((ref) => ref?.item === 'delivery');
    expect(rows).toEqual([{ item: 'delivery', event: EVENT, destination: PARTNER }]);
    expect(await world.row('order-18', PARTNER)).toEqual(other);
    expect((await world.row(EVENT, PARTNER)).status).toBe(mine.status);
  });
});

describe('a ledger that is away', () => {
  it('on the very first push: no 2xx, and the redelivery is worked on [C108]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER, { acceptFromQueue: true });
    const message = { kind: 'event', format: 1, event: { id: EVENT, payload: 1, destinations: [PARTNER] } };
    world.ledgerAway();
    expect((await world.push(message, { messageId: 'm1' })).status).toBe(503);
    world.ledgerBack();
    expect((await world.push(message, { messageId: 'm1' })).body).toEqual({ verdict: 'ack', note: 'accepted' });
    await world.run(0);
    expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
  });

  it('between the two writes of an acceptance: no 2xx, and a repeat completes it [C108]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER, { acceptFromQueue: true });
    const message = { kind: 'event', format: 1, event: { id: EVENT, payload: 1, destinations: [PARTNER] } };
    world.ledgerHooks.before = ({ kind, ref }) => {
      if (kind === 'create' && ref?.item === 'delivery') throw new PortUnavailable('ledger', 'no answer');
    };
    expect((await world.push(message)).status).toBe(503);
    world.ledgerBack();
    expect((await world.push(message)).status).toBe(200);
    expect((await world.row(EVENT, PARTNER)).status).toBe('pending');
  });

  it('for 75 minutes under constant pushes: nothing is acknowledged meanwhile, and then each is delivered once [C136]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const events = Array.from({ length: 12 }, (_, n) => `order-${n}`);
    for (const event of events) await world.accepted(event, PARTNER);
    world.ledgerAway();
    for (let minute = 0; minute < 75; minute += 1) {
      for (const event of events) expect((await world.deliver(event, PARTNER)).status).toBe(503);
      expect((await world.submit({ id: `new-${minute}`, payload: 1, destinations: [PARTNER] })).status).toBe(503);
      await world.tick();
      await world.clock.advance(MINUTE_MS);
    }
    expect(world.sender.sends).toEqual([]);
    world.ledgerBack();
    await recover(world);
    for (const event of events) {
      expect(await world.row(event, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
    }
    expect([world.sender.sends.length, keysOf(world).size]).toEqual([12, 12]);
  });
});

describe('an outcome that comes too late', () => {
  it('as a failure behind a success is a line on record and changes nothing [C110]', async () => {
    const world = await opened(openTestWorld());
    const stalled = await sending(world);
    await world.clock.advance(LAPSED_MS);
    await world.deliver(EVENT, PARTNER);
    stalled.answer(answered(500));
    await stalled.push;
    expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
    expect(await classesOf(world)).toEqual(['in-doubt', 'delivered', 'failed']);
    expect(world.telemetry.lines.filter(({ name }) => name === 'delivery.attempted').at(-1)?.fields['settled']).toBe(
      'late',
    );
  });

  it('as a success behind a quarantine ends the delivery as delivered, by name [C110]', async () => {
    const world = await opened(openTestWorld());
    const stalled = await sending(world);
    await world.clock.advance(LAPSED_MS);
    world.sender.script(answered(422));
    await world.deliver(EVENT, PARTNER);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'rejected' });
    stalled.answer(answered(200));
    await stalled.push;
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', by: 'late-outcome' });
    const shown = await world.call('operator', 'GET', `/v1/events/${EVENT}/deliveries/${PARTNER}`, {
      token: world.token('view'),
    });
    expect(shown.body).toMatchObject({ status: 'delivered', deliveredBy: 'late-outcome' });
  });
});
