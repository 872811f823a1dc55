import { describe, expect, it } from 'vitest';
import type { DestinationId } from '../../functions/core/ids.ts';
import type { Gate } from '../../functions/core/items.ts';
import { noticeBody, readMessage } from '../../functions/core/message.ts';
import {
  FAILING_COUNT,
  FAILING_MS,
  type Fact,
  failingFact,
  finishedFact,
  isNoticeEvent,
  NOTICE_WINDOW_MS,
  type Notice,
  noticeEventId,
  noticeKey,
  noticeSubmission,
  noticesOfChange,
  noticesOfGate,
  noticesOfRow,
  pausedFact,
  quarantinedFact,
  SWEEP_SILENT_MS,
  silentFact,
  windowOf,
} from '../../functions/core/notice.ts';
import {
  claimedRow,
  deliveredRow,
  destinationIdOf,
  eventIdOf,
  gateItem,
  heartbeatItem,
  operationItem,
  pendingRow,
  quarantinedRow,
  T0_MS,
} from '../support/rows.ts';

const OPS = destinationIdOf('ops');
const FAILING = { count: FAILING_COUNT, sinceMs: T0_MS - FAILING_MS };
const BREAKER = { by: 'system', reason: '20 failures in a row over 10 minutes', sinceMs: T0_MS, probeAtMs: T0_MS + 1 };

const factIn = (fact: Fact | undefined): Fact => {
  if (fact === undefined) throw new Error('nothing to tell');
  return fact;
};
const HELD = factIn(quarantinedFact(quarantinedRow()));
const idOf = (fact: Partial<Fact>, to: DestinationId = OPS) => noticeEventId({ ...HELD, ...fact }, to);
const payloadOf = (fact: Fact): unknown => JSON.parse(Buffer.from(noticeSubmission(fact, OPS).payload).toString());
const NOTICE_ROW = quarantinedRow({ event: idOf({}), destination: OPS });

describe('the id of a notice', () => {
  it('is the same for one thing, one kind and one quarter of an hour, and another with any of them changed', () => {
    const same = idOf({ atMs: HELD.atMs + 1, details: {}, says: 'something else' });
    expect(same).toBe(idOf({}));
    const others = [
      idOf({ kind: 'destination-paused' }),
      idOf({ about: 'another' }),
      idOf({ atMs: windowOf(HELD.atMs) + NOTICE_WINDOW_MS }),
      idOf({ atMs: windowOf(HELD.atMs) - 1 }),
      idOf({}, destinationIdOf('another')),
    ];
    expect(new Set([same, ...others]).size).toBe(6);
  });

  it('says what it is to whoever reads it, and fits whatever the ids hold', () => {
    expect(idOf({})).toMatch(/^notice~delivery-quarantined~20261129T1200Z~[A-Za-z0-9_-]{22}$/);
    expect(isNoticeEvent(idOf({ about: 'ä'.repeat(128) }, destinationIdOf('d'.repeat(256))))).toBe(true);
  });

  it('does not take one destination for another where two ids meet', () => {
    const [a, ab] = [destinationIdOf('b,c'), destinationIdOf('c')];
    expect(idOf({ about: 'a' }, a)).not.toBe(idOf({ about: 'a,b' }, ab));
  });

  it.each(['notice~', 'notice~x', 'order-17', `x${idOf({})}`, `${idOf({})}x`])('is no other: %s', (id) => {
    expect(isNoticeEvent(eventIdOf(id))).toBe(false);
  });
});

