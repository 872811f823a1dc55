/** The public side of the receiver, in process: what each push is answered, and what it may write. */

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  deliverMessage,
  destinationId,
  eventId,
  openTestWorld,
  PUSH_SECRET,
  signed,
  type TestWorld,
} from '../support/world.ts';
import { EVENT, opened, PARTNER, pause, RESTING, ROW, resume, toLaterFormat } from '../support/world-states.ts';

const BODY = Buffer.from(JSON.stringify({ message_id: 'm1', payload: deliverMessage(EVENT, PARTNER) }));

/** What came of a push, and what it cost. */
const costOf = async (world: TestWorld, push: () => ReturnType<TestWorld['push']>) => {
  const [asked, written, sent] = [world.asked.length, world.store.writes.length, world.sender.sends.length];
  const { status, body } = await push();
  return {
    status,
    body,
    requests: world.asked.length - asked,
    writes: world.store.writes.length - written,
    sends: world.sender.sends.length - sent,
  };
};

// ---- is it ours? --------------------------------------------------------------------------------------------------

const TIMED = { timestampHeader: 'x-infrai-timestamp' };
const scheme = { secrets: [PUSH_SECRET], signatureHeader: 'x-infrai-signature', prefix: '', ...TIMED };
const good = (world: TestWorld, body: Uint8Array = BODY) => signed(body, scheme, world.clock.nowMs());

interface Forged {
  readonly what: string;
  readonly headers: (world: TestWorld) => Record<string, string>;
  readonly body?: Uint8Array;
}

const SIGNATURE = 'x-infrai-signature';
const signature = (world: TestWorld): string => good(world)[SIGNATURE] ?? '';
const aged = (world: TestWorld, byMs: number) => signed(BODY, scheme, world.clock.nowMs() - byMs);

const FORGED: readonly Forged[] = [
  { what: 'unsigned', headers: () => ({}) },
  { what: 'with an empty signature', headers: (world) => ({ ...good(world), [SIGNATURE]: '' }) },
  {
    what: 'signed with another key',
    headers: (world) => signed(BODY, { ...scheme, secrets: ['another-key-altogether'] }, world.clock.nowMs()),
  },
  { what: 'with the signature of another body', headers: (world) => good(world, Buffer.from('{}')) },
  { what: 'truncated on its way', headers: good, body: BODY.subarray(0, BODY.length - 1) },
  { what: 'with one byte changed', headers: good, body: Buffer.from(BODY.toString().replace('order-17', 'order-18')) },
  { what: 'ten minutes old', headers: (world) => aged(world, 600_000) },
  { what: 'from a clock ten minutes ahead', headers: (world) => aged(world, -600_000) },
  { what: 'without its timestamp', headers: (world) => ({ [SIGNATURE]: signature(world) }) },
  {
    what: 'old, with its timestamp moved to now',
    headers: (world) => ({ ...aged(world, 600_000), 'x-infrai-timestamp': String(world.clock.nowMs() / 1_000) }),
  },
  {
    what: 'with two signatures',
    headers: (world) => ({ ...good(world), [SIGNATURE]: `${signature(world)}, ${'0'.repeat(64)}` }),
  },
  {
    what: 'with the same signature twice',
    headers: (world) => ({ ...good(world), [SIGNATURE]: `${signature(world)},${signature(world)}` }),
  },
  { what: 'with a letter outside of ASCII', headers: (world) => ({ ...good(world), [SIGNATURE]: '\u00e9' }) },
  { what: 'with 10,000 characters', headers: (world) => ({ ...good(world), [SIGNATURE]: 'a'.repeat(10_000) }) },
  { what: 'with base64', headers: (world) => ({ ...good(world), [SIGNATURE]: `${'A'.repeat(43)}=` }) },
];

