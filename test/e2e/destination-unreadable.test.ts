/** One destination that cannot be read: it is named wherever destinations are listed, and the others stand beside it. */
import { describe, expect, it } from 'vitest';
import { ran } from '../support/cli.ts';
import { signedIn, wordsIn } from '../support/console.ts';
import { destinationId, openTestWorld, type TestWorld } from '../support/world.ts';
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
    expect(out).toContain('1 deliveries');
  });
});
