/** Who may be told, who may not make a notice, and that settings and register say the same. */
import { describe, expect, it } from 'vitest';
import { NOTICE_DESTINATIONS_MAX } from '../../functions/core/notice.ts';
import { ran } from '../support/cli.ts';
import { signedIn, wordsIn } from '../support/console.ts';
import { MINUTE_MS, noticeEvents, noticeWorld, OPS_URL, toldAt, written } from '../support/notice-world.ts';
import { destinationId, openTestWorld } from '../support/world.ts';

describe('a producer', () => {
  const id = 'notice~delivery-quarantined~20261129T1200Z~AAAAAAAAAAAAAAAAAAAAAA';

  it('can neither make a notice nor take its place, by the API or by the queue', async () => {
    const world = await noticeWorld();
    await world.destination('ops', { url: OPS_URL, notices: true, acceptFromQueue: true });
    const event = { id, payload: { notice: 'all is well' }, destinations: ['ops'] };
    expect(await world.submit(event)).toMatchObject({ status: 422, body: { field: 'id' } });
    expect((await world.push({ kind: 'event', format: 1, event })).status).toBe(200);
    await world.run(MINUTE_MS);
    expect(written(world, 'poison')).toBe(1);
    expect([noticeEvents(world), toldAt(world)]).toEqual([[], []]);
  });
});

describe('the setting', () => {
  it('is shown by the API, the command line and the console, and is off unless it is asked for', async () => {
    const world = await noticeWorld();
    const shown = async (id: string) =>
      (await world.call('operator', 'GET', `/v1/destinations/${id}`, { token: world.token('view') })).body;
    expect([await shown('ops'), await shown('partner')]).toMatchObject([{ notices: true }, { notices: false }]);
    expect((await ran(world, ['destination', 'list'])).out).toMatch(/NOTICES[\s\S]*ops +active +yes/);
    expect((await ran(world, ['destination', 'show', 'ops'])).out).toContain('it is told what a person should know');
    const set = ['destination', 'set', 'pager', '--url', OPS_URL, '--repeat-safe', 'yes', '--notices', '--yes'];
    expect((await ran(world, set)).exit).toBe(0);
    expect(await shown('pager')).toMatchObject({ notices: true });
    const visitor = await signedIn(world, world.token('view'));
    expect(wordsIn((await visitor.get('/console/destinations/ops')).text)).toContain('Notices it is told');
    expect(wordsIn((await visitor.get('/console/destinations')).text)).toContain('takes notices');
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'set and taken back at once is the same in settings and register: turn %i',
    async (turns) => {
      const world = await noticeWorld();
      let asked = 0;
      const setting = (notices: boolean) => world.destination('ops', { url: OPS_URL, notices });
      let again: Promise<unknown> | undefined;
      // Whoever unmarks is held at one of the requests behind its settings, while another marks it again.
      let isUnmarked = false;
      world.ledgerHooks.before = async ({ kind, ref }) => {
        if (again !== undefined) return;
        isUnmarked ||= kind === 'load' && ref?.item === 'notice-register';
        if (isUnmarked) asked += 1;
        if (asked !== turns) return;
        again = setting(true);
        await again;
      };
      await setting(false);
      await again;
      delete world.ledgerHooks.before;
      const config = await world.records.load({ item: 'destination', destination: destinationId('ops') });
      const register = await world.records.load({ item: 'notice-register' });
      const [isSet, isIn] = [
        config.kind === 'found' && config.item.notices === true,
        register.kind === 'found' && register.item.destinations.includes(destinationId('ops')),
      ];
      expect(isIn).toBe(isSet);
    },
  );

  it('is one of true and false', async () => {
    const world = openTestWorld();
    expect(await world.destination('ops', { notices: 'yes' })).toMatchObject({
      status: 422,
      body: { field: 'notices' },
    });
  });

  it('can be had by ten, and by another when one of them has it no more', async () => {
    const world = openTestWorld();
    const marked = (id: string, notices = true) => world.destination(id, { notices });
    for (let n = 0; n < NOTICE_DESTINATIONS_MAX; n += 1) expect((await marked(`ops-${n}`)).status).toBe(201);
    expect(await marked('one-more')).toMatchObject({ status: 409, body: { code: 'too-many-for-notices' } });
    expect(await world.records.load({ item: 'destination', destination: destinationId('one-more') })).toMatchObject({
      kind: 'absent',
    });
    expect((await marked('ops-3')).status).toBe(200);
    expect((await marked('ops-3', false)).status).toBe(200);
    expect((await marked('one-more')).status).toBe(201);
    // One that was deleted leaves its name behind: it is found when there is no room.
    await world.call('operator', 'DELETE', '/v1/destinations/ops-5', {
      token: world.token('admin'),
      headers: { 'idempotency-key': 'k' },
      body: { reason: 'no longer' },
    });
    expect((await marked('another')).status).toBe(201);
  });
});
