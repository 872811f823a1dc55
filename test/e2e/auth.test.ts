/** Who is let in: failures are bounded, a good token is in nobody's way, and every answer can be found in the log. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openTestWorld, type TestWorld } from '../support/world.ts';

const look = (world: TestWorld, token: string) => world.call('operator', 'GET', '/v1/destinations', { token });

const tokenReads = (world: TestWorld): number =>
  world.asked.filter(({ kind, ref }) => kind === 'load' && ref?.item === 'token').length;

const BAD = 'not-a-token-of-anybody';

describe('a token that is not known', () => {
  it('is told to wait when it keeps on, and costs at most one read a minute then', async () => {
    const world = openTestWorld();
    const statuses: number[] = [];
    for (let second = 0; second < 300; second += 1) {
      for (let n = 0; n < 3; n += 1) statuses.push((await look(world, BAD)).status);
      await world.clock.advance(1_000);
    }
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.filter((status) => status === 401).length).toBeLessThan(16);
    expect(tokenReads(world)).toBeLessThan(12);
  });

  it('is told how long, and is looked at again after that', async () => {
    const world = openTestWorld();
    let answer = await look(world, BAD);
    while (answer.status === 401) answer = await look(world, BAD);
    expect(answer.body).toMatchObject({ status: 429, code: 'too-many-failures' });
    const [, seconds = ''] = /again in (\d+) s/.exec(answer.text) ?? [];
    const reads = tokenReads(world);
    await world.clock.advance(Number(seconds) * 1_000);
    expect((await look(world, BAD)).status).toBe(401);
    expect(tokenReads(world)).toBe(reads + 1);
  });

  it('cannot lock out one that is good, whatever is sent beside it and however often', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.stringMatching(/^[A-Za-z0-9]{1,30}$/), { maxLength: 60 }), async (bad) => {
        const world = openTestWorld();
        for (const token of [...bad, BAD, BAD, BAD, BAD, BAD, BAD, BAD]) {
          expect([401, 429]).toContain((await look(world, token)).status);
          expect((await look(world, world.token('view'))).status).toBe(200);
        }
      }),
      { numRuns: 10 },
    );
  });

  it('is remembered among a thousand others at most', async () => {
    const world = openTestWorld();
    for (let n = 0; n < 1_100; n += 1) await look(world, `bad-${n}`);
    const reads = tokenReads(world);
    await look(world, 'bad-1099');
    expect(tokenReads(world)).toBe(reads);
    await look(world, 'bad-0');
    expect(tokenReads(world)).toBe(reads + 1);
  });

  it('is not looked for where the header cannot hold one', async () => {
    const world = openTestWorld();
    for (const authorization of [
      '',
      'Basic YTpi',
      'Bearer ',
      'Bearer a b',
      'Bearer a, Bearer b',
      `Bearer ${'x'.repeat(513)}`,
    ]) {
      const answer = await world.call('operator', 'GET', '/v1/destinations', { headers: { authorization } });
      expect(answer.status).toBe(401);
    }
    expect(tokenReads(world)).toBe(0);
  });
});

describe('a request', () => {
  const idOf = async (world: TestWorld, app: 'intake' | 'operator', path: string, init: RequestInit = {}) =>
    (await world.apps[app].request(path, init)).headers.get('x-request-id');
  const lineOf = (world: TestWorld, requestId: string | null) =>
    world.telemetry.lines.find(({ name, fields }) => name === 'api.request' && fields['requestId'] === requestId)
      ?.fields;

  it('has an id of its own, in its answer and in the log, with who asked and what came of it', async () => {
    const world = openTestWorld();
    const authorization = `Bearer ${world.token('view')}`;
    const good = await idOf(world, 'operator', '/v1/events/secret-customer', { headers: { authorization } });
    expect(lineOf(world, good)).toMatchObject({
      method: 'GET',
      route: '/v1/events/:event',
      actor: 'holder-of-view',
      status: 404,
      code: 'not-found',
    });
    const lost = await idOf(world, 'intake', '/v1/events', { method: 'POST' });
    expect(lineOf(world, lost)).toMatchObject({ route: '/v1/events', status: 401, code: 'not-signed-in' });
    const nowhere = await idOf(world, 'operator', '/no/such/route');
    expect(lineOf(world, nowhere)).toMatchObject({ status: 404, code: 'no-such-route' });
    expect(new Set([good, lost, nowhere]).size).toBe(3);
  });

  it('that meets a fault of ours has the same id in the line of the fault', async () => {
    const world = openTestWorld();
    world.ledgerHooks.before = () => {
      throw new Error('a bug');
    };
    const headers = { authorization: `Bearer ${world.token('view')}` };
    const id = await idOf(world, 'operator', '/v1/stats', { headers });
    expect(lineOf(world, id)).toMatchObject({ status: 500, code: 'internal' });
    const fault = world.telemetry.lines.find(({ name }) => name === 'api.error');
    expect(fault?.fields).toMatchObject({ requestId: id, route: '/v1/stats' });
  });
});
