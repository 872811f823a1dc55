/** Tokens and signing secrets: shown once, unique by name, ended at once, and whole wherever the making was cut off. */
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../functions/adapters/ledger/twin.ts';
import type { Right } from '../../functions/core/items.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { putAdminToken } from '../../infra/local/token.ts';
import { ran } from '../support/cli.ts';
import { type Answered, openTestWorld, type TestWorld } from '../support/world.ts';
import { EVENT, opened, PARTNER } from '../support/world-states.ts';

const REASON = 'the night shift needs it';

const create = (world: TestWorld, request: string, name: string, rights: readonly Right[] = ['view']) =>
  world.call('operator', 'POST', '/v1/tokens', {
    token: world.token('admin'),
    headers: { 'idempotency-key': request },
    body: { name, rights, reason: REASON },
  });

const revoke = (world: TestWorld, request: string, name: string) =>
  world.call('operator', 'DELETE', `/v1/tokens/${name}`, {
    token: world.token('admin'),
    headers: { 'idempotency-key': request },
    body: { reason: REASON },
  });

const textOf = ({ body }: Answered): string | undefined => (body as { token?: string }).token;
const look = (world: TestWorld, token = '') => world.call('operator', 'GET', '/v1/stats', { token });
const names = async (world: TestWorld): Promise<readonly string[]> => {
  const { body } = await world.call('operator', 'GET', '/v1/tokens', { token: world.token('admin') });
  return (body as { items: { name: string }[] }).items.map(({ name }) => name);
};

describe('a token', () => {
  it('lets in with its rights from its creation on, under its name, and nothing of it is stored but its hash', async () => {
    const world = await opened(openTestWorld());
    const made = await create(world, 'c-1', 'night-shift', ['view', 'decide']);
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'night-shift', rights: ['view', 'decide'], decision: 'c-1' },
    });
    const text = textOf(made) ?? '';
    expect(text).toMatch(/^ow_[\w-]{32}$/);
    expect((await look(world, text)).status).toBe(200);
    const cancelled = await world.call('operator', 'POST', `/v1/events/${EVENT}/deliveries/${PARTNER}/cancel`, {
      token: text,
      headers: { 'idempotency-key': 'x' },
      body: { reason: 'duplicate' },
    });
    expect(cancelled.text).toContain('"actor":"night-shift"');
    expect(await names(world)).toEqual(['night-shift']);
    expect(JSON.stringify(world.store.writes)).not.toContain(text);
  });

  it('is shown once: the same request again is the same token, without its text', async () => {
    const world = openTestWorld();
    const text = textOf(await create(world, 'c-1', 'night-shift'));
    const again = await create(world, 'c-1', 'night-shift');
    expect(again).toMatchObject({ status: 200, body: { name: 'night-shift' } });
    expect(textOf(again)).toBeUndefined();
    expect((await look(world, text)).status).toBe(200);
    expect((await create(world, 'c-1', 'other')).body).toMatchObject({ code: 'request-reused' });
  });

  it('has a name that no other live one has', async () => {
    const world = openTestWorld();
    await create(world, 'c-1', 'ops');
    expect(await create(world, 'c-2', 'ops')).toMatchObject({
      status: 409,
      body: { code: 'name-taken', field: 'name' },
    });
    expect((await revoke(world, 'r-1', 'ops')).status).toBe(200);
    expect((await create(world, 'c-3', 'ops')).status).toBe(201);
    expect(await names(world)).toEqual(['ops']);
  });

  it('ends with its next request when it is revoked, and stays ended', async () => {
    const world = openTestWorld();
    await create(world, 'c-0', 'root', ['admin']);
    const text = textOf(await create(world, 'c-1', 'ops'));
    expect((await look(world, text)).status).toBe(200);
    expect(await revoke(world, 'r-1', 'ops')).toMatchObject({ status: 200, body: { name: 'ops', decision: 'r-1' } });
    expect((await look(world, text)).status).toBe(401);
    expect(await names(world)).toEqual(['root']);
    expect((await revoke(world, 'r-1', 'ops')).status).toBe(200);
    expect((await revoke(world, 'r-2', 'ops')).status).toBe(404);
  });

  it('is not revoked where it is the last with the right to make others', async () => {
    const world = openTestWorld();
    await create(world, 'c-1', 'root', ['admin']);
    await create(world, 'c-2', 'ops', ['view']);
    expect((await revoke(world, 'r-1', 'root')).body).toMatchObject({ code: 'last-admin' });
    await create(world, 'c-3', 'root-2', ['admin']);
    expect((await revoke(world, 'r-2', 'root')).status).toBe(200);
  });

  it.each(['', 'system', 'destination', 'a b', '-x', 'a/b', 'x'.repeat(65), 'ä', 'a\u202eb'])(
    'has a name that can stand as an actor on a record: not %j',
    async (name) => {
      const world = openTestWorld();
      const written = world.store.writes.length;
      expect(await create(world, 'c-1', name)).toMatchObject({ status: 422, body: { field: 'name' } });
      expect(world.store.writes).toHaveLength(written);
    },
  );
});

