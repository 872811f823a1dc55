/** The record of decisions on the console, where some of it was written by other code. */
import { describe, expect, it } from 'vitest';
import { parseRequestId } from '../../functions/core/ids.ts';
import { causeOf } from '../../functions/core/journal.ts';
import type { Ref } from '../../functions/ports.ts';
import { signedIn, wordsIn } from '../support/console.ts';
import { CALLS, decideBy } from '../support/decisions.ts';
import { openTestWorld } from '../support/world.ts';
import { alter, PARTNER, toLaterFormat } from '../support/world-states.ts';

const refOf = (request: string): Ref => {
  const parsed = parseRequestId(request);
  if (parsed.kind === 'bad') throw new TypeError(parsed.reason);
  return { item: 'decision', cause: causeOf('actor', parsed.id) };
};

const recorded = async () => {
  const world = openTestWorld();
  await world.destination(PARTNER);
  for (const [request, call] of [
    ['one', CALLS.pause],
    ['two', CALLS.resume],
    ['three', CALLS.test],
  ] as const)
    expect((await decideBy(world, call, request)).status).toBeLessThan(300);
  return { world, visitor: await signedIn(world, world.token('admin')) };
};

describe('a decision that this code cannot read', () => {
  it.each([
    [
      'has a command of newer code',
      (world: ReturnType<typeof openTestWorld>) =>
        alter(world, refOf('two'), (record) => ({ ...record, cmd: { S: 'postpone' } })),
    ],
    ['is of a later format', (world: ReturnType<typeof openTestWorld>) => toLaterFormat(world, refOf('two'))],
  ])('takes no other with it, and is not hidden, where it %s', async (_what, spoil) => {
    const { world, visitor } = await recorded();
    spoil(world);
    const audit = await visitor.get('/console/audit');
    expect(audit.status).toBe(200);
    const words = wordsIn(audit.text);
    expect(words).toMatch(/pause partner/);
    expect(words).toMatch(/test partner/);
    expect(words).not.toMatch(/resume partner/);
    expect(words).toContain('1 decision of this page cannot be read here');
    expect((await visitor.get('/console')).status).toBe(200);
  });

  it('is spoken of nowhere where all can be read', async () => {
    const { visitor } = await recorded();
    expect(wordsIn((await visitor.get('/console/audit')).text)).not.toContain('cannot be read here');
  });
});
