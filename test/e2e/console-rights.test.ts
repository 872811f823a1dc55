/** What a token may do on the console: exactly what it may do at the API, shown and asked for alike. */
import { describe, expect, it } from 'vitest';
import type { Right } from '../../functions/core/items.ts';
import { RIGHTS } from '../../functions/http/auth.ts';
import { linksIn, signedIn, tokenWith } from '../support/console.ts';
import { openRedriveWorld } from '../support/redrive-world.ts';
import { answered } from '../support/world-ports.ts';

const HELD = '/console/events/held/deliveries/brief';
const SENT = '/console/events/sent';
const PARTNER = '/console/destinations/partner';

/** Every change, the right that it needs, and the page with its button. */
const changesAt = (operation: string): readonly (readonly [path: string, right: Right, on: string])[] => [
  [`${HELD}/redrive`, 'resend', HELD],
  [`${HELD}/resolve`, 'decide', HELD],
  [`${HELD}/cancel`, 'decide', HELD],
  [`${SENT}/replay`, 'resend', SENT],
  [`${PARTNER}/pause`, 'pause', PARTNER],
  [`${PARTNER}/test`, 'pause', PARTNER],
  [`${PARTNER}/prove`, 'pause', PARTNER],
  ['/console/destinations/shut/resume', 'pause', '/console/destinations/shut'],
  [`${PARTNER}/delete`, 'admin', PARTNER],
  ['/console/redrives/new', 'resend', '/console/redrives'],
  [`/console/redrives/${operation}/run`, 'resend', `/console/redrives/${operation}`],
];

const open = async () => {
  const redrives = openRedriveWorld();
  const { world } = redrives;
  await world.destination('partner');
  await world.destination('shut');
  await world.destination('brief', { schedule: [] });
  await world.accepted('sent', 'partner');
  await world.deliver('sent', 'partner');
  world.sender.script(answered(500));
  await world.accepted('held', 'brief');
  await world.deliver('held', 'brief');
  await world.call('operator', 'POST', '/v1/destinations/shut/pause', {
    token: world.token('pause'),
    body: { reason: 'their window' },
    headers: { 'Idempotency-Key': 'pause-shut' },
  });
  await redrives.deadLetter('dead');
  const { operation } = await redrives.plan();
  return { world, changes: changesAt(operation) };
};

describe.each(RIGHTS.filter((right) => right !== 'view'))('a token that may view and %s', (right) => {
  const may = (needed: Right): boolean => right === needed || right === 'admin';

  it('sees the buttons of what it may do, and of nothing else', async () => {
    const { world, changes } = await open();
    const visitor = await signedIn(world, tokenWith(world, 'ops', ['view', right]));
    for (const [path, needed, on] of changes) {
      const page = await visitor.get(on);
      expect([on, page.status]).toEqual([on, 200]);
      expect([path, linksIn(page.text).includes(path)]).toEqual([path, may(needed)]);
    }
    const quarantine = await visitor.get('/console/quarantine');
    expect(quarantine.text.includes('value="redrive"')).toBe(may('resend'));
    expect(quarantine.text.includes('value="cancel"')).toBe(may('decide'));
  });

  it('is refused everything else by the server, form or no form, and nothing is written', async () => {
    const { world, changes } = await open();
    const visitor = await signedIn(world, tokenWith(world, 'ops', ['view', right]));
    const [, mark = ''] = /name="mark" value="([^"]+)"/.exec((await visitor.get('/console')).text) ?? [];
    const fields = [
      ['mark', mark],
      ['key', 'k-1'],
      ['reason', 'because'],
      ['pick', 'held/brief'],
    ] as const;
    const refused = changes.filter(([, needed]) => !may(needed));
    const writes = await world.writesOf(async () => {
      for (const [path] of refused) {
        const to = path === '/console/redrives/new' ? '/console/redrives' : path;
        expect([path, (await visitor.get(path)).status]).toEqual([path, 403]);
        expect([to, (await visitor.post(to, fields)).status]).toEqual([to, 403]);
      }
      for (const [word, needed] of [
        ['redrive', 'resend'],
        ['cancel', 'decide'],
      ] as const) {
        if (may(needed)) continue;
        for (const step of ['preview', 'decide']) {
          const answer = await visitor.post(`/console/quarantine/${step}`, [...fields, ['do', word]]);
          expect([step, word, answer.status]).toEqual([step, word, 403]);
        }
      }
    });
    expect(writes).toEqual([]);
  });

  it('is offered the form of everything that it may do', async () => {
    const { world, changes } = await open();
    const visitor = await signedIn(world, tokenWith(world, 'ops', ['view', right]));
    for (const [path, needed] of changes) {
      if (!may(needed)) continue;
      const page = await visitor.get(path);
      expect([path, page.status, page.text.includes('name="reason"')]).toEqual([path, 200, true]);
    }
  });
});
