/** A drill over the API: what leaves, when it is refused or breaks off, what stays in the ledger, and what is never shown. */
import { describe, expect, it } from 'vitest';
import { DRILL_PARTS } from '../../functions/core/drill.ts';
import { DRILL_MS } from '../../functions/core/drill-limits.ts';
import { outgoingKey } from '../../functions/core/keys.ts';
import { type OutgoingRequest, PortUnavailable } from '../../functions/ports.ts';
import { isAuthentic } from '../../infra/local/partner/example-receiver.ts';
import { decisionOf, isDecided } from '../support/decisions.ts';
import { type Answered, destinationId, eventId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, notSent, unanswered } from '../support/world-ports.ts';
import { PARTNER, pause, resume, toLaterFormat } from '../support/world-states.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const REASON = 'is a repeat harmless there?';
const SETTINGS = { signingSecret: SECRET, timeoutMs: 20_000 };

const withPartner = async (settings: Readonly<Record<string, unknown>> = {}): Promise<TestWorld> => {
  const world = openTestWorld();
  await world.destination(PARTNER, { ...SETTINGS, ...settings });
  return world;
};

const prove = (
  world: TestWorld,
  body: Readonly<Record<string, unknown>> = {},
  request = 'drill-1',
): Promise<Answered> =>
  world.call('operator', 'POST', `/v1/destinations/${PARTNER}/prove`, {
    token: world.token('pause'),
    headers: { 'idempotency-key': request },
    body: { reason: REASON, ...body },
  });

interface Part {
  readonly part: string;
  readonly event: string;
  readonly key: string;
  readonly reading: string;
  readonly skipped?: string;
  readonly exchanges: readonly Readonly<Record<string, unknown>>[];
}
const partsOf = ({ body }: Answered): readonly Part[] => (body as { parts: readonly Part[] }).parts;
const readingsOf = (answer: Answered): Readonly<Record<string, string>> =>
  Object.fromEntries(partsOf(answer).map(({ part, reading, skipped }) => [part, skipped ?? reading]));

const header = (request: OutgoingRequest | undefined, name: string): string => request?.headers[name] ?? '';
const madeSec = (request: OutgoingRequest | undefined): number => Number(header(request, 'webhook-timestamp'));

describe('what leaves', () => {
  it('is a request as deliveries send it: to the same place, with its headers, key and signature', async () => {
    const world = await withPartner({ headers: { 'x-tenant': 'seven' } });
    const drill = await prove(world);
    expect(drill.status).toBe(200);
    await world.accepted('order-1', PARTNER);
    await world.run(1_000);
    const sends = world.sender.sends;
    expect(sends).toHaveLength(11);
    const [first, delivery] = [sends[0], sends.at(-1)];
    expect(Object.keys(first?.headers ?? {})).toEqual(Object.keys(delivery?.headers ?? {}));
    const { url, deadlineMs, connectMs, excerptBytes } = delivery ?? { url: '' };
    expect(first).toMatchObject({ url, deadlineMs, connectMs, excerptBytes });
    const [part] = partsOf(drill);
    expect(part?.key).toBe(outgoingKey(eventId(part?.event ?? ''), destinationId(PARTNER)));
    expect([header(first, 'idempotency-key'), header(first, 'webhook-id')]).toEqual([part?.key, part?.key]);
    expect(header(first, 'x-tenant')).toBe('seven');
  });

  it('repeats key and bytes within a part, and shares neither with another one', async () => {
    const world = await withPartner();
    const parts = partsOf(await prove(world, { parts: DRILL_PARTS, burst: 3 }));
    let at = 0;
    for (const { part, key, exchanges } of parts) {
      const sent = world.sender.sends.slice(at, at + exchanges.length);
      at += exchanges.length;
      expect(new Set(sent.map((one) => header(one, 'webhook-id')))).toEqual(new Set([key]));
      const bodies = new Set(sent.map(({ body }) => Buffer.from(body).toString()));
      expect([part, bodies.size]).toEqual([part, part === 'other-body' ? 2 : 1]);
      for (const body of bodies) expect(JSON.parse(body)).toMatchObject({ onceward: 'test' });
    }
    expect(at).toBe(world.sender.sends.length);
    expect(new Set(parts.map(({ key }) => key)).size).toBe(DRILL_PARTS.length);
    expect(parts.find(({ part }) => part === 'burst')?.exchanges).toHaveLength(3);
  });

  it('is signed by the destination, but for the forged one; the stale one is too old, the late one is not', async () => {
    const world = await withPartner();
    const parts = partsOf(await prove(world));
    const names = parts.flatMap(({ part, exchanges }) => exchanges.map(({ request }) => `${part}/${String(request)}`));
    const authentic = world.sender.sends.map(({ headers, body }) =>
      isAuthentic(SECRET, headers, body, world.clock.nowMs()),
    );
    const bad = names.filter((_, index) => !authentic[index]);
    expect(bad).toEqual(['stale/stale', 'forged/forged']);
    const at = (name: string) => madeSec(world.sender.sends[names.indexOf(name)]);
    expect(at('late/first') - at('late/late')).toBe(60);
    expect(at('late/first') - at('stale/stale')).toBe(600);
    expect(at('forged/forged')).toBe(at('late/first'));
  });

  it('leaves two at once only in the parts that say so', async () => {
    const world = await withPartner();
    let open = 0;
    const most: number[] = [];
    world.sender.always(async () => {
      open += 1;
      most.push(open);
      await world.clock.sleep(10);
      open -= 1;
      return answered(200);
    });
    await world.finish(prove(world, { parts: ['repeat', 'twins', 'late'] }));
    expect(most).toEqual([1, 1, 1, 2, 1, 1]);
  });

  it('keeps the rate of the destination, and its concurrency', async () => {
    const world = await withPartner({ ratePerSecond: 2, concurrency: 1 });
    const drill = await world.finish(prove(world, { parts: ['repeat', 'twins', 'late'] }));
    const [start = 0] = world.sender.sends.map(({ atMs }) => atMs);
    expect(world.sender.sends.map(({ atMs }) => atMs - start)).toEqual([0, 500, 1_000, 1_500]);
    expect(readingsOf(drill)).toEqual({ repeat: 'same-answer', twins: 'concurrency', late: 'same-answer' });
  });
});

