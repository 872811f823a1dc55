/** The lease of a shard: it holds rivals off, and never the page, the message or the run that goes on with the pass. */
import { describe, expect, it } from 'vitest';
import { SKEW_MARGIN_MS, TICK_MS } from '../../functions/core/limits.ts';
import { sweepBody } from '../../functions/core/message.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { tick } from '../../functions/reconciler/tick.ts';
import { type Flow, pushByHand, statuses } from '../support/flow.ts';
import {
  beatOf,
  deliversOf,
  lateInShard,
  MINUTE_MS,
  openedFlow,
  PARTNER,
  slowLedger,
  sweepNow,
  sweepsOf,
} from '../support/late-rows.ts';
import { losingAnswers } from '../support/lost-answers.ts';

const SHARD = 2;

const answersOf = (flow: Flow) =>
  sweepsOf(flow)
    .map(({ message, said }) => ({ ...JSON.parse(message.body), said }))
    .filter(({ shard }) => shard === SHARD)
    .map(({ page, said }) => `${page} ${said}`);

/** Reads of the index fail, this often. */
const failingFlow = async (failures: number) => {
  const left = { reads: failures, ends: 0 };
  const failing = async <T>(kind: keyof typeof left, why: string, call: () => Promise<T>): Promise<T> => {
    if (left[kind] === 0) return call();
    left[kind] -= 1;
    throw new PortUnavailable('ledger', why);
  };
  const flow = await openedFlow({
    reshape: (ports) => ({
      ...ports,
      pages: {
        ...ports.pages,
        due: async (...given) =>
          given[0] === SHARD
            ? failing('reads', 'throttled', () => ports.pages.due(...given))
            : ports.pages.due(...given),
      },
      ledger: {
        ...ports.ledger,
        replace: (read, next) =>
          next.item === 'heartbeat'
            ? failing('ends', 'away as well', () => ports.ledger.replace(read, next))
            : ports.ledger.replace(read, next),
      },
    }),
  });
  return { flow, left };
};

describe('a pass that goes on in pages', () => {
  it('goes on where the next page meets a clock that is behind by the whole margin', async () => {
    const lag = { ms: 0 };
    const flow = await openedFlow({
      // Enough that a page is pushed as soon as it is published.
      workers: 100,
      reshape: (ports) => ({ ...ports, clock: { ...ports.clock, nowMs: () => ports.clock.nowMs() - lag.ms } }),
    });
    const events = await lateInShard(flow, SHARD, 100);
    slowLedger(flow, 1_000);
    flow.queue.loses = ({ kind, body }) => {
      if (kind === 'sweep' && JSON.parse(body).page > 0) lag.ms = SKEW_MARGIN_MS;
      return false;
    };
    await tick(flow.world.ports, TICK_MS);
    await flow.run(2 * MINUTE_MS);
    delete flow.world.ledgerHooks.before;
    expect(answersOf(flow)).toEqual(['0 ack:swept', '1 ack:swept']);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 100 });
  });
});

describe('a client that loses every answer to a write once', () => {
  const lossyFlow = () => openedFlow({ reshape: (ports) => ({ ...ports, ledger: losingAnswers(ports.ledger) }) });

  it('costs no tick: the lease is known as its own, the first of a shard and any later one', async () => {
    const flow = await lossyFlow();
    for (let ticks = 0; ticks < 2; ticks += 1)
      expect(await sweepNow(flow, SHARD)).toEqual({ kind: 'ack', note: 'swept' });
    expect((await beatOf(flow, SHARD)).version).toBe(4);
  });

  it('lets one of two pushes of one message have the shard, and not both', async () => {
    const flow = await lossyFlow();
    await lateInShard(flow, SHARD, 10);
    slowLedger(flow, 300);
    const twice = ['one', 'other'].map((run) => pushByHand(flow, sweepBody(SHARD, 1, 0), flow.world.ports, run));
    await flow.run(30_000);
    delete flow.world.ledgerHooks.before;
    expect((await Promise.all(twice)).map((verdict) => 'note' in verdict && verdict.note).sort()).toEqual([
      'busy',
      'swept',
    ]);
    expect(deliversOf(flow)).toHaveLength(10);
  });
});

describe('a pass that fails', () => {
  it('leaves its shard free: its own message, which comes again, sweeps it before the next tick', async () => {
    const { flow } = await failingFlow(1);
    const events = await lateInShard(flow, SHARD, 10);
    await tick(flow.world.ports, TICK_MS);
    await flow.run(TICK_MS / 2);
    expect(answersOf(flow)).toEqual(['0 later:ledger-unavailable', '0 ack:swept']);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 10 });
  });

  it('does not say that the shard was passed over', async () => {
    const { flow, left } = await failingFlow(0);
    await sweepNow(flow, SHARD);
    const { passAtMs } = await beatOf(flow, SHARD);
    await flow.run(MINUTE_MS);
    left.reads = 1;
    await sweepNow(flow, SHARD);
    expect(await beatOf(flow, SHARD)).toMatchObject({ passAtMs, leaseEndsAtMs: 0 });
  });

  it('tells its own failure where its lease cannot be ended either, and that one ends by itself', async () => {
    const { flow, left } = await failingFlow(1);
    left.ends = 1;
    expect(await sweepNow(flow, SHARD)).toMatchObject({ kind: 'later', code: 'ledger-unavailable' });
    const told = flow.world.telemetry.lines.filter(({ fields }) => fields['detail'] !== undefined);
    expect(told.map(({ name, fields }) => `${name}: ${fields['detail']}`)).toEqual([
      'sweep.not-abandoned: away as well',
      'push.later: throttled',
    ]);
    expect(await sweepNow(flow, SHARD)).toEqual({ kind: 'ack', note: 'busy' });
    await flow.run(TICK_MS);
    expect(await sweepNow(flow, SHARD)).toEqual({ kind: 'ack', note: 'swept' });
  });
});
