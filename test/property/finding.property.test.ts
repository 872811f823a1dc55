/**
 * Over any history of a delivery, whatever its destination's settings have become since: a plan promises a redrive only
 * where the next attempt would really be made, and misses none.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Context, findInQuarantine, findInRow } from '../../functions/core/finding.ts';
import type { GateView } from '../../functions/core/gate.ts';
import type { Rules } from '../../functions/core/inputs.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { phaseOf } from '../../functions/core/phase.ts';
import {
  DAY_MS,
  destinationOf,
  HOUR_MS,
  MINUTE_MS,
  play,
  type Scene,
  SECOND_MS,
  type Step,
  sceneOf,
  settle,
} from '../support/machine.ts';

const rules: fc.Arbitrary<Rules> = fc.record({
  repeatSafe: fc.boolean(),
  keyLifeHours: fc.constantFrom(null, 0.01, 1, 24),
  scheduleSec: fc.constantFrom([], [0], [5, 30], [5, 30, 300, 1_800]),
  timeoutMs: fc.constantFrom(1_000, 20_000),
  mode: fc.constantFrom('live' as const, 'live' as const, 'shadow' as const),
});

const CLASSES = ['delivered', 'throttled', 'failed', 'failed', 'rejected', 'gone', 'not-sent', 'in-doubt'] as const;

/** A worker that is given its claim may mark, settle in time, or die. */
const attempt: fc.Arbitrary<readonly Step[]> = fc
  .tuple(fc.uuid(), fc.boolean(), fc.option(fc.constantFrom(...CLASSES), { nil: undefined }))
  .map(([id, marks, outcome]) => {
    const by = id.slice(0, 8);
    const steps: Step[] = [{ do: 'claim', by }];
    if (marks) steps.push({ do: 'mark', by });
    if (outcome !== undefined) steps.push(settle(by, outcome));
    return steps;
  });

const wait = fc
  .constantFrom(
    SECOND_MS,
    10 * SECOND_MS,
    40 * SECOND_MS,
    10 * MINUTE_MS,
    HOUR_MS,
    12 * HOUR_MS,
    3 * DAY_MS,
    8 * DAY_MS,
  )
  .map((ms): readonly Step[] => [{ do: 'wait', ms }]);

const person = fc
  .record({ request: fc.constantFrom('r-1', 'r-2', 'r-3'), accept: fc.boolean(), grant: fc.nat(2) })
  .map((over): readonly Step[] => [{ do: 'redrive', ...over }]);

const other = fc.constantFrom<readonly Step[]>(
  [{ do: 'park', reason: 'paused' }],
  [{ do: 'defer', reason: 'rate', ms: 4_000 }],
  [{ do: 'cancel', request: 'r-9' }],
  [{ do: 'refuse', reason: 'no-destination' }],
  [{ do: 'resolve', request: 'r-8', as: 'not-delivered' }],
);

const history = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: attempt },
      { weight: 5, arbitrary: wait },
      { weight: 2, arbitrary: person },
      { weight: 1, arbitrary: other },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.flat());

interface Case {
  readonly scene: Scene;
  /** As the destination's settings are now. */
  readonly now: Rules;
  readonly context: Context;
}

const caseOf = (shut: boolean) =>
  fc
    .tuple(rules, fc.option(rules, { nil: undefined }), history, fc.boolean())
    .map(([then, changed, steps, accepts]): Case => {
      const scene = play(steps, sceneOf({ rules: then }));
      const now = changed ?? then;
      const config = destinationOf(now);
      const gate: GateView = shut
        ? { kind: 'park', config, reason: 'paused', opensAtMs: undefined, probeOnly: false }
        : { kind: 'open', config, line: config.version, places: undefined, failing: false };
      return { scene, now, context: { nowMs: scene.nowMs, acceptSecondEffect: accepts, gate } };
    });

const spentOf = ({ attempts, refunds }: Delivery): number => attempts - refunds;

/** A request that went out under a key that nobody honours, and that has no answer. */
const isUnsafe = (row: Delivery): boolean =>
  row.doubt === 'unsafe' || (row.status === 'claimed' && !row.claim.repeatSafe && row.claim.sendingAtMs !== undefined);

/** What the next push would come to. */
const claimedBy = ({ scene, now }: Pick<Case, 'scene' | 'now'>): Delivery =>
  play([{ do: 'claim', by: 'next', rules: now }], scene).row;

const isSent = (row: Delivery): boolean =>
  (row.status === 'claimed' && row.claim.holder === 'next') || (row.status === 'cancelled' && row.reason === 'shadow');

describe('a plan over dead letters', () => {
  it('never redrives what was delivered, cancelled, is under way, over its budget, or in an unsafe doubt', () => {
    fc.assert(
      fc.property(caseOf(false), ({ scene: { row, nowMs }, context }) => {
        const finding = findInRow(row, context);
        if (finding.kind !== 'redrive') return;
        expect(['pending', 'claimed', 'quarantined']).toContain(row.status);
        expect(phaseOf(row, nowMs)).not.toBe('live');
        // A dead worker's last attempt that never left gives its unit back.
        const back = row.status === 'claimed' && !row.claim.repeatSafe && row.claim.sendingAtMs === undefined ? 1 : 0;
        expect(spentOf(row) - back).toBeLessThan(row.budget);
        if (isUnsafe(row)) expect([row.status, context.acceptSecondEffect]).toEqual(['quarantined', true]);
      }),
      { numRuns: 600 },
    );
  });

  it('redrives exactly the open deliveries whose next attempt would be made now', () => {
    fc.assert(
      fc.property(caseOf(false), (given) => {
        const { row, nowMs } = given.scene;
        if (!['due', 'lapsed', 'parked'].includes(phaseOf(row, nowMs))) return;
        expect(findInRow(row, given.context).kind === 'redrive').toBe(isSent(claimedBy(given)));
      }),
      { numRuns: 600 },
    );
  });

  it('redrives nothing at a paused destination', () => {
    fc.assert(
      fc.property(caseOf(true), ({ scene, context }) => {
        expect(findInRow(scene.row, context).kind).not.toBe('redrive');
        expect(findInQuarantine(scene.row, context).kind).not.toBe('redrive');
      }),
      { numRuns: 200 },
    );
  });
});

describe('a plan over the quarantine', () => {
  it('redrives exactly the held deliveries that the machine would let go, and that would then be sent', () => {
    fc.assert(
      fc.property(caseOf(false), (given) => {
        const { scene, now, context } = given;
        if (scene.row.status !== 'quarantined') return;
        const asked = play([{ do: 'redrive', request: 'the-plan', accept: context.acceptSecondEffect }], scene);
        const goes = asked.row.status === 'pending' && isSent(claimedBy({ scene: asked, now }));
        expect(findInQuarantine(scene.row, context).kind === 'redrive').toBe(goes);
      }),
      { numRuns: 600 },
    );
  });

  it('can fail: without its look at the machine it would promise what a claim refuses', () => {
    const late = play([{ do: 'claim', by: 'a' }, settle('a', 'rejected'), { do: 'wait', ms: 25 * HOUR_MS }]);
    const now = late.rules;
    const asked = play([{ do: 'redrive', request: 'the-plan' }], late);
    expect(asked.row.status).toBe('pending');
    expect(isSent(claimedBy({ scene: asked, now }))).toBe(false);
  });
});
