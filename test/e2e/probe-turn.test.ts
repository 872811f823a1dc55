/** Whoever can make no attempt takes no probe, so that a destination which is well again is found so by who can. */
import { describe, expect, it } from 'vitest';
import { HORIZON_MS, PROBE_EVERY_MS, TICK_MS } from '../../functions/core/limits.ts';
import { breakerOpens, type Flow, openFlow, runUntil, sendTimes, statuses } from '../support/flow.ts';
import { inShard, ofLaterFormat, spoil } from '../support/late-rows.ts';
import { eventId } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';

const PARTNER = 'partner';
const MINUTE_MS = 60_000;
const SCHEDULE = { schedule: [600, 600, 600] };

/** One attempt of each is unanswered; since then a repeat is not safe there any more, so that none can be made. */
const inDoubtFlow = async (old: readonly string[], fresh: readonly string[]) => {
  const flow = openFlow({ workers: 4 });
  await flow.destination(PARTNER, SCHEDULE);
  flow.world.sender.always(unanswered('timeout'));
  await flow.accept(PARTNER, old);
  await flow.run(30_000);
  const probeAtMs = await breakerOpens(flow, PARTNER, 20 * MINUTE_MS);
  await flow.run(13 * MINUTE_MS);
  expect(await statuses(flow, old, PARTNER)).toEqual({ parked: old.length });
  await flow.destination(PARTNER, { ...SCHEDULE, repeatSafe: false });
  flow.world.sender.always(answered(200));
  await flow.accept(PARTNER, fresh);
  await flow.run(1_000);
  expect(await statuses(flow, fresh, PARTNER)).toEqual({ parked: fresh.length });
  return { flow, probeAtMs };
};

const brokenEvent = (flow: Flow, event: string) =>
  spoil(flow, { item: 'event', event: eventId(event) }, (record) => ({ ...record, v: { S: 'x' } }));

interface Unsent {
  readonly what: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly waitMs?: number;
  readonly spoils?: (flow: Flow, event: string) => unknown;
  readonly note: string;
}

describe('a delivery that is met when the next probe may go', () => {
  it.each<Unsent>([
    { what: 'whose key is over', settings: { keyLifeHours: 0.7 }, waitMs: 42 * MINUTE_MS, note: 'quarantined' },
    { what: 'in doubt', settings: { repeatSafe: false }, note: 'quarantined' },
    { what: 'behind its horizon', settings: { keyLifeHours: null }, waitMs: HORIZON_MS, note: 'quarantined' },
    {
      what: 'whose payload was changed',
      spoils: (flow, event) =>
        spoil(flow, { item: 'event', event: eventId(event) }, (record) => ({ ...record, pay: { B: BYTES } })),
      note: 'quarantined',
    },
    {
      what: 'whose event is of a later format',
      spoils: (flow, event) => spoil(flow, { item: 'event', event: eventId(event) }, ofLaterFormat),
      note: 'row-of-later-format',
    },
    { what: 'whose event is broken', spoils: brokenEvent, note: 'ledger-corrupt' },
  ])('leaves the probe to another where it is one $what', async ({ settings = {}, waitMs = 0, spoils, note }) => {
    const flow = openFlow({ workers: 4 });
    await flow.destination(PARTNER, SCHEDULE);
    flow.world.sender.always(unanswered('timeout'));
    const [old = ''] = await flow.accept(PARTNER, 1, { prefix: 'old-' });
    await flow.run(30_000);
    await breakerOpens(flow, PARTNER, 2 * HORIZON_MS);
    await flow.run(13 * MINUTE_MS + waitMs);
    await flow.destination(PARTNER, { ...SCHEDULE, ...settings });
    const probeAtMs = await breakerOpens(flow, PARTNER);
    const [fresh = ''] = await flow.accept(PARTNER, 1, { prefix: 'fresh-' });
    await runUntil(flow, probeAtMs);
    spoils?.(flow, old);
    flow.world.sender.always(answered(200));
    const sent = sendTimes(flow).length;
    expect((await flow.world.deliver(old, PARTNER)).text).toContain(note);
    expect((await flow.gate(PARTNER))?.pause?.probeAtMs).toBe(probeAtMs);
    expect(sendTimes(flow)).toHaveLength(sent);
    await flow.world.deliver(fresh, PARTNER);
    expect((await flow.world.row(fresh, PARTNER)).status).toBe('delivered');
    expect(sendTimes(flow)).toHaveLength(sent + 1);
  });

  it('is not sent past the closed gate where a person gives it new attempts behind the look that ended it', async () => {
    const { flow, probeAtMs } = await inDoubtFlow(['old-0'], ['fresh-0']);
    await runUntil(flow, probeAtMs);
    const sent = sendTimes(flow).length;
    const { ledger } = flow.world.ports;
    const { replace } = ledger;
    Object.assign(ledger, {
      replace: async (...write: Parameters<typeof replace>) => {
        ledger.replace = replace;
        expect((await flow.world.deliver('old-0', PARTNER)).text).toContain('quarantined');
        const redriven = await flow.world.call('operator', 'POST', `/v1/events/old-0/deliveries/${PARTNER}/redrive`, {
          token: flow.world.token('resend'),
          body: { reason: 'they have looked', acceptSecondEffect: true },
          headers: { 'idempotency-key': 'again-1' },
        });
        expect(redriven.status).toBeLessThan(300);
        return replace(...write);
      },
    });
    expect((await flow.world.deliver('old-0', PARTNER)).body).toEqual({ verdict: 'ack', note: 'waiting' });
    expect(sendTimes(flow)).toHaveLength(sent);
    const row = await flow.world.row('old-0', PARTNER);
    expect([row.status, row.attempts, (await flow.gate(PARTNER))?.pause?.probeAtMs]).toEqual(['pending', 1, probeAtMs]);
  });
});

describe('a destination that is well again', () => {
  it('is found so at the next probe, with deliveries before in the same shard that can make no attempt', async () => {
    const old = inShard(2, 30, 'a-');
    const fresh = inShard(2, 3, 'b-');
    const { flow, probeAtMs } = await inDoubtFlow(old, fresh);
    flow.startTicks();
    await runUntil(flow, probeAtMs + 2 * TICK_MS);
    expect(await statuses(flow, fresh, PARTNER)).toEqual({ delivered: 3 });
    expect(await statuses(flow, old, PARTNER)).toEqual({ quarantined: 30 });
  });

  it('is found so by the second probe at the latest, where the first row of the shard has a broken event', async () => {
    const flow = openFlow({ workers: 4 });
    await flow.destination(PARTNER);
    const probeAtMs = await breakerOpens(flow, PARTNER);
    const [broken = '', ...others] = inShard(2, 4, 'e-');
    for (const events of [[broken], others]) {
      await flow.accept(PARTNER, events);
      await flow.run(1_000);
    }
    brokenEvent(flow, broken);
    flow.startTicks();
    await runUntil(flow, probeAtMs + PROBE_EVERY_MS + 2 * TICK_MS);
    expect(await statuses(flow, others, PARTNER)).toEqual({ delivered: 3 });
  });
});

const BYTES = new TextEncoder().encode('{"paid":false}');
