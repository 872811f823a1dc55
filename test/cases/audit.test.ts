/** Real failures around what operators do: it must reach the worker, be on record, and never show a secret. */

import { describe, expect, it } from 'vitest';
import { createInfraiPush } from '../../functions/adapters/queue/infrai/push.ts';
import { parseSecret, signatureHeaders } from '../../functions/core/signature.ts';
import { CALLS, decideBy, decisionOf, isDecided } from '../support/decisions.ts';
import { destinationId, openTestWorld, PUSH_SECRET, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER, RESTING } from '../support/world-states.ts';

const inState = async (state: string): Promise<TestWorld> => {
  const world = openTestWorld();
  await RESTING[state]?.(world);
  return world;
};

const get = (world: TestWorld, path: string) => world.call('operator', 'GET', path, { token: world.token('admin') });

describe('an operator who redrives', () => {
  it('has the message on the one queue that workers read, and the attempt it led to on record [C027]', async () => {
    const world = await inState('quarantined as rejected');
    world.queue.loseAll();
    const before = world.queue.published.length;
    await decideBy(world, CALLS.redrive, 'forced');
    const [message, ...others] = world.queue.published.slice(before);
    expect(others).toEqual([]);
    expect(JSON.parse(message?.body ?? '')).toEqual({ kind: 'deliver', format: 1, event: EVENT, destination: PARTNER });
    expect(message?.delaySec).toBe(0);
    const startedAtMs = world.clock.nowMs();
    await world.run(5_000);
    const row = await world.row(EVENT, PARTNER);
    const entries = row.journal.lines.map(({ entry }) => entry);
    const redriven = entries.findIndex(({ kind }) => kind === 'redriven');
    expect(entries[redriven]).toMatchObject({ cause: 'a:forced' });
    expect(entries[redriven + 1]).toMatchObject({ kind: 'claimed', attempt: 2, cause: `p:${message?.messageId}` });
    expect(entries[redriven + 2]).toMatchObject({ kind: 'outcome', attempt: 2, class: 'delivered' });
    expect(entries[redriven + 2]?.atMs).toBeLessThanOrEqual(startedAtMs + 5_000);
  });

  it('sends under the same key, signed with the current and the previous secret; the actor is on record, the count of failures is as it was [C176]', async () => {
    const world = openTestWorld();
    const [old, fresh] = ['a', 'b'].map((letter) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`);
    await opened(world, { signingSecret: old });
    world.sender.script(answered(422));
    await world.deliver(EVENT, PARTNER);
    const secret = { item: 'secret', version: 1, destination: destinationId(PARTNER), carried: {} } as const;
    const rotated = [fresh ?? '', old ?? ''];
    await world.records.replace(
      { ...secret, secrets: [old ?? ''], updatedAtMs: 0 },
      { ...secret, version: 2, secrets: rotated, updatedAtMs: world.clock.nowMs() },
    );
    await world.clock.advance(600_000);
    const failures = { count: 20, sinceMs: 1 };
    const gate = { item: 'gate', version: 1, destination: destinationId(PARTNER), carried: {}, failures } as const;
    const pause = {
      by: 'system',
      reason: '20 failures in a row',
      sinceMs: 2,
      probeAtMs: world.clock.nowMs() + 300_000,
    };
    await world.records.create({ ...gate, pause });
    const answer = await decideBy(world, CALLS.redrive, 'by-hand');
    expect(answer.body).toHaveProperty(
      'journal.3',
      expect.objectContaining({ kind: 'redriven', actor: 'holder-of-resend' }),
    );
    await world.run(5_000);
    const held = await world.records.load({ item: 'gate', destination: destinationId(PARTNER) });
    expect(held).toMatchObject({ kind: 'found', item: { failures, pause } });
    expect(world.sender.sends).toHaveLength(1);
    await decideBy(world, CALLS.resume, 'go');
    await world.run(5_000);
    const [first, second] = world.sender.sends;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    const secrets = rotated.flatMap((text) => {
      const parsed = parseSecret(text);
      return parsed.kind === 'ok' ? [parsed.secret] : [];
    });
    const timestampSec = Number(second?.headers['webhook-timestamp']);
    const body = second?.body ?? new Uint8Array();
    expect(second?.headers).toMatchObject(
      signatureHeaders({ id: second?.headers['webhook-id'] ?? '', timestampSec, body, secrets }),
    );
    expect(second?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  });

  it.each<[what: string, state: string, code: string]>([
    ['is in flight', 'claimed and live', 'live-claim'],
    ['waits for its retry', 'waiting for its retry', 'not-quarantined'],
  ])('a delivery that %s is told so, and the record is as it was [C177]', async (_what, state, code) => {
    const world = await inState(state);
    const before = await world.row(EVENT, PARTNER);
    const answer = await decideBy(world, CALLS.redrive, 'impatient');
    expect(answer.body).toMatchObject({ status: 409, code });
    expect(await world.row(EVENT, PARTNER)).toEqual(before);
    expect(isDecided(world, 'impatient')).toBe(false);
  });

  it('a delivery whose destination is gone is told that it has ended for good, and the record is as it was [C177]', async () => {
    const world = await inState('waiting for its retry');
    await decideBy(world, CALLS.delete, 'away');
    await world.run(60_000);
    const before = await world.row(EVENT, PARTNER);
    expect(before).toMatchObject({ status: 'quarantined', reason: 'no-destination' });
    const answer = await decideBy(world, CALLS.redrive, 'late');
    expect(answer.body).toMatchObject({ status: 409, code: 'no-destination' });
    expect(await world.row(EVENT, PARTNER)).toEqual(before);
  });
});

describe('a secret', () => {
  const PASSWORD = 'Bearer sesame-open-now';
  const SIGNING = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;
  /** What may show: the name of the header. What must not: these, in any of their spellings. */
  const HIDDEN = ['sesame', SIGNING, SIGNING.slice(6), PUSH_SECRET, 'v1,', 'token-for-'];

  /** A life with a refusal, a pause, decisions of each kind, and a delivery in the end. */
  const busyLife = async (): Promise<TestWorld> => {
    const world = openTestWorld();
    await opened(world, { headers: { authorization: PASSWORD, 'x-api-key': 'sesame-key' }, signingSecret: SIGNING });
    world.sender.script(answered(422, { excerpt: 'no' }));
    await world.run(5_000);
    for (const call of ['redrive', 'pause', 'resume', 'test'] as const) await decideBy(world, CALLS[call], `x-${call}`);
    await world.run(10_000);
    for (const call of ['replay', 'cancel', 'resolve', 'redrive'] as const)
      await decideBy(world, CALLS[call], `y-${call}`);
    await world.run(10_000);
    return world;
  };

  const VIEWS = [
    `/v1/events/${EVENT}`,
    `/v1/events/${EVENT}/deliveries/${PARTNER}`,
    '/v1/destinations',
    `/v1/destinations/${PARTNER}`,
    `/v1/deliveries?list=recent&destination=${PARTNER}`,
    '/v1/deliveries?list=open',
    '/v1/stats',
  ];

  it('is in no view, no answer to a decision, no log line and no record but its own, and in every request sent [C145]', async () => {
    const world = await busyLife();
    const shown: string[] = [];
    for (const path of VIEWS) {
      const answer = await get(world, path);
      expect(answer.status, path).toBe(200);
      shown.push(answer.text);
    }
    for (const call of ['pause', 'resume', 'test', 'redrive', 'replay'] as const) {
      shown.push((await decideBy(world, CALLS[call], `z-${call}`)).text);
    }
    shown.push(JSON.stringify(world.telemetry.lines));
    shown.push(JSON.stringify(await decisionOf(world, 'x-pause')));
    for (const hidden of HIDDEN) {
      for (const text of shown) expect(text).not.toContain(hidden);
    }
    const others = world.store.writes.filter(({ ref }) => ref?.item !== 'destination' && ref?.item !== 'secret');
    for (const { ref, after } of others) {
      const text = JSON.stringify(after);
      for (const hidden of ['sesame', SIGNING]) expect(text, JSON.stringify(ref)).not.toContain(hidden);
    }
    expect(world.sender.sends.length).toBeGreaterThan(3);
    for (const { headers } of world.sender.sends) {
      expect(headers).toMatchObject({ authorization: PASSWORD, 'x-api-key': 'sesame-key' });
      expect(headers['webhook-signature']).toMatch(/^v1,/);
    }
  });

  it('would be found by this search where it shows: the settings as they are stored', async () => {
    const world = await busyLife();
    const settings = world.store.writes.filter(({ ref }) => ref?.item === 'destination' || ref?.item === 'secret');
    const text = JSON.stringify(settings.map(({ after }) => after));
    expect(['sesame', SIGNING].filter((hidden) => !text.includes(hidden))).toEqual([]);
  });

  it('is not told to whoever signs wrongly', () => {
    const push = createInfraiPush({ secrets: [PUSH_SECRET], signatureHeader: 'x-infrai-signature', prefix: '' });
    const verified = push.verify(() => 'wrong', Buffer.from('{}'), 0);
    expect(JSON.stringify(verified)).not.toContain(PUSH_SECRET);
  });
});
