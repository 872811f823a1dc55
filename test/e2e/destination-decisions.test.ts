/** A change of settings is a decision of a person: who and what stands on record before it is changed. */
import { describe, expect, it } from 'vitest';
import { PortUnavailable } from '../../functions/ports.ts';
import { ran } from '../support/cli.ts';
import { signedIn, wordsIn } from '../support/console.ts';
import { decisionOf, isDecided } from '../support/decisions.ts';
import { destinationId, openTestWorld, type TestWorld } from '../support/world.ts';
import { PARTNER } from '../support/world-states.ts';

const GOOD = { url: 'https://partner.example/hook', repeatSafe: true };
const secretOf = (fill: number): string => `whsec_${Buffer.alloc(32, fill).toString('base64')}`;

const put = (world: TestWorld, body: Readonly<Record<string, unknown>>, key?: string) =>
  world.call('operator', 'PUT', `/v1/destinations/${PARTNER}`, {
    token: world.token('admin'),
    body: { ...GOOD, ...body },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });

const secretsOf = async (world: TestWorld) => {
  const found = await world.records.load({ item: 'secret', destination: destinationId(PARTNER) });
  if (found.kind !== 'found') throw new Error(found.kind);
  return found.item;
};

describe('a change of settings', () => {
  it('is on record with who, why and what, before it acts', async () => {
    const world = openTestWorld();
    await put(world, {});
    const reason = 'they have honoured keys since Monday';
    const body = { repeatSafe: false, headers: { authorization: 'Bearer SESAME' }, reason };
    const writes = await world.writesOf(async () => {
      expect((await put(world, body, 'ticket-1')).status).toBe(200);
    });
    expect(writes.map(({ ref }) => ref?.item)).toEqual(['decision', 'destination', 'decision']);
    expect(await decisionOf(world, 'ticket-1')).toMatchObject({
      ...{ command: 'set', actor: 'holder-of-admin', reason, destination: PARTNER, before: 'version 1' },
      ...{ changes: ['repeatSafe: true -> false', 'header authorization: (new)'], result: 'done' },
    });
    expect(JSON.stringify(writes.filter(({ ref }) => ref?.item === 'decision'))).not.toContain('SESAME');
  });

  it('needs no reason and no Idempotency-Key: it is named by the id of its request', async () => {
    const world = openTestWorld();
    const answer = await world.apps.operator.request(`/v1/destinations/${PARTNER}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${world.token('admin')}` },
      body: JSON.stringify(GOOD),
    });
    expect(answer.status).toBe(201);
    const id = answer.headers.get('x-request-id') ?? '';
    expect(await decisionOf(world, id)).toMatchObject({ command: 'set', reason: '', before: 'not there' });
  });

  it('that changes nothing, or is refused, leaves no record', async () => {
    const world = openTestWorld();
    await put(world, {});
    for (const [key, body, status] of [
      ['same', {}, 200],
      ['bad', { reason: '' }, 422],
      ['mask', { headers: { 'x-key': '***' } }, 422],
    ] as const) {
      expect(await world.writesOf(async () => expect((await put(world, body, key)).status).toBe(status))).toEqual([]);
      expect(isDecided(world, key)).toBe(false);
    }
  });

  it('under an id that was used for other settings is refused, and under the same for the same done once', async () => {
    const world = openTestWorld();
    await put(world, {});
    const first = await put(world, { timeoutMs: 5_000 }, 'one');
    await put(world, { timeoutMs: 7_000 }, 'two');
    expect((await put(world, { timeoutMs: 6_000 }, 'one')).body).toMatchObject({ status: 422, code: 'request-reused' });
    const again = await put(world, { timeoutMs: 5_000 }, 'one');
    expect([first.body, again.body]).toMatchObject([{ timeoutMs: 5_000 }, { timeoutMs: 7_000 }]);
  });

  it.each(['before', 'after'] as const)(
    'cut off %s any call of the ledger is completed by its repeat',
    async (when) => {
      let at = 1;
      for (let reached = true; reached; at += 1) {
        const world = openTestWorld();
        await put(world, { signingSecret: secretOf(1) });
        let calls = 0;
        world.ledgerHooks[when] = () => {
          calls += 1;
          if (calls === at) throw new PortUnavailable('ledger', `cut off ${when} call ${at}`);
        };
        const body = { timeoutMs: 5_000, signingSecret: secretOf(2) };
        await put(world, body, 'torn');
        delete world.ledgerHooks[when];
        reached = calls >= at;
        expect((await put(world, body, 'torn')).body).toMatchObject({ timeoutMs: 5_000 });
        expect(await decisionOf(world, 'torn')).toMatchObject({ result: 'done', before: 'version 1' });
        expect((await secretsOf(world)).secrets).toEqual([secretOf(2), secretOf(1)]);
      }
      expect(at).toBeGreaterThan(8);
    },
  );

  it('is on the audit page, and says where nobody gave a reason', async () => {
    const world = openTestWorld();
    await put(world, {});
    await put(world, { mode: 'shadow', reason: 'a rehearsal' });
    const words = wordsIn((await (await signedIn(world, world.token('admin'))).get('/console/audit')).text);
    expect(words).toMatch(/holder-of-admin settings mode: live -> shadow partner a rehearsal done/);
    expect(words).toMatch(/settings url: https:\/\/partner\.example\/hook;.* partner none given done/);
  });

  it('is made with a reason on the command line', async () => {
    const world = openTestWorld();
    const line = ['destination', 'set', PARTNER, '--url', GOOD.url, '--repeat-safe', 'yes', '--yes'];
    const done = await ran(world, [...line, '--reason', 'as agreed', '--request-id', 'mine']);
    expect(done).toMatchObject({ exit: 0 });
    expect(await decisionOf(world, 'mine')).toMatchObject({ command: 'set', reason: 'as agreed', result: 'done' });
  });
});

describe('another signing secret in the settings', () => {
  it('signs at once, and the older one beside it for 24 hours', async () => {
    const world = openTestWorld();
    await put(world, { signingSecret: secretOf(1) });
    expect((await put(world, { signingSecret: secretOf(2) }, 'turn')).status).toBe(200);
    expect(await secretsOf(world)).toMatchObject({
      ...{ secrets: [secretOf(2), secretOf(1)], olderEndAtMs: [world.clock.nowMs() + 24 * 3_600_000] },
    });
    expect(await decisionOf(world, 'turn')).toMatchObject({ changes: ['signingSecret: (new)'], result: 'done' });
    const signatures = async (event: string): Promise<number> => {
      await world.submit({ id: event, payload: 1, destinations: [PARTNER] });
      await world.run(5_000);
      return (world.sender.sends.at(-1)?.headers['webhook-signature'] ?? '').split(' ').length;
    };
    expect(await signatures('soon')).toBe(2);
    await world.clock.advance(24 * 3_600_000);
    expect(await signatures('later')).toBe(1);
  });

  it('is refused where there is no room for it, and nothing is changed', async () => {
    const world = openTestWorld();
    for (const fill of [1, 2, 3]) await put(world, { signingSecret: secretOf(fill) });
    const writes = await world.writesOf(async () => {
      const answer = await put(world, { signingSecret: secretOf(4), timeoutMs: 5_000 });
      expect(answer.body).toMatchObject({ status: 409, code: 'too-many-secrets', field: 'signingSecret' });
      expect(answer.text).toContain('rotate-secret');
    });
    expect(writes).toEqual([]);
  });
});
