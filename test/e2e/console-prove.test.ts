/** A drill by the pages of the console: what it will send, what came back, and what follows from effects that were counted. */
import { describe, expect, it } from 'vitest';
import { formsIn, signedIn, tokenWith, type Visitor, wordsIn } from '../support/console.ts';
import { decisionOf } from '../support/decisions.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { PARTNER, pause } from '../support/world-states.ts';

const AT = `/console/destinations/${PARTNER}`;
const PROVE = `${AT}/prove`;
const EFFECTS = `${PROVE}/effects`;

const open = async (settings = {}): Promise<{ world: TestWorld; visitor: Visitor }> => {
  const world = openTestWorld();
  await world.destination(PARTNER, settings);
  return { world, visitor: await signedIn(world, tokenWith(world, 'ops', ['view', 'pause'])) };
};

const drilled = async (visitor: Visitor, fields: Readonly<Record<string, string>> = {}) =>
  visitor.submit(await visitor.get(PROVE), PROVE, { reason: 'before we go live', ...fields });

const ONCE = { 'effects-repeat': '1', 'effects-twins': '1', 'effects-late': '1' };

describe('a drill from a page', () => {
  it('says first what it will send, and sends nothing yet, nor without a reason', async () => {
    const { world, visitor } = await open();
    const offer = await visitor.get(PROVE);
    const words = wordsIn(offer.text);
    for (const says of ['a repeat is safe', 'up to 10 test requests', 'two identical requests at once: 2'])
      expect(words).toContain(says);
    expect((await visitor.submit(offer, PROVE, {})).status).toBe(422);
    expect(world.sender.sends).toHaveLength(0);
  });

  it('shows what came back and that nothing is shown by it; it is on record, and once', async () => {
    const { world, visitor } = await open();
    const offer = await visitor.get(PROVE);
    const page = await visitor.submit(offer, PROVE, { reason: 'before we go live' });
    expect(page.status).toBe(200);
    const words = wordsIn(page.text);
    expect(words).toContain('not shown repeat: unproven');
    expect(words).toContain('accepted again, with the same answer (200, 200). Effects: unproven.');
    expect(world.sender.sends).toHaveLength(10);
    const [, request = ''] = formsIn(offer.text).flatMap(({ fields }) => fields.find(([name]) => name === 'key') ?? []);
    expect(await decisionOf(world, request)).toMatchObject({
      command: 'prove',
      actor: 'ops',
      reason: 'before we go live',
    });
    const again = await visitor.submit(offer, PROVE, { reason: 'before we go live' });
    expect([again.status, wordsIn(again.text).includes('has had its drill')]).toEqual([409, true]);
    expect(world.sender.sends).toHaveLength(10);
  });

  it('is judged by the effects that a person has counted, as often as they like, and sends nothing more', async () => {
    const { world, visitor } = await open();
    const page = await drilled(visitor);
    const writes = world.store.writes.length;
    const yes = await visitor.submit(page, EFFECTS, ONCE);
    expect(wordsIn(yes.text)).toContain('a repeat is safe: shown');
    const no = await visitor.submit(yes, EFFECTS, { 'effects-twins': '2' });
    expect(wordsIn(no.text)).toContain('a repeat acts again');
    expect(wordsIn(no.text)).toContain('twins: 2 identical requests under one key had 2 effects.');
    const unsure = await visitor.submit(no, EFFECTS, { 'effects-twins': '' });
    expect(wordsIn(unsure.text)).toContain('not shown twins: unproven');
    expect([world.sender.sends.length, world.store.writes.length]).toEqual([10, writes]);
  });

  it.each([
    ['is no number', { 'effects-late': 'many' }, 'the effects of late must be a whole number'],
    ['is a share', { 'effects-late': '1.5' }, 'the effects of late must be a whole number'],
    ['belongs to no drill', { report: '{"parts":[]}' }, 'does not bring back a drill'],
    ['belongs to nothing', { report: '{' }, 'does not bring back a drill'],
    ['is of a foreign form', { mark: 'foreign' }, 'not of your session'],
  ])('refuses a count that %s', async (_what, fields, says) => {
    const { visitor } = await open();
    const answer = await visitor.submit(await drilled(visitor), EFFECTS, { ...ONCE, ...fields });
    expect([403, 422]).toContain(answer.status);
    expect(wordsIn(answer.text)).toContain(says);
  });

  it('refuses the drill of another destination', async () => {
    const { world, visitor } = await open();
    await world.destination('other');
    const page = await drilled(visitor);
    const [form] = formsIn(page.text).filter(({ action }) => action === EFFECTS);
    const answer = await visitor.post('/console/destinations/other/prove/effects', form?.fields ?? []);
    expect([answer.status, wordsIn(answer.text).includes('does not bring back a drill')]).toEqual([422, true]);
  });

  it('asks whether it shall be run although the destination is paused, and is not offered in shadow mode', async () => {
    const { world, visitor } = await open();
    await pause(world);
    expect((await drilled(visitor)).status).toBe(409);
    expect(world.sender.sends).toHaveLength(0);
    expect((await drilled(visitor, { evenIfPaused: 'yes' })).status).toBe(200);
    const shadow = await open({ mode: 'shadow' });
    expect((await shadow.visitor.get(AT)).text).not.toContain(PROVE);
    expect((await drilled(shadow.visitor)).status).toBe(409);
  });

  it('shows what a stranger has answered as text', async () => {
    const { world, visitor } = await open();
    world.sender.always(answered(422, { excerpt: '<script>alert(1)</script>"\u202e' }));
    const page = await drilled(visitor);
    expect(page.text).not.toContain('<script>alert');
    expect(page.text).not.toContain('\u202e</');
    expect(wordsIn(page.text)).toContain('first: <script>alert(1)</script>"');
    const judged = await visitor.submit(page, EFFECTS, {});
    expect(judged.text).not.toContain('<script>alert');
    expect(judged.status).toBe(200);
  });
});
