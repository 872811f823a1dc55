/**
 * Goal: `queue contract` says where the queue's documents and this code differ, and never takes silence for agreement.
 * Method: the command over the embedded queue, whose discovery agrees, lies, or says less; and the table of what is sent
 * against what the ports really send.
 */
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { createInfraiQueue } from '../../functions/adapters/queue/infrai/client.ts';
import { createInfraiDeadLetters } from '../../functions/adapters/queue/infrai/dead-letters.ts';
import { systemClock, systemDice } from '../../functions/adapters/system.ts';
import { compareContract } from '../../functions/operator/commands/queue-contract.ts';
import { USES, useOf } from '../../functions/operator/commands/queue-use.ts';
import { openQueueCli } from '../support/queue-cli.ts';

const report = z.object({
  agrees: z.number(),
  differs: z.number(),
  unknown: z.number(),
  rows: z.array(z.record(z.string(), z.string())),
});

type Told = Readonly<Record<string, unknown>>;

/** The documents as they are, but for one of them. */
const lying = (capability: string, lie: (told: Told) => unknown) =>
  openQueueCli({ discovery: (id, told) => (id === capability ? lie(told) : told) });

const contractOf = async ({ run }: Awaited<ReturnType<typeof openQueueCli>>, ...more: readonly string[]) => {
  const { exit, out, err } = await run(['contract', '--json', ...more]);
  const told = z.parse(report, JSON.parse(out));
  return { exit, err, ...told, odd: told.rows.filter(({ verdict }) => verdict !== 'agrees') };
};

const schemaOf = (told: Told, member: 'params' | 'response') =>
  z.parse(z.object({ properties: z.record(z.string(), z.unknown()) }), told[member]);

describe('documents that agree', () => {
  it('are reported as such, field by field, and the exit code is 0', async () => {
    const told = await contractOf(await openQueueCli());
    expect(told).toMatchObject({ exit: 0, differs: 0 });
    expect(new Set(told.rows.map(({ capability }) => capability))).toEqual(new Set(USES.map((use) => use.capability)));
    // The handle is read where it is there; this queue does without.
    expect(told.odd.map(({ field }) => field)).toEqual(['items or messages[].receipt_handle']);
  });

  it('are a table for people, with a count at its end', async () => {
    const { run } = await openQueueCli();
    const { exit, out } = await run(['contract']);
    expect(exit).toBe(0);
    expect(out).toMatch(/queue\.publish +sends +delay_seconds +integer, up to 604800 +number +agrees/);
    expect(out).toMatch(/\d+ agree, 0 differ, 1 unknown\.\n$/);
  });

  it('are asked for without the key: they are public', async () => {
    const { run, requested } = await openQueueCli();
    await run(['contract']);
    expect(requested.map(({ path }) => path)).toEqual(USES.map(({ capability }) => `/v1/discovery/${capability}`));
    expect(requested.filter(({ headers }) => 'authorization' in headers)).toEqual([]);
  });
});

describe('a document that differs', () => {
  const without = (told: Told, member: 'params' | 'response', name: string) => {
    const schema = schemaOf(told, member);
    const { [name]: _gone, ...properties } = schema.properties;
    return { ...told, [member]: { ...schema, properties } };
  };
  const changed = (told: Told, name: string, property: unknown) => {
    const schema = schemaOf(told, 'params');
    return { ...told, params: { ...schema, properties: { ...schema.properties, [name]: property } } };
  };

  it.each([
    ['another method', 'queue.stats', 'method', (told: Told) => ({ ...told, method: 'POST' })],
    ['another path', 'cron.create', 'path', (told: Told) => ({ ...told, path: '/v1/scheduling/cron/create' })],
    [
      'a capability that is not available',
      'queue.publish',
      'available',
      (told: Told) => ({ ...told, available: false }),
    ],
    [
      'a publish that is not idempotent',
      'queue.publish',
      'idempotent',
      (told: Told) => ({ ...told, idempotent: false }),
    ],
    ['no field that we send', 'queue.push_subscribe', 'url', (told: Told) => without(told, 'params', 'url')],
    ['another type', 'queue.publish', 'payload', (told: Told) => changed(told, 'payload', { type: 'string' })],
    [
      'a smaller bound',
      'queue.publish',
      'delay_seconds',
      (told: Told) => changed(told, 'delay_seconds', { type: 'number', maximum: 900 }),
    ],
    [
      'a shorter text',
      'queue.publish',
      'idempotency_key',
      (told: Told) => changed(told, 'idempotency_key', { type: 'string', maxLength: 32 }),
    ],
    [
      'a field that we do not send and it wants',
      'queue.consume',
      'wait_seconds',
      (told: Told) => ({ ...told, params: { ...schemaOf(told, 'params'), required: ['queue', 'wait_seconds'] } }),
    ],
    ['no field that we need', 'queue.publish', 'message_id', (told: Told) => without(told, 'response', 'message_id')],
    [
      'another name of the list',
      'queue.consume',
      'items or messages',
      (told: Told) => without(told, 'response', 'items'),
    ],
  ])('by %s is found, named, and the exit code is 1', async (_what, capability, field, lie) => {
    const told = await contractOf(await lying(capability, lie));
    expect(told.exit).toBe(1);
    expect(told.rows.filter(({ verdict }) => verdict === 'differs')).toEqual([
      expect.objectContaining({ capability, field, verdict: 'differs' }),
    ]);
    expect(told.err).toContain('differs from the documents');
  });

  it('by not being there at all is found', async () => {
    const told = await contractOf(await lying('cron.list', () => 'absent'));
    expect(told.exit).toBe(1);
    expect(told.odd).toContainEqual(
      expect.objectContaining({ capability: 'cron.list', field: 'document', verdict: 'differs' }),
    );
  });

  it('only by the names of its parameters does not differ', async () => {
    const told = await contractOf(await lying('queue.stats', (one) => ({ ...one, path: '/v1/queue/stats/:name' })));
    expect(told.differs).toBe(0);
  });
});

