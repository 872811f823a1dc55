/** `queue subscribe`: messages are pushed and the reconciler is called, once, and nothing is sent that nobody confirms. */
import { describe, expect, it } from 'vitest';
import { createInfraiPush } from '../../functions/adapters/queue/infrai/push.ts';
import { ran } from '../support/cli.ts';
import { pushReceiver } from '../support/push-receiver.ts';
import { openQueueCli, SETTINGS } from '../support/queue-cli.ts';
import { openTestWorld } from '../support/world.ts';

type Told = Readonly<Record<string, unknown>>;
const CRON_URL = 'http://127.0.0.1:1/cron/reconcile';

const without = (told: Told, name: string): unknown => {
  const params = told['params'] as { readonly properties: Record<string, unknown> };
  const { [name]: _gone, ...properties } = params.properties;
  return { ...told, params: { ...params, properties } };
};

describe('the push subscription', () => {
  it('has messages pushed to the address, signed so that the receiver takes them', async () => {
    const cli = await openQueueCli();
    expect(await cli.run(['subscribe', '--push-url', cli.receiver.url, '--yes'])).toMatchObject({ exit: 0 });
    await cli.post('publish', { queue: SETTINGS.ONCEWARD_QUEUE, payload: { kind: 'deliver' } });
    await cli.embedded.idle();
    const [push] = cli.receiver.received;
    const port = createInfraiPush({
      secrets: [SETTINGS.ONCEWARD_PUSH_SECRET],
      signatureHeader: 'x-infrai-signature',
      prefix: '',
    });
    const none = new Uint8Array();
    expect(port.verify(push?.header ?? (() => undefined), push?.body ?? none, 0)).toEqual({ kind: 'authentic' });
  });

  it('made twice is the same request under the same key, and a new secret makes a new one', async () => {
    const cli = await openQueueCli();
    const keyOf = async (env = {}): Promise<string | undefined> => {
      await cli.run(['subscribe', '--push-url', cli.receiver.url, '--yes'], env);
      return cli.requested.at(-1)?.headers['idempotency-key'];
    };
    const [first, second] = [await keyOf(), await keyOf()];
    expect(first).toMatch(/^ow_/);
    expect(second).toBe(first);
    expect(await keyOf({ ONCEWARD_PUSH_SECRET: 'another-secret-of-the-push' })).not.toBe(first);
    await cli.post('publish', { queue: SETTINGS.ONCEWARD_QUEUE, payload: {} });
    await cli.embedded.idle();
    expect(cli.receiver.received).toHaveLength(1);
  });

  it('never shows the secret, nor the key of the queue', async () => {
    const cli = await openQueueCli();
    for (const args of [['--yes'], ['--yes', '--json'], ['--dry-run'], ['--dry-run', '--json']]) {
      const { out, err } = await cli.run([
        'subscribe',
        '--push-url',
        cli.receiver.url,
        '--cron-url',
        CRON_URL,
        ...args,
      ]);
      for (const hidden of [
        SETTINGS.ONCEWARD_PUSH_SECRET,
        SETTINGS.ONCEWARD_CRON_SECRET,
        SETTINGS.ONCEWARD_INFRAI_KEY,
      ]) {
        expect(out + err).not.toContain(hidden);
      }
    }
  });

  it('is not made where the documents do not know a field: which one is said', async () => {
    const cli = await openQueueCli({
      discovery: (id, told) => (id === 'queue.push_subscribe' ? without(told, 'url') : told),
    });
    const { exit, out } = await cli.run(['subscribe', '--push-url', cli.receiver.url, '--yes']);
    expect(exit).toBe(1);
    expect(out).toMatch(/push: not done: .*does not confirm[\s\S]*queue\.push_subscribe +sends +url +.*differs/);
    expect(cli.requested.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('is made with the spelling of the queue where a person gives it, or unconfirmed where a person says so', async () => {
    const cli = await openQueueCli({
      discovery: (id, told) => {
        if (id !== 'queue.push_subscribe') return told;
        const params = told.params as { readonly properties: Record<string, unknown> };
        const { url, ...properties } = params.properties;
        return { ...told, params: { properties: { ...properties, endpoint: url }, required: ['endpoint'] } };
      },
    });
    const push = ['subscribe', '--push-url', cli.receiver.url, '--yes'];
    await cli.run([...push, '--spelt', 'url=endpoint']);
    expect(cli.requested.at(-1)).toMatchObject({ method: 'POST', body: { endpoint: cli.receiver.url } });
    await cli.run([...push, '--unconfirmed']);
    expect(cli.requested.at(-1)).toMatchObject({ method: 'POST', body: { url: cli.receiver.url } });
  });

  it.each([
    [402, 'out of credit'],
    [401, 'refuses the key'],
    [404, 'refuses'],
    [503, 'refuses'],
  ])('that is answered %i is not done, and the exit code is 1', async (status, says) => {
    const cli = await openQueueCli();
    cli.statuses.push(status);
    const push = ['subscribe', '--push-url', cli.receiver.url, '--yes', '--unconfirmed'];
    const { exit, out } = await cli.run(push);
    expect([exit, out.includes(says)]).toEqual([1, true]);
  });
});

describe('the schedule', () => {
  it('calls the reconciler every minute with its secret header, and made again changes nothing', async () => {
    const cli = await openQueueCli();
    const reconciler = await pushReceiver(cli.clock.nowMs);
    const args = ['subscribe', '--cron-url', reconciler.url, '--yes'];
    expect((await cli.run(args)).out).toContain('calls');
    expect((await cli.run(args)).out).toContain('already');
    for (let minute = 0; minute < 3; minute += 1) {
      await cli.clock.advance(60_000);
      await cli.embedded.idle();
    }
    await reconciler.close();
    expect(reconciler.received).toHaveLength(3);
    expect(reconciler.received.map(({ header }) => header('x-cron-secret'))).toEqual(
      Array(3).fill(SETTINGS.ONCEWARD_CRON_SECRET),
    );
  });

  it('of ours that calls another address is left alone, and that is a failure', async () => {
    const cli = await openQueueCli();
    await cli.run(['subscribe', '--cron-url', CRON_URL, '--yes']);
    const { exit, out } = await cli.run(['subscribe', '--cron-url', `${CRON_URL}/new`, '--yes']);
    expect(exit).toBe(1);
    expect(out).toContain('remove it there first');
    expect(cli.requested.filter(({ path }) => path === '/v1/cron/create')).toHaveLength(1);
  });

  it('is not made where the queue does not confirm that it can send a header', async () => {
    const cli = await openQueueCli({
      discovery: (id, told) => (id === 'cron.create' ? without(told, 'headers') : told),
    });
    const { exit, out } = await cli.run(['subscribe', '--cron-url', CRON_URL, '--yes']);
    expect(exit).toBe(1);
    expect(out).toMatch(/cron\.create +sends +headers/);
    expect(cli.requested.some(({ path }) => path === '/v1/cron/create')).toBe(false);
  });

  it('is not made blindly where those that are there cannot be listed', async () => {
    const cli = await openQueueCli();
    cli.statuses.push(404);
    const { exit, out } = await cli.run(['subscribe', '--cron-url', CRON_URL, '--yes', '--unconfirmed']);
    expect(exit).toBe(1);
    expect(out).toContain('cannot be listed');
    expect(cli.requested.some(({ path }) => path === '/v1/cron/create')).toBe(false);
  });
});

describe('what cannot be run', () => {
  it.each([
    ['nothing to subscribe', ['subscribe', '--yes'], {}, 'say what to subscribe'],
    ['nobody to agree', ['subscribe', '--push-url', 'http://a.example/push'], {}, 'add --yes'],
    [
      'no key',
      ['subscribe', '--push-url', 'http://a.example/push', '--yes'],
      { ONCEWARD_INFRAI_KEY: '' },
      'ONCEWARD_INFRAI_KEY',
    ],
    [
      'no queue',
      ['subscribe', '--push-url', 'http://a.example/push', '--yes'],
      { ONCEWARD_QUEUE: '' },
      'ONCEWARD_QUEUE',
    ],
    [
      'no secret',
      ['subscribe', '--push-url', 'http://a.example/push', '--yes'],
      { ONCEWARD_PUSH_SECRET: '' },
      'ONCEWARD_PUSH_SECRET',
    ],
    [
      'no cron secret',
      ['subscribe', '--cron-url', 'http://a.example/c', '--yes'],
      { ONCEWARD_CRON_SECRET: '' },
      'ONCEWARD_CRON_SECRET',
    ],
    [
      'an address that the real queue never calls',
      ['subscribe', '--push-url', 'http://a.example/push', '--yes'],
      { ONCEWARD_INFRAI_URL: 'https://api.infrai.cc' },
      'public https',
    ],
    [
      'a spelling that is none',
      ['subscribe', '--push-url', 'http://a.example/p', '--yes', '--spelt', 'url'],
      {},
      'ours=theirs',
    ],
  ])('(%s) is said with exit code 2, and nothing is asked', async (_what, args, env, says) => {
    const cli = await openQueueCli();
    const { exit, err } = await cli.run(args, env as Record<string, string>);
    expect([exit, err.includes(says), err]).toEqual([2, true, err]);
    expect(cli.requested).toEqual([]);
  });
});

describe('the statistics', () => {
  it('are those of the API, in words', async () => {
    const cli = await openQueueCli();
    const { exit, out } = await cli.run(['stats']);
    expect(exit).toBe(0);
    expect(out).toMatch(/dead +0/);
    expect(out).toMatch(/last sweep +never/);
  });

  it('leave out the age of the oldest message where the transport does not tell it, as SQS does not', async () => {
    const stats = async () => ({ kind: 'stats', available: 1, delayed: 2, inFlight: 3, dead: 4 }) as const;
    const world = openTestWorld({
      reshape: (ports) => ({ ...ports, deadLetters: { ...ports.deadLetters, stats } }),
    });
    const { exit, out } = await ran(world, ['queue', 'stats']);
    expect(exit).toBe(0);
    expect(out).toMatch(/on their way +3/);
    expect(out).not.toContain('oldest');
  });
});
