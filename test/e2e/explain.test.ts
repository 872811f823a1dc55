/** Explanations: the words that stand in the docs, the structure behind them, and what they may never claim. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { explanationAnswer } from '../../functions/operator/contract/explain.ts';
import { ran } from '../support/cli.ts';
import { EXPLAIN_STORIES } from '../support/explain-stories.ts';
import type { TestWorld } from '../support/world.ts';
import { openTestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, killedWhileSending, opened, PARTNER, RESTING } from '../support/world-states.ts';

const explained = async (world: TestWorld) => {
  const path = `/v1/events/${EVENT}/deliveries/${PARTNER}/explain`;
  const { body } = await world.call('operator', 'GET', path, { token: world.token('view') });
  return z.parse(explanationAnswer, body);
};

const HEAD = `# Ten deliveries, explained

\`onceward delivery explain <event> <destination>\`, and \`GET /v1/events/{id}/deliveries/{destination}/explain\` for the same
as JSON. Requests and recorded successes are exact; pushes are counted where they changed the row. This page is written by
\`test/e2e/explain.test.ts\`, which lives each of these lives and asks.
`;

describe('the worked examples', () => {
  it('stand in the docs as they are', async () => {
    const chapters: string[] = [];
    for (const [index, { title, asks, live }] of EXPLAIN_STORIES.entries()) {
      const { out, exit } = await ran(await live(), ['delivery', 'explain', EVENT, PARTNER]);
      expect(exit).toBe(0);
      chapters.push(`## ${index + 1}. ${title}\n\n${asks}\n\n\`\`\`\n${out}\`\`\`\n`);
    }
    expect(chapters).toHaveLength(10);
    await expect([HEAD, ...chapters].join('\n')).toMatchFileSnapshot('../../functions/operator/EXPLAIN.md');
  });

  it.each(EXPLAIN_STORIES.map((story) => [story.title, story] as const))(
    'count the requests that the destination was really sent, and no others: %s',
    async (_title, { live }) => {
      const world = await live();
      const { requests, recordedSuccesses, attempts } = await explained(world);
      expect(requests.made).toBe(world.sender.sends.length);
      expect(requests.made).toBe(requests.answered + requests.unknown + requests.told + requests.underWay);
      expect(attempts.length).toBe(requests.made + requests.notSent);
      const row = await world.row(EVENT, PARTNER);
      expect(recordedSuccesses).toBe(row.status === 'delivered' ? 1 : 0);
    },
  );

  it('say of each what came of it', async () => {
    const effects = await Promise.all(EXPLAIN_STORIES.map(async ({ live }) => (await explained(await live())).effect));
    expect(effects).toEqual(['one', 'one', 'one-by-key', 'unknown', 'said', 'none', 'one', 'none', 'one', 'unknown']);
  });
});

describe('an explanation', () => {
  it.each(Object.keys(RESTING))('has an answer and a next step for a delivery that is %s', async (state) => {
    const world = openTestWorld();
    await RESTING[state]?.(world);
    const { words, next, status, requests } = await explained(world);
    expect(words.map(({ title }) => title)).toEqual(
      expect.arrayContaining(['In short', 'What happened', 'Certain', 'Next']),
    );
    for (const { lines } of words) expect(lines.length).toBeGreaterThan(0);
    const over = status === 'delivered' || status === 'cancelled';
    expect(next.kind === 'nothing').toBe(over);
    expect(next.kind === 'person').toBe(status === 'quarantined');
    expect(requests.made).toBe(world.sender.sends.length - (state.includes('closed') ? 1 : 0));
  });

  it('names who decided, why, and by which evidence', async () => {
    const story = EXPLAIN_STORIES.find(({ title }) => title === 'Resolved by a person');
    if (story === undefined) throw new Error('no such story');
    const { acts } = await explained(await story.live());
    expect(acts).toEqual([
      expect.objectContaining({
        what: 'resolved-delivered',
        actor: 'holder-of-decide',
        reason: 'customer 4711 called',
        evidence: 'receipt 4711 in their books',
        decision: 'resolve-1',
      }),
    ]);
  });

  it('never calls it certain that nothing happened where a request is without an answer', async () => {
    for (const { live } of EXPLAIN_STORIES) {
      const { requests, effect, mayHaveArrived, words, status } = await explained(await live());
      const unsure = words.some(({ title }) => title === 'Not certain');
      if (requests.unknown + requests.underWay > 0) expect(unsure).toBe(true);
      expect(mayHaveArrived).toBe(requests.unknown > 0 && status !== 'delivered');
      if (effect === 'one' || effect === 'none') expect(requests.unknown).toBe(0);
    }
  });

  it('speaks of one request as of one', async () => {
    const world = await opened(openTestWorld());
    world.sender.script(answered(500));
    await world.deliver(EVENT, PARTNER);
    const { out } = await ran(world, ['delivery', 'explain', EVENT, PARTNER]);
    expect(out).toContain('One request, and it was no success: no effect');
  });

  it('of what does not exist is a 404', async () => {
    const world = openTestWorld();
    const done = await ran(world, ['delivery', 'explain', 'nothing', 'nowhere']);
    expect(done).toMatchObject({ exit: 1, err: expect.stringContaining('not-found') });
  });
});

/** Killed behind its claim and before the mark: not a byte has left. */
const killedBeforeTheMark = async (world: TestWorld): Promise<void> => {
  const reached = Promise.withResolvers<void>();
  let replaced = 0;
  world.ledgerHooks.before = ({ kind, ref }) => {
    if (kind !== 'replace' || ref?.item !== 'delivery') return;
    replaced += 1;
    if (replaced === 1) return;
    reached.resolve();
    return new Promise<never>(() => {});
  };
  world.deliver(EVENT, PARTNER).catch(() => {});
  await reached.promise;
  delete world.ledgerHooks.before;
};