describe('a reason to tell', () => {
  const held = quarantinedRow();
  const { event, destination } = held;
  const sinceMs = held.status === 'quarantined' ? held.endedAtMs : Number.NaN;
  const told = { notice: { kind: 'delivery-quarantined', event, destination }, sinceMs };

  it('is a delivery that comes into quarantine, and only then', () => {
    expect(noticesOfChange(claimedRow(), held)).toEqual([told]);
    expect(noticesOfChange(held, quarantinedRow({ version: 9 }))).toEqual([]);
    expect(noticesOfChange(claimedRow(), deliveredRow())).toEqual([]);
    expect(noticesOfChange(claimedRow(), pendingRow())).toEqual([]);
  });

  it('is also the pause of a destination that is gone', () => {
    const gone = quarantinedRow({ reason: 'gone' });
    expect(noticesOfRow(gone)).toEqual([told, { notice: { kind: 'destination-paused', destination }, sinceMs }]);
  });

  it('is never the delivery of a notice', () => {
    expect(noticesOfRow(NOTICE_ROW)).toEqual([]);
    expect(noticesOfRow({ ...NOTICE_ROW, reason: 'gone' })).toEqual([]);
    expect(noticesOfChange(claimedRow(), NOTICE_ROW)).toEqual([]);
    expect(quarantinedFact(NOTICE_ROW)).toBeUndefined();
  });

  it.each([
    ['a pause of the breaker', { pause: BREAKER, failures: FAILING }, 'destination-paused', BREAKER.sinceMs],
    ['failures for long enough', { failures: FAILING }, 'destination-failing', FAILING.sinceMs],
    ['one failure less', { failures: { ...FAILING, count: FAILING_COUNT - 1 } }, undefined],
    ['a burst', { failures: { ...FAILING, sinceMs: FAILING.sinceMs + 1 } }, undefined],
    ['none', {}, undefined],
  ] as const)('is, at a gate, %s', (_what, gate: Partial<Gate>, kind, since = 0) => {
    const notice = { kind, destination: gateItem().destination };
    const expected = kind === undefined ? [] : [{ notice, sinceMs: since }];
    expect(noticesOfGate(gateItem(gate), T0_MS)).toEqual(expected);
  });
});

describe('what is told', () => {
  it.each([
    ['a row that goes on', quarantinedFact(pendingRow())],
    ['a gate that is open', pausedFact(gateItem({ failures: FAILING }))],
    ['a pause of a person', pausedFact(gateItem({ pause: { ...BREAKER, by: 'anna' } }))],
    ['a gate that is paused by now', failingFact(gateItem({ failures: FAILING, pause: BREAKER }), T0_MS)],
    ['a success since', failingFact(gateItem(), T0_MS)],
    ['an operation that runs', finishedFact(operationItem({ state: 'running' }))],
    ['sweeps that pass', silentFact([heartbeatItem({ passAtMs: T0_MS - SWEEP_SILENT_MS })], T0_MS)],
    ['no heartbeat at all', silentFact([], T0_MS)],
  ])('is nothing of %s', (_what, fact) => expect(fact).toBeUndefined());

  it('is where, what, since when, and how to look at it', () => {
    expect(payloadOf(HELD)).toEqual({
      notice: 'delivery-quarantined',
      at: '2026-11-29T12:00:01.250Z',
      destination: 'partner',
      event: 'order-17',
      reason: 'rejected',
      attempts: 1,
      says: 'A delivery to partner is quarantined: rejected. Others may have followed since.',
      look: 'onceward delivery explain order-17 partner',
      page: '/console/events/order-17/deliveries/partner',
    });
    expect(payloadOf(factIn(pausedFact(gateItem({ pause: BREAKER }))))).toMatchObject({
      notice: 'destination-paused',
      reason: BREAKER.reason,
      look: 'onceward destination show partner',
      says: expect.stringContaining('tried again by itself'),
    });
    const { probeAtMs: _none, ...gone } = BREAKER;
    expect(factIn(pausedFact(gateItem({ pause: gone }))).says).toContain('A person has to resume it');
    expect(payloadOf(factIn(failingFact(gateItem({ failures: FAILING }), T0_MS)))).toMatchObject({
      notice: 'destination-failing',
      failures: FAILING_COUNT,
      at: '2026-11-29T11:58:00.000Z',
    });
  });

  it('is, of an operation, how it has ended', () => {
    const stopped = { state: 'stopped', stoppedBecause: 'too many failures', endedAtMs: T0_MS } as const;
    expect(payloadOf(factIn(finishedFact(operationItem({ operation: 'rd_1', ...stopped }))))).toMatchObject({
      notice: 'redrive-finished',
      operation: 'rd_1',
      state: 'stopped',
      says: 'Redrive rd_1 is stopped: too many failures.',
      look: 'onceward redrive show rd_1',
    });
  });

  it('is, of the sweeps, the shard that was passed longest ago', () => {
    const beats = [0, 1, 2].map((shard) => heartbeatItem({ shard, passAtMs: T0_MS - SWEEP_SILENT_MS - shard }));
    const fact = factIn(silentFact(beats, T0_MS));
    expect([fact.details['shard'], fact.atMs]).toEqual([2, T0_MS - SWEEP_SILENT_MS - 2]);
    expect(payloadOf(fact)).toMatchObject({ notice: 'sweep-silent', look: 'onceward queue stats' });
  });

  it('can be copied into a shell, whatever an id holds', () => {
    const row = quarantinedRow({
      event: eventIdOf(`$(rm -rf ~); 'quoted' "two"`),
      destination: destinationIdOf('-x y'),
    });
    expect((payloadOf(factIn(quarantinedFact(row))) as { look: string }).look).toBe(
      `onceward delivery explain -- '$(rm -rf ~); '\\''quoted'\\'' "two"' '-x y'`,
    );
  });

  it('turns no line of whoever reads it around, and hides nothing, whatever an id or a reason holds', () => {
    const row = quarantinedRow({ event: eventIdOf('x'), destination: destinationIdOf('a\u202egro.live\u200b') });
    expect((payloadOf(factIn(quarantinedFact(row))) as { says: string }).says).toContain(
      'A delivery to a\\u{202e}gro.live\\u{200b} is quarantined',
    );
    const stopped = { state: 'stopped', stoppedBecause: 'anna: \u2067late\u0007', endedAtMs: T0_MS } as const;
    const { says } = payloadOf(factIn(finishedFact(operationItem({ operation: 'rd_1', ...stopped })))) as {
      says: string;
    };
    expect(says).toBe('Redrive rd_1 is stopped: anna: \\u{2067}late\\u{7}.');
  });

  it('is nothing of an answer: its text may hold what nobody should see', () => {
    const text = 'the answer of the destination';
    const row = quarantinedRow({ firstExcerpt: { attempt: 1, text }, latestExcerpt: { attempt: 1, text } });
    expect(JSON.stringify(payloadOf(factIn(quarantinedFact(row))))).not.toContain(text);
  });
});

