import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  OPERATION_RETRIES,
  type RetryBounds,
  type Tried,
  waitAfter,
  withRetries,
} from '../../functions/adapters/queue/transport-retries.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

interface Try {
  readonly atMs: number;
  readonly tryMs: number;
}

interface Script {
  /** What the tries come to, in turn; the last one over and over. */
  readonly answers: readonly Tried<string>[];
  readonly draw?: number;
  /** How long each try takes. */
  readonly takesMs?: number;
  readonly bounds?: RetryBounds;
}

/** Runs on a virtual clock until there is a result. Times count from the start. */
const run = async ({ answers, draw = 0.5, takesMs = 0, bounds = OPERATION_RETRIES }: Script) => {
  const clock = new VirtualClock();
  const startMs = clock.nowMs();
  const tries: Try[] = [];
  const work = withRetries({ clock, dice: { draw: () => draw } }, bounds, startMs + bounds.totalMs, async (tryMs) => {
    tries.push({ atMs: clock.nowMs() - startMs, tryMs });
    await clock.sleep(Math.min(takesMs, tryMs));
    const answer = answers[Math.min(tries.length, answers.length) - 1];
    if (answer === undefined) throw new TypeError('no answers');
    return answer;
  });
  let over = false;
  const ended = work.finally(() => {
    over = true;
  });
  while (!over) await clock.advance(1);
  return { result: await ended, tries, tookMs: clock.nowMs() - startMs };
};

const again = (result: string, retryAfterMs?: number): Tried<string> => ({
  kind: 'again',
  result,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const final = (result: string): Tried<string> => ({ kind: 'final', result });

describe('retries of our own calls', () => {
  it('are not needed for an answer, whatever it says', async () => {
    const { result, tries } = await run({ answers: [final('no credit')] });
    expect(result).toBe('no credit');
    expect(tries).toEqual([{ atMs: 0, tryMs: 15_000 }]);
  });

  it('go on until there is one', async () => {
    const { result, tries } = await run({ answers: [again('503'), again('503'), final('ok')] });
    expect(result).toBe('ok');
    expect(tries.map(({ atMs }) => atMs)).toEqual([0, 500, 1_500]);
  });

  it('end after five tries, with what the last one said', async () => {
    const answers = [1, 2, 3, 4, 5, 6].map((nth) => again(`refused ${nth}`));
    const { result, tries } = await run({ answers, draw: 0.999 });
    expect(result).toBe('refused 5');
    expect(tries.map(({ atMs }) => atMs)).toEqual([0, 999, 2_997, 6_993, 14_985]);
  });

  it('end within 45 s in all, however long each try hangs: the last one gets what is left', async () => {
    const { result, tries, tookMs } = await run({ answers: [again('hangs')], takesMs: 60_000, draw: 0.5 });
    expect(result).toBe('hangs');
    expect(tries).toEqual([
      { atMs: 0, tryMs: 15_000 },
      { atMs: 15_500, tryMs: 15_000 },
      { atMs: 31_500, tryMs: 13_500 },
    ]);
    expect(tookMs).toBeLessThanOrEqual(45_001);
  });

  it('wait as long as Retry-After asks for, and not a moment less', async () => {
    const { tries } = await run({ answers: [again('429', 7_000), again('429', 0), final('ok')], draw: 0.5 });
    expect(tries.map(({ atMs }) => atMs)).toEqual([0, 7_000, 8_000]);
  });

  it('do not wait for a try that could only begin too late: the refusal is told at once', async () => {
    for (const asked of [45_000, 86_400_000, Number.MAX_SAFE_INTEGER]) {
      const { result, tries, tookMs } = await run({ answers: [again('429', asked), final('ok')] });
      expect(result).toBe('429');
      expect(tries).toHaveLength(1);
      expect(tookMs).toBeLessThanOrEqual(1);
    }
    expect((await run({ answers: [again('429', 44_999), final('ok')] })).result).toBe('ok');
  });

  it('keep to the bounds that they are given', async () => {
    const bounds = { triesMax: 2, tryMs: 1_000, totalMs: 3_000 };
    const { tries } = await run({ answers: [again('hangs')], takesMs: 5_000, draw: 0, bounds });
    expect(tries).toEqual([
      { atMs: 0, tryMs: 1_000 },
      { atMs: 1_000, tryMs: 1_000 },
    ]);
  });

  it('always give a try some time, also where the clock has run past the end', async () => {
    const bounds = { ...OPERATION_RETRIES, totalMs: 0 };
    expect((await run({ answers: [again('late')], bounds })).tries).toEqual([{ atMs: 0, tryMs: 1 }]);
  });

  it('always keep all bounds, for any answers, draws and times', async () => {
    const wait = fc.option(fc.nat(20_000), { nil: undefined });
    const answer = fc.oneof(
      wait.map((ms) => again('again', ms)),
      wait.map((ms) => again('again', ms)),
      fc.constant(final('end')),
    );
    const bounds = fc.record({
      triesMax: fc.integer({ min: 1, max: 6 }),
      tryMs: fc.integer({ min: 1, max: 60 }),
      totalMs: fc.integer({ min: 1, max: 200 }),
    });
    const script = fc.record({
      answers: fc.array(answer, { minLength: 1, maxLength: 6 }),
      draw: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      takesMs: fc.nat(80),
      bounds,
    });
    await fc.assert(
      fc.asyncProperty(script, async (given) => {
        const { tries, tookMs, result } = await run(given);
        expect(tries.length).toBeLessThanOrEqual(given.bounds.triesMax);
        expect(tookMs).toBeLessThanOrEqual(given.bounds.totalMs + 1);
        for (const { tryMs } of tries) expect(tryMs).toBeLessThanOrEqual(given.bounds.tryMs);
        expect(result).toBe(given.answers[Math.min(tries.length, given.answers.length) - 1]?.result);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the wait between two tries', () => {
  it('is drawn from nothing to a doubling bound, so that many who failed together come apart', () => {
    const longest = [1, 2, 3, 4, 5, 50].map((tries) => waitAfter(tries, 0.999_999_9));
    expect(longest).toEqual([999, 1_999, 3_999, 7_999, 7_999, 7_999]);
    expect([1, 2, 3, 4].map((tries) => waitAfter(tries, 0))).toEqual([0, 0, 0, 0]);
  });

  it('is never shorter than what was asked for, and never over 8 s of our own', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.nat(100_000),
        (tries, draw, asked) => {
          const waitMs = waitAfter(tries, draw, asked);
          expect(waitMs).toBeGreaterThanOrEqual(asked);
          expect(waitMs).toBeLessThanOrEqual(Math.max(asked, 8_000));
          expect(Number.isSafeInteger(waitMs)).toBe(true);
        },
      ),
    );
  });
});