describe('of a worker that may never come back, an explanation says what becomes of its delivery, and it does', () => {
  it.each<
    [what: string, settings: object, kill: typeof killedWhileSending, ifLost: string, says: RegExp, then: object]
  >([
    [
      'a repeat is safe',
      {},
      killedWhileSending,
      'again',
      /another takes over after .*Z\.$/,
      { status: 'delivered', attempts: 2 },
    ],
    [
      'a repeat is not safe, and the request may have left',
      { repeatSafe: false },
      killedWhileSending,
      'held',
      /nobody takes over: .* held for a person \(in-doubt\)\.$/,
      { status: 'quarantined', reason: 'in-doubt', attempts: 1 },
    ],
    [
      'a repeat is not safe, and nothing has left',
      { repeatSafe: false },
      killedBeforeTheMark,
      'again-unsent',
      /nothing has left yet; .* another takes over after/,
      { status: 'delivered', attempts: 2 },
    ],
    [
      'a repeat is safe, and the budget is spent',
      { schedule: [] },
      killedWhileSending,
      'held',
      /nobody takes over/,
      { status: 'quarantined', reason: 'in-doubt', attempts: 1 },
    ],
  ])('%s', async (_what, settings, kill, ifLost, says, then) => {
    const world = await opened(openTestWorld(), { ...settings });
    await kill(world);
    const alive = await explained(world);
    expect(alive.next).toMatchObject({ kind: 'under-way', ifLost });
    expect(alive.words.at(-1)?.lines.join(' ')).toMatch(says);
    await world.clock.advance(60_000);
    const lost = await explained(world);
    expect(lost.next).toMatchObject({ kind: 'worker-lost', ifLost });
    expect(lost.words.at(-1)?.lines.join(' ')).toMatch(ifLost === 'held' ? /held for a person/ : /and goes on\.$/);
    await world.deliver(EVENT, PARTNER, { messageId: 'again' });
    expect(await world.row(EVENT, PARTNER)).toMatchObject(then);
  });
});