describe('a notice on the queue', () => {
  const NOTICES: readonly Notice[] = [
    { kind: 'delivery-quarantined', event: eventIdOf('order-17'), destination: OPS },
    { kind: 'destination-paused', destination: OPS },
    { kind: 'destination-failing', destination: OPS },
    { kind: 'redrive-finished', operation: 'rd_1' },
    { kind: 'sweep-silent' },
  ];
  const read = (body: string) => readMessage(Buffer.from(body), T0_MS);

  it.each(NOTICES)('means what was published: $kind', (notice) => {
    expect(read(noticeBody(notice))).toEqual({ kind: 'message', message: { kind: 'notice', notice } });
  });

  it.each(NOTICES)('has one key in a quarter of an hour, by what it is about and by now: $kind', (notice) => {
    const keyAt = (sinceMs: number, nowMs: number): string => noticeKey({ notice, sinceMs }, nowMs);
    const [first, last] = [windowOf(T0_MS), windowOf(T0_MS) + NOTICE_WINDOW_MS - 1];
    expect(keyAt(first, last)).toBe(keyAt(last, first));
    expect(keyAt(first, last)).not.toBe(keyAt(first, last + 1));
    // What is older and is met again takes no place of what is new.
    expect(keyAt(first, last + 1)).not.toBe(keyAt(last + 1, last + 1));
  });

  it('has a key of its own for each kind and thing', () => {
    expect(new Set(NOTICES.map((notice) => noticeKey({ notice, sinceMs: T0_MS }, T0_MS))).size).toBe(NOTICES.length);
  });

  it.each([
    ['a kind of newer code', '"notice":"moon-full"', 'newer'],
    ['no kind', '"notice":7', 'senseless'],
    ['an operation that is no id', '"notice":"redrive-finished","operation":"a b"', 'senseless'],
    ['no destination', '"notice":"destination-paused"', 'senseless'],
    ['no event', '"notice":"delivery-quarantined","destination":"x"', 'senseless'],
  ])('is told apart from %s', (_what, members, kind) => {
    expect(read(`{"kind":"notice","format":1,${members}}`).kind).toBe(kind);
  });
});