describe('a push that is not from our queue', () => {
  it.each(FORGED)('is a 401 that asks nothing of the ledger: $what', async ({ headers, body = BODY }) => {
    const world = await opened(openTestWorld({ scheme: TIMED }));
    const cost = await costOf(world, () => world.pushBody(body, { headers: headers(world) }));
    expect(cost).toMatchObject({ status: 401, requests: 0, writes: 0, sends: 0 });
    expect(cost.body).toMatchObject({ code: 'unauthentic', title: 'Not signed in' });
    expect(world.telemetry.counted('push-unauthentic')).toBe(1);
  });

  it('would be taken with its own signature: the body is good', async () => {
    const world = await opened(openTestWorld({ scheme: TIMED }));
    expect((await world.pushBody(BODY, { headers: good(world) })).status).toBe(200);
    expect(world.sender.sends).toHaveLength(1);
  });

  it('says nothing about why: neither digest nor secret', async () => {
    const world = openTestWorld({ scheme: TIMED });
    const { text } = await world.pushBody(BODY, { headers: { ...good(world), 'x-infrai-signature': '0'.repeat(64) } });
    expect(text).not.toContain(PUSH_SECRET);
    expect(text).not.toContain(good(world)['x-infrai-signature']);
    expect(text).not.toMatch(/mismatch|stale|malformed/);
  });

  it('is a 413 when it is over 2 MB, signed or not', async () => {
    const world = await opened(openTestWorld());
    const large = Buffer.alloc(2_097_153, ' ');
    for (const headers of [{}, undefined]) {
      const cost = await costOf(world, () => world.pushBody(large, headers === undefined ? {} : { headers }));
      expect(cost).toMatchObject({ status: 413, requests: 0, writes: 0 });
      expect(cost.body).toMatchObject({ code: 'body-too-large' });
    }
  });

  it('finds only its own route, and health needs no signature', async () => {
    const world = openTestWorld();
    expect((await world.call('receiver', 'GET', '/healthz')).status).toBe(200);
    expect((await world.call('receiver', 'POST', '/push/other', { body: '{}' })).status).toBe(404);
    expect((await world.call('receiver', 'GET', '/push/infrai')).status).toBe(404);
  });
});

describe('the secret of the push side', () => {
  it('may be rotated: the one before is taken beside the new one', async () => {
    const world = await opened(openTestWorld({ scheme: { secrets: ['the-newest-secret-of-all', PUSH_SECRET] } }));
    const headers = signed(BODY, { ...scheme, timestampHeader: undefined }, 0);
    expect((await world.pushBody(BODY, { headers })).status).toBe(200);
    expect((await world.pushBody(BODY)).status).toBe(200);
  });
});

// ---- does it make sense? ------------------------------------------------------------------------------------------

