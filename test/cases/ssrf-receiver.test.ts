/** Real failures in deciding where we may connect, at both moments: when a destination is set up, and when it is called. */

import { describe, expect, it } from 'vitest';
import { createSender } from '../../functions/adapters/sender/sender.ts';
import { destinationId, openTestWorld, type TestWorld } from '../support/world.ts';
import { alter, EVENT, opened, PARTNER } from '../support/world-states.ts';

const CLOUD = { allowLocal: false };

/** With the real sender, whose look-up must never be reached. */
const realWorld = (): { world: TestWorld; lookedUp: string[] } => {
  const lookedUp: string[] = [];
  const lookup = async (host: string) => {
    lookedUp.push(host);
    return [];
  };
  const world = openTestWorld({
    reshape: (ports) => ({ ...ports, sender: createSender({ policy: CLOUD, clock: ports.clock, lookup }) }),
  });
  return { world, lookedUp };
};

const setUp = async (url: string) => {
  const { status, body } = await openTestWorld().destination(PARTNER, { url });
  return { status, body };
};

/** The URL stands in a row that is older than the rule. */
const called = async (url: string) => {
  const { world, lookedUp } = realWorld();
  await opened(world);
  alter(world, { item: 'destination', destination: destinationId(PARTNER) }, (record) => {
    const [name] = Object.entries(record).find(([, { S }]) => S === 'https://partner.example/hook') ?? [];
    if (name === undefined) throw new Error('no URL in the record');
    return { ...record, [name]: { S: url } };
  });
  await world.run(3_600_000);
  return { row: await world.row(EVENT, PARTNER), lookedUp };
};

const expectDenied = async (url: string): Promise<void> => {
  expect(await setUp(url)).toMatchObject({ status: 422, body: { code: 'invalid', field: 'url' } });
  const { row, lookedUp } = await called(url);
  expect(row).toMatchObject({ status: 'quarantined', reason: 'blocked', attempts: 1 });
  expect([row.firstExcerpt, row.latestExcerpt, lookedUp]).toEqual([undefined, undefined, []]);
};

describe('a destination that points inside', () => {
  it.each(['https://[::ffff:127.0.0.1]/', 'https://[::ffff:a9fe:a9fe]/', 'https://[::ffff:0:0]/'])(
    'as an IPv4 address in IPv6 clothes is refused at set-up and at the call: %s [C086]',
    expectDenied,
  );

  it.each(['https://[::127.0.0.1]/', 'https://[::7f00:1]/', 'https://[64:ff9b::7f00:1]/'])(
    'as an IPv4 address that the parser writes as hex is refused at set-up and at the call: %s [C087]',
    expectDenied,
  );

  it.each(['https://localhost./', 'https://metadata.google.internal./', 'https://LOCALHOST./hook'])(
    'behind a final dot is refused at set-up and at the call: %s [C091]',
    expectDenied,
  );

  it.each(['https://[example.com]/', 'https://[localhost]/', 'https://[partner.example]/hook'])(
    'in brackets that hold a name is refused at set-up and at the call: %s [C095]',
    expectDenied,
  );
});

describe('a destination that points outside', () => {
  it('with a final dot is taken, and looked up without it: the rule is about where, not about dots [C091]', async () => {
    expect((await setUp('https://partner.example./hook')).status).toBe(201);
    const { row, lookedUp } = await called('https://partner.example./hook');
    expect(lookedUp.length).toBeGreaterThan(0);
    expect(new Set(lookedUp)).toEqual(new Set(['partner.example']));
    expect(row.journal.lines[2]?.entry).toMatchObject({ class: 'not-sent', detail: 'dns' });
  });
});