describe('making and revoking a token, cut off anywhere', () => {
  /** The nth write to the ledger fails, before or after it was applied. */
  const cutAt = (world: TestWorld, n: number, moment: 'before' | 'after'): void => {
    let writes = 0;
    world.ledgerHooks[moment] = ({ kind }: Operation) => {
      if (kind !== 'create' && kind !== 'replace') return;
      writes += 1;
      if (writes === n) throw new PortUnavailable('ledger', 'cut off');
    };
  };
  const mend = (world: TestWorld): void => {
    world.ledgerHooks.before = undefined;
    world.ledgerHooks.after = undefined;
  };
  const CUTS = [1, 2, 3, 4].flatMap((n) => [[n, 'before'] as const, [n, 'after'] as const]);

  it.each(CUTS)('leaves one token of the name at most, and a repeat completes it: write %i, %s', async (n, moment) => {
    const world = openTestWorld();
    cutAt(world, n, moment);
    expect((await create(world, 'c-1', 'ops')).status).toBe(503);
    mend(world);
    const again = await create(world, 'c-1', 'ops');
    expect([200, 201]).toContain(again.status);
    expect(await names(world)).toEqual(['ops']);
    if (again.status === 201) expect((await look(world, textOf(again))).status).toBe(200);
    expect((await create(world, 'c-2', 'ops')).body).toMatchObject({ code: 'name-taken' });
  });

  it.each(CUTS)('ends the token as soon as it is said that it is over: write %i, %s', async (n, moment) => {
    const world = openTestWorld();
    await create(world, 'c-0', 'root', ['admin']);
    const text = textOf(await create(world, 'c-1', 'ops'));
    cutAt(world, n, moment);
    expect((await revoke(world, 'r-1', 'ops')).status).toBe(503);
    mend(world);
    expect((await revoke(world, 'r-1', 'ops')).status).toBe(200);
    expect((await look(world, text)).status).toBe(401);
    expect(await names(world)).toEqual(['root']);
    expect((await create(world, 'c-2', 'ops')).status).toBe(201);
  });

  it('by the same request twice at once gives one token that lets in', async () => {
    const world = openTestWorld();
    const both = await Promise.all([create(world, 'c-1', 'ops'), create(world, 'c-1', 'ops')]);
    const texts = both.flatMap((answer) => textOf(answer) ?? []);
    expect(texts.length).toBeLessThanOrEqual(1);
    expect(await names(world)).toEqual(['ops']);
    for (const text of texts) expect((await look(world, text)).status).toBe(200);
  });
});

describe('the admin token of the local world', () => {
  const OLD = 'the-first-token-0123456789';
  const NEW = 'the-second-token-0123456789';

  it('is the one of the latest start: that of an earlier one ends', async () => {
    const world = openTestWorld();
    await putAdminToken(world.ports, OLD);
    await putAdminToken(world.ports, OLD);
    expect((await look(world, OLD)).status).toBe(200);
    await putAdminToken(world.ports, NEW);
    expect([(await look(world, OLD)).status, (await look(world, NEW)).status]).toEqual([401, 200]);
    expect(await names(world)).toEqual(['local-admin']);
  });

  it('does not come back by a start once it was revoked', async () => {
    const world = openTestWorld();
    await putAdminToken(world.ports, OLD);
    await create(world, 'c-1', 'root', ['admin']);
    await revoke(world, 'r-1', 'local-admin');
    await expect(putAdminToken(world.ports, OLD)).rejects.toThrow('was revoked');
    expect((await look(world, OLD)).status).toBe(401);
  });
});