const drainMessage = (more: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({
    message_id: 'm9',
    payload: { kind: 'drain', format: 1, destination: PARTNER, drain: 1, page: 0, fromMs: 0, sent: 0, ...more },
  });

const cursorOf = (named: Readonly<Record<string, string>>): string =>
  Buffer.from(JSON.stringify({ ...named, at: [0, 0, 0, 0] })).toString('base64url');

const SENSELESS: readonly (readonly [what: string, body: string | Uint8Array])[] = [
  ['an empty body', ''],
  ['no JSON', 'hello'],
  ['bytes that are no text', Buffer.from('ff00fe', 'hex')],
  ['JSON that ends in the middle', '{"message_id":"m9","payload":{"kind":"deliver"'],
  ['a list', '[]'],
  ['a wrapping without a message', '{"message_id":"m9"}'],
  ['a number as message', '{"message_id":"m9","payload":5}'],
  ['a message without a kind', '{"message_id":"m9","payload":{"format":1}}'],
  ['a message without a format', '{"message_id":"m9","payload":{"kind":"deliver","event":"a","destination":"b"}}'],
  ['format 0', '{"message_id":"m9","payload":{"kind":"deliver","format":0,"event":"a","destination":"b"}}'],
  ['a number as event', '{"message_id":"m9","payload":{"kind":"deliver","format":1,"event":5,"destination":"b"}}'],
  ['no destination', '{"message_id":"m9","payload":{"kind":"deliver","format":1,"event":"a"}}'],
  ['a kind given twice', '{"message_id":"m9","payload":{"kind":"deliver","kind":"sweep","format":1}}'],
  ['a sweep of no shard', '{"message_id":"m9","payload":{"kind":"sweep","format":1,"shard":-1,"tick":5}}'],
  ['a sweep of a shard that is none', '{"message_id":"m9","payload":{"kind":"sweep","format":1,"shard":4,"tick":5}}'],
  [
    'a sweep of the last page that a number can hold',
    '{"message_id":"m9","payload":{"kind":"sweep","format":1,"shard":0,"tick":5,"page":9007199254740991}}',
  ],
  ['a drain with a cursor that no list gave out', drainMessage({ cursor: 'garbage' })],
  ['a drain with the cursor of another list', drainMessage({ cursor: cursorOf({ list: 'open' }) })],
  ['a drain with a cursor of another destination', drainMessage({ cursor: cursorOf({ list: 'parked', of: 'other' }) })],
  ['a drain of the last page that a number can hold', drainMessage({ page: 9_007_199_254_740_991 })],
  ['a drain of more than can be sent', drainMessage({ sent: 9_007_199_254_740_991 })],
  [
    'a redrive of half a turn',
    '{"message_id":"m9","payload":{"kind":"redrive","format":1,"operation":"a","position":0,"turn":0.5}}',
  ],
  ['a sweep of half a shard', '{"message_id":"m9","payload":{"kind":"sweep","format":1,"shard":0.5,"tick":5}}'],
  [
    'an event without a payload',
    '{"message_id":"m9","payload":{"kind":"event","format":1,"event":{"id":"a","destinations":["partner"]}}}',
  ],
  ['an event without an event', '{"message_id":"m9","payload":{"kind":"event","format":1}}'],
  [
    'a delivery that does not exist',
    '{"message_id":"m9","payload":{"kind":"deliver","format":1,"event":"none","destination":"partner"}}',
  ],
];

describe('an authentic push that makes no sense', () => {
  it.each(SENSELESS)('is filed once and acknowledged, however often it comes: %s', async (_what, body) => {
    const world = await opened(openTestWorld());
    const cost = await costOf(world, () => world.pushBody(body));
    expect(cost).toMatchObject({ status: 200, body: { verdict: 'ack', note: 'poison' }, sends: 0 });
    expect(poisonIn(world)).toHaveLength(1);
    for (let again = 0; again < 49; again += 1) {
      expect(await costOf(world, () => world.pushBody(body))).toMatchObject({ status: 200, writes: 0 });
    }
    expect(poisonIn(world)).toHaveLength(1);
  });

  it('is not a drain whose cursor is of its own list', async () => {
    const world = await opened(openTestWorld());
    const mine = await world.pushBody(drainMessage({ cursor: cursorOf({ list: 'parked', of: PARTNER }) }));
    expect(mine).toMatchObject({ status: 200, body: { note: 'drained' } });
    expect(poisonIn(world)).toEqual([]);
  });

  it('is kept with its first 4 KB, its size and the hash of all of it, for 30 days', async () => {
    const world = openTestWorld();
    const body = Buffer.from(`{"message_id":"m9","payload":"${'x'.repeat(10_000)}"}`);
    await world.pushBody(body);
    const found = await world.records.load({ item: 'poison', id: 'message:m9' });
    expect(found).toMatchObject({
      kind: 'found',
      item: {
        excerpt: new Uint8Array(body.subarray(0, 4_096)),
        hash: createHash('sha256').update(body).digest('base64url'),
        bytes: body.length,
        messageId: 'm9',
        expiresAtSec: world.clock.nowMs() / 1_000 + 30 * 86_400,
      },
    });
  });

  it('is filed under its hash where it has no id, so that two of them are two', async () => {
    const world = openTestWorld();
    await world.pushBody('one');
    await world.pushBody('two');
    await world.pushBody('one');
    expect(poisonIn(world)).toHaveLength(2);
  });

  it('is bounded as a flood: the 61st in a minute is left to the queue, and the next minute is a new one', async () => {
    const world = openTestWorld();
    for (let n = 1; n <= 60; n += 1) expect((await world.pushBody(`senseless ${n}`)).status).toBe(200);
    const over = await costOf(world, () => world.pushBody('senseless 61'));
    expect(over).toMatchObject({ status: 503, body: { code: 'poison-overflow' }, writes: 0 });
    // One that is on file already needs no new place.
    expect(await costOf(world, () => world.pushBody('senseless 1'))).toMatchObject({ status: 200, writes: 0 });
    expect(poisonIn(world)).toHaveLength(60);
    await world.clock.advance(60_000);
    expect((await world.pushBody('senseless 61')).status).toBe(200);
    expect(poisonIn(world)).toHaveLength(61);
  });

  it('is bounded over all workers at once', async () => {
    const world = openTestWorld();
    const answers = await Promise.all(Array.from({ length: 80 }, (_, n) => world.pushBody(`senseless ${n}`)));
    expect(poisonIn(world).length).toBeLessThanOrEqual(60);
    expect(answers.every(({ status }) => status === 200 || status === 503)).toBe(true);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(poisonIn(world).length);
  });
});

const poisonIn = (world: TestWorld) => world.store.writes.filter(({ ref }) => ref?.item === 'poison');

describe('a push that a newer version may have sent', () => {
  it.each([
    ['an unknown kind', { kind: 'replicate', format: 1, event: 'a' }],
    ['a later format of a known kind', { ...deliverMessage(EVENT, PARTNER), format: 2 }],
    ['a later format without anything else', { kind: 'deliver', format: 2 }],
  ])('is a 503 and writes nothing: the queue keeps it whole: %s', async (_what, message) => {
    const world = await opened(openTestWorld());
    const cost = await costOf(world, () => world.push(message));
    expect(cost).toMatchObject({ status: 503, body: { code: 'newer-message' }, requests: 0, writes: 0, sends: 0 });
    expect(world.telemetry.counted('push-newer')).toBe(1);
  });
});

// ---- what the row says --------------------------------------------------------------------------------------------

describe('a push of a delivery that is due', () => {
  it('costs two writes of the row and one request to the destination', async () => {
    const world = await opened(openTestWorld());
    const cost = await costOf(world, () => world.deliver(EVENT, PARTNER));
    expect(cost).toMatchObject({ status: 200, body: { verdict: 'ack', note: 'settled' }, writes: 2, sends: 1 });
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('costs one write more where a repeat is not safe: the sending mark', async () => {
    const world = await opened(openTestWorld(), { repeatSafe: false });
    expect(await costOf(world, () => world.deliver(EVENT, PARTNER))).toMatchObject({
      status: 200,
      writes: 3,
      sends: 1,
    });
  });

  it.each([
    ['safe', true, 2],
    ['not safe', false, 3],
  ])(
    'asks for no write that the ledger would have to refuse, where a repeat is %s',
    async (_what, repeatSafe, writes) => {
      const world = await opened(openTestWorld(), { repeatSafe });
      const before = world.asked.length;
      await world.deliver(EVENT, PARTNER);
      expect(world.asked.slice(before).filter(({ kind }) => kind === 'replace' || kind === 'create')).toHaveLength(
        writes,
      );
    },
  );
});

describe('a push of a delivery that needs none', () => {
  const notes: Readonly<Record<string, string>> = {
    delivered: 'done',
    cancelled: 'done',
    'cancelled as a shadow': 'done',
    'quarantined as rejected': 'held',
    'quarantined as gone': 'held',
    'quarantined in doubt': 'held',
    'claimed and live': 'busy',
    'waiting for its retry': 'early',
    'early: wanted later': 'early',
    'deferred until a closed destination opens': 'early',
    'parked at a paused destination': 'waiting',
    'parked at a destination that is closed for long': 'waiting',
  };

  it.each(Object.entries(RESTING))('is acknowledged, and nothing is written or sent: %s', async (name, bring) => {
    const world = openTestWorld();
    await bring(world);
    const cost = await costOf(world, () => world.deliver(EVENT, PARTNER));
    expect(cost).toMatchObject({ status: 200, body: { verdict: 'ack', note: notes[name] }, writes: 0, sends: 0 });
    // The row, and for a parked one its gate.
    expect(cost.requests).toBe(name.startsWith('parked') ? 2 : 1);
  });

  it.each(Object.entries(RESTING))(
    'is not needed later either: the row looks after itself: %s',
    async (_name, bring) => {
      const world = openTestWorld();
      await bring(world);
      const row = await world.row(EVENT, PARTNER);
      const open = row.status === 'pending' || row.status === 'claimed';
      expect(open ? row.lookAfterMs > world.clock.nowMs() : true).toBe(true);
      expect(open ? Number.isSafeInteger(row.lookAfterMs) : true).toBe(true);
    },
  );
});

describe('a row that newer code has written', () => {
  it.each([
    ['the delivery', ROW],
    ['the event', { item: 'event', event: eventId(EVENT) }],
    ['the destination', { item: 'destination', destination: destinationId(PARTNER) }],
    ['the gate', { item: 'gate', destination: destinationId(PARTNER) }],
  ] as const)('is acknowledged, never written, never sent: %s', async (_what, ref) => {
    const world = await opened(openTestWorld());
    await pause(world);
    await resume(world);
    toLaterFormat(world, ref);
    const cost = await costOf(world, () => world.deliver(EVENT, PARTNER));
    expect(cost).toMatchObject({
      status: 200,
      body: { verdict: 'ack', note: 'row-of-later-format' },
      writes: 0,
      sends: 0,
    });
    expect(world.telemetry.counted('row-of-later-format')).toBe(1);
    expect(world.queue.published).toHaveLength(1);
  });

  it('is waited for where it is a signing secret: no delivery is given up for it', async () => {
    const world = await opened(openTestWorld());
    toLaterFormat(world, { item: 'secret', destination: destinationId(PARTNER) });
    await world.deliver(EVENT, PARTNER);
    expect(world.sender.sends).toEqual([]);
    expect((await world.row(EVENT, PARTNER)).status).toBe('pending');
  });
});

// ---- a whole event from the queue ---------------------------------------------------------------------------------

const eventMessage = (more: Readonly<Record<string, unknown>> = {}) => ({
  kind: 'event',
  format: 1,
  event: { id: EVENT, payload: { n: 1 }, destinations: [PARTNER], ...more },
});

describe('a whole event from the queue', () => {
  it('is accepted once, however often it comes, and delivered', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER, { acceptFromQueue: true });
    for (let push = 0; push < 3; push += 1) {
      const answer = await world.push(eventMessage());
      expect([answer.status, answer.body]).toEqual([200, { verdict: 'ack', note: 'accepted' }]);
    }
    expect(world.queue.published).toHaveLength(1);
    await world.run(0);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('keeps the bytes of its payload as they stood in the message', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER, { acceptFromQueue: true });
    const payload = '{ "b" : 1.0,\n "a":[1,  2], "é":9007199254740993 }';
    await world.push(
      `{"kind":"event","format":1,"event":{"id":"${EVENT}","payload":${payload},"destinations":["${PARTNER}"]}}`,
    );
    await world.run(0);
    expect(Buffer.from(world.sender.sends[0]?.body ?? []).toString()).toBe(payload);
  });

  it('is a recorded conflict and acknowledged when its id is taken by other content', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER, { acceptFromQueue: true });
    await world.push(eventMessage());
    const writes = await world.writesOf(async () => {
      expect((await world.push(eventMessage({ payload: { n: 2 } }))).body).toEqual({
        verdict: 'ack',
        note: 'conflict',
      });
    });
    expect(writes.map(({ ref }) => ref?.item)).toEqual(['conflict']);
  });

  it.each([
    ['a destination that takes none from the queue', { destinations: ['closed'] }],
    ['one such destination among others', { destinations: [PARTNER, 'closed'] }],
    ['a destination that does not exist', { destinations: ['nobody'] }],
  ])('is a 503 and writes nothing: it may be the only copy, and the queue keeps it: %s', async (_what, more) => {
    const world = openTestWorld();
    await world.destination(PARTNER, { acceptFromQueue: true });
    await world.destination('closed');
    const cost = await costOf(world, () => world.push(eventMessage(more)));
    expect(cost).toMatchObject({ status: 503, body: { code: 'not-acceptable' }, writes: 0 });
    expect(world.queue.published).toEqual([]);
  });
});

