/** Real failures of public push doors, met with the receiver as the platform calls it. */

import type { LambdaEvent } from 'hono/aws-lambda';
import { describe, expect, it } from 'vitest';
import { lambdaEntry, remainingMsOf } from '../../functions/http/lambda.ts';
import { createReceiverApp } from '../../functions/receiver/app.ts';
import { eventV1, eventV2, type LambdaRequestV1 } from '../support/lambda-events.ts';
import { deliverMessage, openTestWorld, PUSH_SECRET, signed, type TestWorld } from '../support/world.ts';
import { EVENT, opened, PARTNER } from '../support/world-states.ts';

const SIGNATURE = 'x-infrai-signature';
const TIMESTAMP = 'x-infrai-timestamp';
const SCHEME = { secrets: [PUSH_SECRET], signatureHeader: SIGNATURE, prefix: '' };
const TIMED = { ...SCHEME, timestampHeader: TIMESTAMP };
const BODY = Buffer.from(JSON.stringify({ message_id: 'm1', payload: deliverMessage(EVENT, PARTNER) }));

/** The receiver behind its entry, and what each call of it asked of the ledger. */
const entryOf = (world: TestWorld) => {
  const app = createReceiverApp(world.ports, { transport: 'infrai', remainingMs: remainingMsOf });
  const serve = lambdaEntry(app, world.telemetry);
  return async (event: LambdaEvent) => {
    const [asked, written] = [world.asked.length, world.store.writes.length];
    const { statusCode, headers, body } = await serve(event);
    return {
      status: statusCode,
      type: headers?.['content-type'],
      body: JSON.parse(body) as Readonly<Record<string, unknown>>,
      requests: world.asked.length - asked,
      writes: world.store.writes.length - written,
    };
  };
};

const push = (request: LambdaRequestV1): LambdaRequestV1 => ({ path: '/push/infrai', ...request });

describe.each([
  ['1.0', eventV1],
  ['2.0', eventV2],
] as const)('a push in payload format %s', (_format, eventOf) => {
  it('in base64 has its bytes intact: a signature over bytes that are no text verifies [C096]', async () => {
    const world = await opened(openTestWorld());
    const bytes = Uint8Array.from([0xff, 0x00, 0xfe]);
    const body = Buffer.from(bytes).toString('base64');
    const call = entryOf(world);
    const answer = await call(eventOf(push({ body, base64: true, headers: signed(bytes, SCHEME, 0) })));
    // Authentic, and then no message: filed. A damaged byte would have made it a 401.
    expect([answer.status, answer.body]).toEqual([200, { verdict: 'ack', note: 'poison' }]);
    const damaged = await call(
      eventOf(push({ body, base64: true, headers: signed(Buffer.from('\ufffd\0\ufffd'), SCHEME, 0) })),
    );
    expect(damaged.status).toBe(401);
  });

  it('is the same push, plain or in base64: same verdict, same row [C097]', async () => {
    const headers = signed(BODY, SCHEME, 0);
    const plain = eventOf(push({ body: BODY.toString(), headers }));
    const encoded = eventOf(push({ body: BODY.toString('base64'), base64: true, headers }));
    for (const order of [
      [plain, encoded],
      [encoded, plain],
    ]) {
      const world = await opened(openTestWorld());
      const call = entryOf(world);
      const notes = [];
      for (const event of order) notes.push((await call(event)).body);
      expect(notes).toEqual([
        { verdict: 'ack', note: 'settled' },
        { verdict: 'ack', note: 'done' },
      ]);
      expect(world.sender.sends).toHaveLength(1);
    }
  });

  it.each(['{"no":"base64"}', 'YWJ', '!!!!', 'a b='])(
    'that is marked as base64 and holds %j is a problem of its sender, not a fault of ours [C098]',
    async (body) => {
      const world = await opened(openTestWorld());
      const answer = await entryOf(world)(
        eventOf(push({ body, base64: true, headers: signed(Buffer.from(body), SCHEME, 0) })),
      );
      expect(answer).toMatchObject({ status: 400, type: 'application/problem+json', requests: 0, writes: 0 });
      expect(answer.body).toMatchObject({ code: 'body-not-base64' });
      expect(world.telemetry.counted('body-not-base64')).toBe(1);
    },
  );

  it.each(['é', 'a', 'a'.repeat(10_000), '!!not base64!!', `${'A'.repeat(43)}=`, '0'.repeat(63), ' '.repeat(64)])(
    'with the signature %j is a 401, never an error [C106]',
    async (signature) => {
      const world = await opened(openTestWorld());
      const answer = await entryOf(world)(
        eventOf(push({ body: BODY.toString(), headers: { [SIGNATURE]: signature } })),
      );
      expect(answer).toMatchObject({ status: 401, requests: 0, writes: 0 });
    },
  );
});