describe('the signing secret of a destination', () => {
  const rotate = (world: TestWorld, request: string, body: Readonly<Record<string, unknown>> = {}) =>
    world.call('operator', 'POST', `/v1/destinations/${PARTNER}/rotate-secret`, {
      token: world.token('admin'),
      headers: { 'idempotency-key': request },
      body: { reason: REASON, ...body },
    });
  const liveIn = (answer: Answered) => (answer.body as { live: { endsAt?: string }[] }).live;
  const signatures = async (world: TestWorld, event: string): Promise<number> => {
    await world.accepted(event, PARTNER);
    await world.deliver(event, PARTNER);
    return world.sender.sends.at(-1)?.headers['webhook-signature']?.split(' ').length ?? 0;
  };
  const KEPT_MS = 30_000;

  it('signs beside the older one for the overlap, and alone after it', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    expect(await signatures(world, 'before')).toBe(1);
    const rotated = await rotate(world, 'r-1', { overlapHours: 1 });
    expect(rotated).toMatchObject({ status: 200, body: { signingSecret: expect.stringMatching(/^whsec_/) } });
    expect(liveIn(rotated)).toEqual([{}, { endsAt: '2026-01-01T01:00:00.000Z' }]);
    await world.clock.advance(KEPT_MS);
    expect(await signatures(world, 'during')).toBe(2);
    await world.clock.advance(3_600_000);
    expect(await signatures(world, 'after')).toBe(1);
  });

  it('is shown once, and turned once, however often the request comes', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    await rotate(world, 'r-1');
    const again = await rotate(world, 'r-1');
    expect(again.body).not.toHaveProperty('signingSecret');
    expect(liveIn(again)).toHaveLength(2);
    expect((await rotate(world, 'r-1', { overlapHours: 2 })).body).toMatchObject({ code: 'request-reused' });
  });

  it.each([1 / 3, 1.23456789, 1e-11])(
    'takes an overlap of %d hours, which is no whole number of milliseconds',
    async (overlapHours) => {
      const world = openTestWorld();
      await world.destination(PARTNER);
      const answer = await rotate(world, 'r-1', { overlapHours });
      expect(answer.status).toBe(200);
      expect(liveIn(answer)).toHaveLength(2);
    },
  );

  it('ends the older ones at once where the overlap is zero', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    await rotate(world, 'r-1');
    expect(liveIn(await rotate(world, 'r-2', { overlapHours: 0 }))).toEqual([{}]);
    await world.clock.advance(KEPT_MS);
    expect(await signatures(world, 'after')).toBe(1);
  });

  it('has two older ones beside it at most, and says when there is room', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    await rotate(world, 'r-1');
    await rotate(world, 'r-2');
    const third = await rotate(world, 'r-3');
    expect(third).toMatchObject({ status: 409, body: { code: 'too-many-secrets' } });
    expect(third.text).toContain('2026-01-02T00:00:00.000Z');
    await world.clock.advance(24 * 3_600_000);
    expect(liveIn(await rotate(world, 'r-3'))).toHaveLength(2);
  });

  it('may be given, is checked, and is on no record', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const signingSecret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    expect(await rotate(world, 'r-1', { signingSecret: 'whsec_short' })).toMatchObject({ status: 422 });
    const given = await rotate(world, 'r-2', { signingSecret });
    expect(given.text).not.toContain(signingSecret);
    expect(liveIn(given)).toHaveLength(2);
    const decision = await world.records.load({ item: 'decision', cause: 'a:r-2' });
    expect(JSON.stringify([decision, world.telemetry.lines])).not.toContain(signingSecret);
  });
});

describe('on the command line', () => {
  it('a token is made, shown once, listed and revoked', async () => {
    const world = openTestWorld();
    const made = await ran(world, ['token', 'create', 'ops', '--rights', 'view,pause', '--reason', REASON, '--yes']);
    const text = made.out.trim().split('\n').at(-1) ?? '';
    expect((await look(world, text)).status).toBe(200);
    const listed = await ran(world, ['token', 'list']);
    expect(listed.out).toMatch(/^ops +view, pause +2026-/m);
    expect(listed.out).not.toContain(text);
    expect((await ran(world, ['token', 'revoke', 'ops', '--reason', REASON, '--yes'])).exit).toBe(0);
    expect((await look(world, text)).status).toBe(401);
    expect((await ran(world, ['token', 'create', 'x', '--rights', 'all', '--reason', REASON])).exit).toBe(2);
  });

  it('a secret is turned, and one that was typed is not said back', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const rotate = ['destination', 'rotate-secret', PARTNER, '--reason', REASON];
    expect((await ran(world, [...rotate, '--yes'])).out).toMatch(
      /shown this once: whsec_\S+\nAn older one ends at 2026-01-02/,
    );
    const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    for (const more of ['--dry-run', '--yes']) {
      const given = await ran(world, [...rotate, '--signing-secret', secret, more]);
      expect(given.exit).toBe(0);
      expect(given.out + given.err).not.toContain(secret);
    }
  });
});