// ---- time and the ledger ------------------------------------------------------------------------------------------

describe('the time that is left', () => {
  it.each([0, 1, 1_999, -1, Number.NaN, 24_999])(
    'is too short at %d ms: nothing is claimed, the push comes again [C003]',
    async (remainingMs) => {
      const world = await opened(openTestWorld());
      const cost = await costOf(world, () => world.deliver(EVENT, PARTNER, { remainingMs }));
      expect(cost).toMatchObject({ status: 503, body: { code: 'no-time' }, writes: 0, sends: 0 });
    },
  );

  it.each([25_000, 60_000, undefined])(
    'is enough at %s ms: the claim has a whole lease [C003]',
    async (remainingMs) => {
      const world = await opened(openTestWorld());
      const held = world.sender.hold();
      const push = world.deliver(EVENT, PARTNER, { remainingMs });
      await held.left;
      const row = await world.row(EVENT, PARTNER);
      expect(row.status === 'claimed' && row.claim.leaseEndsAtMs - row.claim.startedAtMs).toBe(30_000);
      held.answer({ kind: 'answered', status: 200, retryAfter: [], excerpt: '', durationMs: 1 });
      expect((await push).status).toBe(200);
    },
  );

  it('depends on the time-out of the destination: a short one fits where a long one does not', async () => {
    const world = await opened(openTestWorld(), { timeoutMs: 1_000 });
    expect((await world.deliver(EVENT, PARTNER, { remainingMs: 5_999 })).status).toBe(503);
    expect((await world.deliver(EVENT, PARTNER, { remainingMs: 6_000 })).status).toBe(200);
  });
});