describe('a drill in trouble', () => {
  it.each([
    ['is not answered', unanswered('timeout'), { repeat: 'unanswered', twins: 'unanswered' }, 2],
    ['is asked for time', answered(429, { retryAfter: ['60'] }), { repeat: 'throttled', twins: 'throttled' }, 2],
    ['does not get there', notSent('refused'), { repeat: 'unanswered', twins: 'unanswered' }, 2],
  ] as const)('leaves the destination alone when a repeat %s', async (_what, second, readings, sends) => {
    const world = await withPartner();
    world.sender.script(answered(200), second);
    expect(readingsOf(await prove(world, { parts: ['repeat', 'twins'] }))).toEqual(readings);
    expect(world.sender.sends).toHaveLength(sends);
  });

  it.each([
    ['refused', answered(422, { excerpt: 'no such type' }), 'no-success'],
    ['a redirect', answered(307), 'no-success'],
    ['a failure', answered(500), 'no-success'],
    ['nothing', unanswered('reset'), 'unanswered'],
  ] as const)('stops with its first request where the answer is %s', async (_what, first, skipped) => {
    const world = await withPartner();
    world.sender.always(first);
    const drill = await prove(world);
    expect(world.sender.sends).toHaveLength(1);
    expect(new Set(Object.values(readingsOf(drill)))).toEqual(new Set([skipped]));
    expect(drill.body).toMatchObject({ deserves: 'not-shown' });
  });

  it('goes on where a repeat, other bytes, or a bad signature is refused', async () => {
    const world = await withPartner();
    const seen = new Set<string>();
    world.sender.always(async ({ headers, body }) => {
      if (!isAuthentic(SECRET, headers, body, world.clock.nowMs())) return answered(401);
      const key = headers['webhook-id'] ?? '';
      if (seen.has(key)) return answered(409);
      seen.add(key);
      return answered(200);
    });
    expect(readingsOf(await prove(world))).toEqual({
      repeat: 'busy',
      twins: 'busy',
      late: 'busy',
      'other-body': 'busy',
      stale: 'refused',
      forged: 'refused',
    });
  });

  it('begins no request that could end behind its time, and says which were left out', async () => {
    const world = await withPartner();
    const startMs = world.clock.nowMs();
    world.sender.always(async () => {
      await world.clock.sleep(9_000);
      return answered(200);
    });
    const drill = await world.finish(prove(world));
    expect(readingsOf(drill)).toMatchObject({ repeat: 'same-answer', twins: 'same-answer', late: 'no-time' });
    const { sends } = world.sender;
    expect(sends).toHaveLength(4);
    expect(Math.max(...sends.map(({ atMs, deadlineMs }) => atMs + deadlineMs)) - startMs).toBeLessThanOrEqual(DRILL_MS);
  });
});