describe('a document that does not say', () => {
  it.each([
    ['nothing but its name', () => ({ id: 'queue.publish' })],
    [
      'fields in a way that is not followed',
      (told: Told) => ({ ...told, params: { $ref: '#/publish' }, response: undefined }),
    ],
    ['something that is no document', () => 'see the manual'],
  ])('(%s) leaves things unknown: neither agreed nor wrong', async (_what, lie) => {
    const told = await contractOf(await lying('queue.publish', lie));
    const rows = told.rows.filter(({ capability }) => capability === 'queue.publish');
    expect(told.exit).toBe(0);
    expect(rows.some(({ verdict }) => verdict === 'unknown')).toBe(true);
    expect(rows.some(({ verdict }) => verdict === 'differs')).toBe(false);
    const strict = await contractOf(await lying('queue.publish', lie), '--strict');
    expect(strict.exit).toBe(1);
  });

  it('because it cannot be had is unknown, with the reason', async () => {
    const cli = await openQueueCli();
    cli.statuses.push(...USES.map((_use, at) => (at === 0 ? 0 : 429)));
    const told = await contractOf(cli);
    expect(told.rows[0]).toMatchObject({ field: 'document', theirs: 'not reached: ECONNREFUSED', verdict: 'unknown' });
    expect(told.rows[1]).toMatchObject({ field: 'document', theirs: 'answered 429', verdict: 'unknown' });
    // The account agrees with nothing that was not read: a nightly job must not take this for a pass.
    expect(told.exit).toBe(1);
  });

  it('takes the envelope off where the answer is described with it', () => {
    const data = { type: 'object', properties: { message_id: { type: 'string' } } };
    const response = { type: 'object', properties: { ok: { type: 'boolean' }, data } };
    const rows = compareContract(useOf('queue.publish'), { kind: 'document', document: { response } });
    expect(rows.find(({ what }) => what === 'reads')).toMatchObject({ field: 'message_id', verdict: 'agrees' });
  });
});

describe('the table of what is sent', () => {
  /** Answers every call well and keeps what came. */
  const recording = async () => {
    const came: { readonly route: string; readonly fields: readonly string[] }[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      came.push({
        route: `${request.method} ${request.url}`,
        fields: text === '' ? [] : Object.keys(JSON.parse(text)),
      });
      response.setHeader('content-type', 'application/json');
      response.end('{"ok":true,"data":{"message_id":"m","dlq_count":0,"items":[]}}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return { came, baseUrl: `http://127.0.0.1:${address.port}` };
  };

  it('is what the ports over Infrai send: each route, each field, and none beside them', async () => {
    const { came, baseUrl } = await recording();
    const access = { baseUrl, apiKey: 'key', queue: 'orders' };
    const queue = createInfraiQueue({ ...access, publishMs: 2_000 });
    const letters = createInfraiDeadLetters({ ...access, clock: systemClock, dice: systemDice });
    await queue.publish({ key: 'k', body: '{}', delaySec: 5 });
    await letters.stats();
    await letters.read(1);
    await letters.redrive({ messageId: 'm', body: new Uint8Array() });
    await letters.discard({ messageId: 'm', handle: 'm' });
    await Promise.all([queue.close(), letters.close()]);
    const said = USES.filter(({ capability }) => !/subscribe|cron/.test(capability)).map((use) => ({
      route: `${use.method} ${use.path.replace('{queue}', 'orders')}`,
      fields: use.sends.map(({ name }) => name).toSorted(),
    }));
    const sent = came.map(({ route, fields }) => ({ route, fields: fields.toSorted() }));
    const byRoute = (a: { route: string }, b: { route: string }) => a.route.localeCompare(b.route);
    expect(sent.toSorted(byRoute)).toEqual(said.toSorted(byRoute));
  });
});