describe('a ledger that goes away', () => {
  it('before the push: 503, and nothing is lost', async () => {
    const world = await opened(openTestWorld());
    world.ledgerAway();
    expect(await world.deliver(EVENT, PARTNER)).toMatchObject({ status: 503, body: { code: 'ledger-unavailable' } });
    world.ledgerBack();
    expect((await world.deliver(EVENT, PARTNER)).status).toBe(200);
    expect(world.sender.sends).toHaveLength(1);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'at request %d of a push, for good: after recovery the delivery ends delivered, and a success was never forgotten',
    async (request) => {
      const world = await opened(openTestWorld());
      const first = world.asked.length;
      world.ledgerHooks.before = () => {
        if (world.asked.length - first > request) world.ledgerAway();
        if (world.asked.length - first > request) return world.ledgerHooks.before?.({ kind: 'load' });
        return undefined;
      };
      const answer = await world.finish(world.deliver(EVENT, PARTNER));
      const left = world.sender.sends.length;
      expect(answer.status === 200 || answer.status === 503).toBe(true);
      if (answer.status === 503) expect((await world.row(EVENT, PARTNER)).status).not.toBe('delivered');
      world.ledgerBack();
      for (let minute = 0; minute < 4; minute += 1) {
        await world.run(60_000);
        await world.tick();
        await world.run(0);
      }
      const row = await world.row(EVENT, PARTNER);
      expect(row.status).toBe('delivered');
      // What had left was sent again under the same key, and the first attempt stands as in doubt.
      expect(new Set(world.sender.sends.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
      expect(world.sender.sends.length).toBe(left + (answer.status === 503 || left === 0 ? 1 : 0));
    },
  );
});
