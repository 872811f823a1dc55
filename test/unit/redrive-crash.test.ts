/** A worker dies at any call of any turn; the run goes on with its message, and every message ends as if nothing had been. */
import { describe, expect, it } from 'vitest';
import { outgoingKey } from '../../functions/core/keys.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { type Mortal, mortal, pumpThrough, reshapedFor } from '../support/redrive-crash.ts';
import { openRedriveWorld, type RedriveWorld, type ShownOperation } from '../support/redrive-world.ts';
import { destinationId, eventId } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

const LETTERS = ['delivered', 'waiting-1', 'waiting-2', 'spent', 'turned-down'] as const;

/** One letter of each sort that is acted on in a way of its own, and one that is left. */
const deadLetterWorld = async (worker: Mortal): Promise<RedriveWorld> => {
  const redrives = openRedriveWorld({ reshape: reshapedFor(worker) });
  const { world, dead } = redrives;
  await world.destination('partner', { acceptFromQueue: true, schedule: [] });
  for (const event of LETTERS) await redrives.deadLetter(event);
  await world.deliver('delivered', 'partner');
  world.sender.script(answered(500));
  await world.deliver('spent', 'partner');
  // Held after its redrive: the same operation must not take it out of the quarantine again.
  const key = outgoingKey(eventId('turned-down'), destinationId('partner'));
  world.sender.always(async ({ headers }) => answered(headers['webhook-id'] === key ? 422 : 200));
  const event = { id: 'whole', payload: 1, destinations: ['partner'] };
  dead.add('m-whole', { kind: 'event', format: 1, event });
  dead.add('m-broken', { kind: 'deliver', format: 1, event: 7 });
  dead.add('m-strange', { order: 17 });
  return redrives;
};

const heldWorld = async (worker: Mortal): Promise<RedriveWorld> => {
  const redrives = openRedriveWorld({ reshape: reshapedFor(worker) });
  const { world } = redrives;
  await world.destination('partner');
  for (const event of ['held-1', 'held-2', 'held-3']) {
    await world.accepted(event, 'partner');
    world.sender.script(answered(422));
    await world.run(0);
  }
  return redrives;
};

interface Ran {
  readonly report: ShownOperation;
  readonly redrives: RedriveWorld;
  readonly worker: Mortal;
}

const runThrough = async (
  make: (worker: Mortal) => Promise<RedriveWorld>,
  source: 'dead-letters' | 'quarantine',
  worker: Mortal,
): Promise<Ran> => {
  const redrives = await make(worker);
  const { operation } = await redrives.plan({ source, stopAbove: 1 });
  await redrives.run(operation);
  await pumpThrough(redrives.world, worker, 600_000);
  return { report: await redrives.show(operation), redrives, worker };
};

const endsOf = ({ report }: Ran) =>
  report.messages.map(({ messageId, event, finding, result }) => [messageId ?? event, finding, result]);

const sendsOf = ({ redrives }: Ran): readonly string[] =>
  redrives.world.sender.sends.map(({ headers }) => headers['webhook-id'] ?? '').toSorted();

const twiceIn = (all: readonly string[]): readonly string[] => all.filter((one, at) => all.indexOf(one) !== at);

describe.each([
  ['dead-letters', deadLetterWorld],
  ['quarantine', heldWorld],
] as const)('a run over %s whose worker dies', (source, make) => {
  it.each(['before', 'after'] as const)(
    'at any call, %s its effect: each message has one finding and one result',
    async (when) => {
      const alive = await runThrough(make, source, mortal(undefined, when));
      expect(alive.report).toMatchObject({ state: 'done', progress: { waiting: 0, open: 0 } });
      const calls = alive.worker.calls;
      expect(calls).toBeGreaterThan(15);
      for (let diesAt = 1; diesAt <= calls; diesAt += 1) {
        const ran = await runThrough(make, source, mortal(diesAt, when));
        const told = `died ${when} call ${diesAt} of ${calls}`;
        expect(ran.worker.calls, told).toBeGreaterThan(diesAt);
        expect([ran.report.state, ran.report.progress['waiting']], told).toEqual(['done', 0]);
        expect(endsOf(ran), told).toEqual(endsOf(alive));
        expect(sendsOf(ran), told).toEqual(sendsOf(alive));
        expect(twiceIn(ran.redrives.dead.done), told).toEqual([]);
        expect(ran.redrives.dead.ids(), told).toEqual(alive.redrives.dead.ids());
      }
    },
  );
});

describe('a plan that is cut off', () => {
  it('at any request to the ledger is completed by the same request: each letter stands in it once', async () => {
    const planOnce = async (cutAt: number | undefined, when: 'before' | 'after') => {
      const redrives = await deadLetterWorld(mortal(undefined, 'before'));
      let requests = 0;
      const cut = (): void => {
        requests += 1;
        if (requests === cutAt) throw new PortUnavailable('ledger', 'cut off');
      };
      redrives.world.ledgerHooks[when] = cut;
      const first = await redrives.planAnswer({}, 'plan-1');
      const asked = requests;
      redrives.world.ledgerHooks[when] = () => undefined;
      return { first, asked, plan: await redrives.plan({}, 'plan-1') };
    };
    const whole = await planOnce(undefined, 'before');
    const findings = (plan: ShownOperation) =>
      plan.messages.map(({ messageId, finding }) => `${messageId} ${finding}`).toSorted();
    expect(whole.plan.messages).toHaveLength(8);
    for (const when of ['before', 'after'] as const) {
      for (let cutAt = 1; cutAt <= whole.asked; cutAt += 1) {
        const { first, plan } = await planOnce(cutAt, when);
        const told = `cut ${when} request ${cutAt} of ${whole.asked}`;
        expect(plan.state, told).toBe('planned');
        expect(twiceIn(findings(plan)), told).toEqual([]);
        // What the first try had read and not stored is leased, and the counts say so.
        const complete = findings(plan).length === findings(whole.plan).length;
        expect(complete || plan.contradiction !== undefined, told).toBe(true);
        expect([201, 200, 503], told).toContain(first.status);
      }
    }
  });

  it('by nothing but its own twin is one plan: each letter once, and no more than its limit', async () => {
    const redrives = openRedriveWorld({ leaseMs: 0 });
    await redrives.world.destination('partner');
    for (let n = 1; n <= 12; n += 1) await redrives.deadLetter(`e-${n}`);
    const [one, other] = await Promise.all([
      redrives.planAnswer({ limit: 10 }, 'plan-1'),
      redrives.planAnswer({ limit: 10 }, 'plan-1'),
    ]);
    expect([one.status, other.status].every((status) => status < 300)).toBe(true);
    const plan = await redrives.plan({ limit: 10 }, 'plan-1');
    expect(plan.planned).toBeLessThanOrEqual(10);
    expect(twiceIn(plan.messages.map(({ messageId }) => messageId ?? ''))).toEqual([]);
    expect(plan.found).toEqual({ redrive: plan.planned });
  });
});