describe('a destination that is not to be sent to', () => {
  const refusedAs = async (world: TestWorld, code: string, body = {}): Promise<Answered> => {
    const answer = await prove(world, body);
    expect(answer).toMatchObject({ status: 409, body: { code } });
    expect(world.sender.sends.length).toBe(0);
    expect(isDecided(world, 'drill-1')).toBe(false);
    return answer;
  };

  it('is left alone while it is paused, unless a person wants to prove a mend', async () => {
    const world = await withPartner();
    await pause(world);
    const answer = await refusedAs(world, 'destination-paused');
    expect(answer.text).toContain('maintenance');
    expect((await prove(world, { evenIfPaused: true })).status).toBe(200);
  });

  it.each<[string, (world: TestWorld) => Promise<unknown> | undefined]>([
    ['paused', (world) => pause(world)],
    ['set to another place', (world) => world.destination(PARTNER, { ...SETTINGS, url: 'https://new.example/hook' })],
    [
      'deleted',
      (world) =>
        world.call('operator', 'DELETE', `/v1/destinations/${PARTNER}`, {
          token: world.token('admin'),
          headers: { 'idempotency-key': 'd' },
          body: { reason: 'no longer' },
        }),
    ],
    [
      'out of reach in the ledger',
      (world) => {
        world.ledgerHooks.before = ({ kind }) => {
          if (kind === 'loadDestination') throw new PortUnavailable('ledger', 'away');
        };
        return undefined;
      },
    ],
  ])('is left alone from the next part on when it is %s in the middle, and what was seen is kept', async (...row) => {
    const [, change] = row;
    const world = await withPartner();
    world.sender.always(async () => {
      if (world.sender.sends.length === 2) await change(world);
      return answered(200);
    });
    const drill = await prove(world);
    expect(drill.status).toBe(200);
    expect(world.sender.sends).toHaveLength(2);
    expect(readingsOf(drill)).toMatchObject({ repeat: 'same-answer', twins: 'changed', forged: 'changed' });
  });

  it('is left alone while it wants no requests, whatever a person wants', async () => {
    const world = await withPartner();
    world.sender.script(answered(429, { retryAfter: ['120'] }));
    await world.accepted('order-1', PARTNER);
    await world.run(1_000);
    for (const evenIfPaused of [false, true]) {
      expect(await prove(world, { evenIfPaused })).toMatchObject({ status: 409, body: { code: 'destination-closed' } });
    }
    expect(world.sender.sends).toHaveLength(1);
    await world.clock.advance(120_000);
    expect((await prove(world)).status).toBe(200);
  });

  it('is left alone in shadow mode, where nothing is sent', async () => {
    await refusedAs(await withPartner({ mode: 'shadow' }), 'shadow-mode', { evenIfPaused: true });
  });

  it('is left alone where its secret is not there', async () => {
    const world = openTestWorld({
      reshape: (ports) => ({ ...ports, secrets: { signing: async () => ['no secret at all'] } }),
    });
    await world.destination(PARTNER);
    await refusedAs(world, 'no-secret');
  });

  it('is not found where there is none, and nothing is sent where newer code has written its gate', async () => {
    const world = openTestWorld();
    expect(await prove(world)).toMatchObject({ status: 404, body: { code: 'not-found' } });
    await world.destination(PARTNER, SETTINGS);
    await pause(world);
    toLaterFormat(world, { item: 'gate', destination: destinationId(PARTNER) });
    expect(await prove(world)).toMatchObject({ status: 503, body: { code: 'written-by-newer-code' } });
    expect(world.sender.sends).toHaveLength(0);
  });
});