describe('a signature that comes twice', () => {
  const right = signed(BODY, SCHEME, 0)[SIGNATURE] ?? '';

  it.each([
    ['twice the same', [right, right]],
    ['the right one first', [right, '0'.repeat(64)]],
    ['the right one last', ['0'.repeat(64), right]],
    ['an empty one beside it', [right, '']],
  ])('is refused and never half-read: %s [C099]', async (_what, values) => {
    const world = await opened(openTestWorld());
    const call = entryOf(world);
    const twice = eventV1(push({ body: BODY.toString(), multiValueHeaders: { [SIGNATURE]: values } }));
    const joined = eventV2(push({ body: BODY.toString(), headers: { [SIGNATURE]: values.join(',') } }));
    for (const event of [twice, joined])
      expect(await call(event)).toMatchObject({ status: 401, requests: 0, writes: 0 });
    expect(world.sender.sends).toEqual([]);
  });

  it('would be taken once: the signature is the right one [C099]', async () => {
    const world = await opened(openTestWorld());
    const once = eventV1(push({ body: BODY.toString(), multiValueHeaders: { [SIGNATURE]: [right] } }));
    expect((await entryOf(world)(once)).status).toBe(200);
  });

  it('is refused as a timestamp that comes twice is [C099]', async () => {
    const world = await opened(openTestWorld({ scheme: TIMED }));
    const headers = signed(BODY, TIMED, world.clock.nowMs());
    const seconds = headers[TIMESTAMP] ?? '';
    const multiValueHeaders = { [SIGNATURE]: [headers[SIGNATURE] ?? ''], [TIMESTAMP]: [seconds, seconds] };
    expect((await entryOf(world)(eventV1(push({ body: BODY.toString(), multiValueHeaders })))).status).toBe(401);
  });
});

describe('a push to the public door', () => {
  const call = async (headers: (world: TestWorld) => Record<string, string>) => {
    const world = await opened(openTestWorld({ scheme: TIMED }));
    const answer = await entryOf(world)(eventV2(push({ body: BODY.toString(), headers: headers(world) })));
    return { ...answer, sends: world.sender.sends.length };
  };
  const nothing = { status: 401, requests: 0, writes: 0, sends: 0 };

  it('unsigned, with another key, or ten minutes old is a 401 and leaves no trace in the ledger [C103]', async () => {
    expect(await call(() => ({}))).toMatchObject(nothing);
    const other = { ...TIMED, secrets: ['another-key-altogether'] };
    expect(await call((world) => signed(BODY, other, world.clock.nowMs()))).toMatchObject(nothing);
    expect(await call((world) => signed(BODY, TIMED, world.clock.nowMs() - 600_000))).toMatchObject(nothing);
  });

  it('that is a repeat of a valid one is authentic, and the ledger knows it: nothing is sent again [C103]', async () => {
    const world = await opened(openTestWorld({ scheme: TIMED }));
    const event = eventV2(push({ body: BODY.toString(), headers: signed(BODY, TIMED, world.clock.nowMs()) }));
    const serve = entryOf(world);
    expect((await serve(event)).body).toEqual({ verdict: 'ack', note: 'settled' });
    expect(await serve(event)).toMatchObject({ status: 200, body: { verdict: 'ack', note: 'done' }, writes: 0 });
    expect(world.sender.sends).toHaveLength(1);
  });

  it('without its signature, or with an empty one, is a 401 although its body is good [C104]', async () => {
    const without = (name: string) => (world: TestWorld) => {
      const { [name]: _left, ...rest } = signed(BODY, TIMED, world.clock.nowMs());
      return rest;
    };
    expect(await call(without(SIGNATURE))).toMatchObject(nothing);
    expect(await call(without(TIMESTAMP))).toMatchObject(nothing);
    expect(await call((world) => ({ ...without(SIGNATURE)(world), [SIGNATURE]: '' }))).toMatchObject(nothing);
    expect(await call((world) => ({ ...without(SIGNATURE)(world), [SIGNATURE]: '  ' }))).toMatchObject(nothing);
    expect(await call((world) => signed(BODY, TIMED, world.clock.nowMs()))).toMatchObject({ status: 200, sends: 1 });
  });
});
