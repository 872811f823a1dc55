/** The record of decisions on the console, where some of it was written by other code. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { parseRequestId } from '../../functions/core/ids.ts';
import { causeOf } from '../../functions/core/journal.ts';
import { decisionPageAnswer } from '../../functions/operator/contract/decisions.ts';
import type { Ref } from '../../functions/ports.ts';
import { ran } from '../support/cli.ts';
import { signedIn, wordsIn } from '../support/console.ts';
import { CALLS, decideBy } from '../support/decisions.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { alter, EVENT, PARTNER, toLaterFormat } from '../support/world-states.ts';

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
  ] as const) {
    // One after the other: of two at the same time none is the newer.
    await world.clock.advance(1_000);
    expect((await decideBy(world, call, request)).status).toBeLessThan(300);
  }
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

const listed = async (world: TestWorld, query = '') => {
  const { body } = await world.call('operator', 'GET', `/v1/decisions${query}`, { token: world.token('view') });
  return z.parse(decisionPageAnswer, body);
};

const briefly = (items: z.output<typeof decisionPageAnswer>['items']): readonly string[] =>
  items.map(({ command, destination }) => `${command} ${destination ?? ''}`.trim());

describe('the list of decisions', () => {
  it('says who decided what, about which, why, and how it ended, newest first', async () => {
    const { world } = await recorded();
    const { items } = await listed(world);
    expect(briefly(items)).toEqual(['test partner', 'resume partner', 'pause partner', 'set partner']);
    expect(items[2]).toEqual({
      ...{ decision: 'one', at: '2026-01-01T00:00:01.000Z', actor: 'holder-of-pause', command: 'pause' },
      ...{ reason: CALLS.pause.body.reason, before: 'active', destination: PARTNER, result: 'done' },
    });
    expect(items[3]).toMatchObject({ changes: expect.arrayContaining(['repeatSafe: true']), before: 'not there' });
    expect(items[3]).not.toHaveProperty('reason');
  });

  it('is narrowed down by destination, event and actor', async () => {
    const { world } = await recorded();
    await world.clock.advance(1_000);
    await world.destination('other');
    await world.accepted(EVENT, PARTNER);
    await world.clock.advance(1_000);
    await decideBy(world, CALLS.cancel, 'four');
    expect(briefly((await listed(world, '?destination=other')).items)).toEqual(['set other']);
    expect(briefly((await listed(world, `?event=${EVENT}`)).items)).toEqual(['cancel partner']);
    expect(briefly((await listed(world, '?actor=holder-of-decide')).items)).toEqual(['cancel partner']);
    expect((await listed(world, '?destination=nowhere')).items).toEqual([]);
    const page = await (await signedIn(world, world.token('view'))).get('/console/audit?destination=other');
    expect(wordsIn(page.text)).toMatch(/settings .* other/);
    expect(wordsIn(page.text)).not.toMatch(/pause partner/);
  });

  it('has each decision once over its pages, and looks at a bounded number of rows for one', async () => {
    const { world } = await recorded();
    for (let n = 0; n < 9; n += 1) {
      await world.clock.advance(1_000);
      await world.destination(`other-${n}`);
    }
    const seen: string[] = [];
    const lengths: number[] = [];
    let next: string | undefined = '';
    while (next !== undefined) {
      const page: z.output<typeof decisionPageAnswer> = await listed(
        world,
        `?destination=partner&limit=1&cursor=${next}`,
      );
      lengths.push(page.items.length);
      seen.push(...briefly(page.items));
      next = page.next;
    }
    expect(seen).toEqual(['test partner', 'resume partner', 'pause partner', 'set partner']);
    // Nine of others are ahead of them, and five rows were the bound.
    expect(lengths[0]).toBe(0);
  });

  it('counts what it cannot read, and refuses a cursor that is not its own', async () => {
    const { world } = await recorded();
    toLaterFormat(world, refOf('two'));
    expect(await listed(world)).toMatchObject({ unreadable: 1, items: { length: 3 } });
    const answer = await world.call('operator', 'GET', '/v1/decisions?cursor=other', { token: world.token('view') });
    expect(answer.body).toMatchObject({ status: 400, code: 'bad-cursor' });
  });

  it('is a table on the command line, bounded, and says how it goes on', async () => {
    const { world } = await recorded();
    const first = await ran(world, ['audit', 'decisions', '--destination', PARTNER, '--limit', '1']);
    expect(first).toMatchObject({ exit: 0, out: expect.stringMatching(/holder-of-pause +test +partner +\S.* done/) });
    expect(first.out).not.toMatch(/resume/);
    const [, next] = /--cursor (\S+)/.exec(first.err) ?? [];
    const second = await ran(world, ['audit', 'decisions', '--limit', '1', '--cursor', next ?? '', '--json']);
    expect(JSON.parse(second.out)).toMatchObject({ items: [{ command: 'resume' }] });
    expect((await ran(world, ['audit', 'decisions', '--actor', 'nobody'])).out).toContain('No such decision');
  });
});