describe('what stays', () => {
  it('is the decision alone: no event, no delivery, no gate, no message', async () => {
    const world = await withPartner();
    world.sender.always(answered(500));
    const writes = await world.writesOf(() => prove(world));
    const gone = await world.writesOf(async () => {
      world.sender.script(answered(200), answered(429, { retryAfter: ['3600'] }));
      await prove(world, {}, 'drill-2');
    });
    expect(writes.length + gone.length).toBe(4);
    expect(new Set([...writes, ...gone].map(({ ref }) => ref?.item))).toEqual(new Set(['decision']));
    expect(world.queue.published).toHaveLength(0);
    const decision = await decisionOf(world, 'drill-1');
    expect(decision).toMatchObject({
      command: 'prove',
      actor: 'holder-of-pause',
      reason: REASON,
      before: 'active, repeatSafe true',
      result: 'done',
    });
  });

  it('is said in one line of the log, without what the destination has answered', async () => {
    const world = await withPartner();
    world.sender.script(answered(200), answered(418, { excerpt: 'a teapot' }));
    await prove(world, { parts: ['repeat'] });
    const line = world.telemetry.lines.find(({ name }) => name === 'destination.proved');
    expect(line?.fields).toMatchObject({ destination: PARTNER, actor: 'holder-of-pause', readings: 'repeat refused' });
    expect(JSON.stringify(world.telemetry.lines)).not.toContain('teapot');
  });

  it('makes the same request again no second drill, and another wish under its id no drill at all', async () => {
    const world = await withPartner();
    await prove(world);
    const sent = world.sender.sends.length;
    const again = await prove(world);
    expect(again).toMatchObject({ status: 409, body: { code: 'drill-over' } });
    expect(again.text).toContain('in that answer only');
    expect(await prove(world, { parts: ['repeat'] })).toMatchObject({ status: 422, body: { code: 'request-reused' } });
    expect(world.sender.sends).toHaveLength(sent);
    expect((await prove(world, {}, 'drill-2')).status).toBe(200);
    expect(new Set(world.sender.sends.map((one) => header(one, 'webhook-id'))).size).toBe(12);
  });

  it('is one drill where the same request comes again while it is under way', async () => {
    const world = await withPartner();
    const held = world.sender.hold();
    const first = prove(world, { parts: ['repeat'] });
    await held.left;
    expect(await prove(world, { parts: ['repeat'] })).toMatchObject({ status: 409, body: { code: 'drill-running' } });
    held.answer(answered(200));
    expect((await first).status).toBe(200);
    expect(world.sender.sends).toHaveLength(2);
    expect(await prove(world, { parts: ['repeat'] })).toMatchObject({ status: 409, body: { code: 'drill-over' } });
  });

  it('after a crash in the middle is taken up as a new drill, under other keys, when nobody can be at it', async () => {
    const world = await withPartner();
    world.sender.script(() => Promise.reject(new Error('the process ended')));
    expect((await prove(world)).status).toBe(500);
    expect(isDecided(world, 'drill-1')).toBe(true);
    expect(await prove(world)).toMatchObject({ status: 409, body: { code: 'drill-running' } });
    await world.clock.advance(65_000);
    const [cut] = world.sender.sends;
    expect((await prove(world)).status).toBe(200);
    expect(header(world.sender.sends[1], 'webhook-id')).not.toBe(header(cut, 'webhook-id'));
    expect(header(world.sender.sends[2], 'webhook-id')).toBe(header(world.sender.sends[1], 'webhook-id'));
  });

  it('is not taken up while the destination has been paused since, and may be later', async () => {
    const world = await withPartner();
    world.sender.script(() => Promise.reject(new Error('the process ended')));
    await prove(world);
    await pause(world);
    await world.clock.advance(65_000);
    expect(await prove(world)).toMatchObject({ status: 409, body: { code: 'destination-paused' } });
    await resume(world);
    expect((await prove(world)).status).toBe(200);
    expect(await decisionOf(world, 'drill-1')).toMatchObject({ result: 'done' });
  });
});

describe('what is never shown', () => {
  it('is a secret of the request that an answer repeats, or a secret of the destination', async () => {
    const credential = 'Bearer marked-credential-4711';
    const world = await withPartner({ headers: { authorization: credential } });
    world.sender.always(async ({ headers }) =>
      answered(headers['webhook-id'] === header(world.sender.sends[0], 'webhook-id') ? 200 : 400, {
        excerpt: JSON.stringify(headers),
      }),
    );
    const drill = await prove(world);
    const signatures = world.sender.sends.map((one) => header(one, 'webhook-signature'));
    expect(drill.text).toContain('***');
    for (const hidden of ['marked-credential-4711', SECRET, SECRET.slice(6, 30), ...signatures]) {
      expect(drill.text).not.toContain(hidden);
      expect(JSON.stringify(world.telemetry.lines)).not.toContain(hidden);
    }
  });

  it('is what a success has said, and what stands behind a blocked address', async () => {
    const world = await withPartner();
    world.sender.script(answered(200, { excerpt: 'customer 4711' }), answered(200, { excerpt: 'customer 4712' }));
    const drill = await prove(world, { parts: ['repeat'] });
    expect(drill.text).not.toContain('customer');
    expect(readingsOf(drill)).toEqual({ repeat: 'other-answer' });
    world.sender.always(notSent('blocked', '169.254.169.254'));
    const blocked = await prove(world, {}, 'drill-2');
    expect(blocked.text).toContain('blocked');
    expect(blocked.text).not.toContain('169.254');
  });
});
