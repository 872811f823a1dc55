/** One destination, redrive or delivery that cannot be read: it is named where it is listed, and the others stand beside it. */
import { describe, expect, it } from 'vitest';
import type { Ref } from '../../functions/ports.ts';
import { ran } from '../support/cli.ts';
import { signedIn, wordsIn } from '../support/console.ts';
import { destinationId, eventId, openTestWorld, type TestWorld } from '../support/world.ts';
import { alter, PARTNER, pause, toLaterFormat } from '../support/world-states.ts';

const CONFIG = { item: 'destination', destination: destinationId(PARTNER) } as const;
const GATE = { item: 'gate', destination: destinationId(PARTNER) } as const;

const HARM = {
  'has settings that are broken': ['ledger-corrupt', (world) => alter(world, CONFIG, ({ url: _url, ...rest }) => rest)],
  'has a gate that is broken': ['ledger-corrupt', (world) => alter(world, GATE, ({ v: _v, ...rest }) => rest)],
  'was set by newer code': ['written-by-newer-code', (world) => toLaterFormat(world, CONFIG)],
} as const satisfies Readonly<Record<string, readonly [reason: string, harm: (world: TestWorld) => void]>>;

describe.each(Object.entries(HARM))('a destination that %s', (_what, [reason, harm]) => {
  const open = async (): Promise<TestWorld> => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    await world.destination('another');
    await world.accepted('order-1', PARTNER);
    await world.deliver('order-1', PARTNER);
    await pause(world);
    harm(world);
    return world;
  };

  it('is named by the API and by the command, beside the others', async () => {
    const world = await open();
    const { status, body } = await world.call('operator', 'GET', '/v1/destinations', { token: world.token('view') });
    expect([status, body]).toMatchObject([
      200,
      { items: [{ destination: 'another' }], unreadable: [{ destination: PARTNER, reason }] },
    ]);
    const { exit, out, err } = await ran(world, ['destination', 'list']);
    expect([exit, err]).toEqual([0, expect.stringContaining(`${PARTNER} cannot be read: ${reason}`)]);
    expect(out).toContain('another');
  });

  it('is named on the overview and on the page of destinations, which both are there', async () => {
    const world = await open();
    const visitor = await signedIn(world, world.token('view'));
    for (const path of ['/console', '/console/destinations']) {
      const { status, text } = await visitor.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(wordsIn(text)).toMatch(new RegExp(`Not to be read here[^.]*${PARTNER}.*another`));
    }
    expect(wordsIn((await visitor.get('/console')).text)).toContain('1 destination cannot be read');
  });

  it('keeps its deliveries in an audit of everything', async () => {
    const { out } = await ran(await open(), ['audit', 'verify']);
    expect(out).toContain('1 delivery');
  });
});

describe.each([
  ['is broken', 'ledger-corrupt', (world: TestWorld, ref: Ref) => alter(world, ref, ({ v: _v, ...rest }) => rest)],
  ['was made by newer code', 'written-by-newer-code', toLaterFormat],
] as const)('a redrive that %s', (_what, reason, harm) => {
  const open = async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const planned: string[] = [];
    for (const key of ['first', 'second']) {
      const { body } = await world.call('operator', 'POST', '/v1/redrives', {
        token: world.token('resend'),
        headers: { 'idempotency-key': key },
        body: { source: 'quarantine', limit: 10, why: key },
      });
      planned.push((body as { operation: string }).operation);
    }
    const [lost = '', kept = ''] = planned;
    harm(world, { item: 'operation', operation: lost });
    return { world, lost, kept };
  };

  it('is named by the API, by the command, and on both pages, beside the others', async () => {
    const { world, lost, kept } = await open();
    const { status, body } = await world.call('operator', 'GET', '/v1/redrives', { token: world.token('view') });
    expect([status, body]).toMatchObject([
      200,
      { items: [{ operation: kept }], unreadable: [{ operation: lost, reason }] },
    ]);
    const { exit, out, err } = await ran(world, ['redrive', 'list']);
    expect([exit, err]).toEqual([0, expect.stringContaining(`${lost} cannot be read: ${reason}`)]);
    expect(out).toContain(kept);
    const visitor = await signedIn(world, world.token('view'));
    for (const path of ['/console/redrives', '/console/audit']) {
      const page = await visitor.get(path);
      expect([path, page.status]).toEqual([path, 200]);
      expect(wordsIn(page.text)).toContain(
        `Not to be read here, for they are broken or written by newer code: ${lost}`,
      );
      expect(page.text).toContain(kept);
    }
  });
});

describe.each([
  ['is broken', 'ledger-corrupt', (world: TestWorld, ref: Ref) => alter(world, ref, ({ bud: _bud, ...rest }) => rest)],
  ['was written by newer code', 'written-by-newer-code', toLaterFormat],
] as const)('a delivery that %s', (_what, why, harm) => {
  it('stands on the page of its event, beside the others', async () => {
    const world = openTestWorld();
    for (const id of [PARTNER, 'another']) await world.destination(id);
    await world.submit({ id: 'order-1', payload: 1, destinations: [PARTNER, 'another'] });
    await world.deliver('order-1', 'another');
    harm(world, { item: 'delivery', event: eventId('order-1'), destination: destinationId(PARTNER) });
    const page = await (await signedIn(world, world.token('view'))).get('/console/events/order-1');
    expect(page.status).toBe(200);
    expect(wordsIn(page.text)).toMatch(new RegExp(`${PARTNER} unreadable.*another delivered`));
    expect(page.text).toContain(why);
  });
});
