/** What the platform gets: bundles, made as the stack makes them, and the wrapping between its events and the apps. */

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Metafile } from 'esbuild';
import { Hono } from 'hono';
import { handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { DUE_SHARDS, FUNCTION_MS } from '../../functions/core/limits.ts';
import { lambdaEntry, remainingMsOf } from '../../functions/http/lambda.ts';
import { bundle } from '../../infra/aws/bundle.ts';
import { eventV1, eventV2 } from '../support/lambda-events.ts';
import { openPublishStub } from '../support/publish-stub.ts';
import { scheduledEvent, sqsBatch, sqsRecord } from '../support/sqs-events.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

// ---- the wrapping -------------------------------------------------------------------------------------------------

/** Says what came in, byte for byte. */
const echo = new Hono();
echo.all('*', async (context) =>
  context.json({
    url: context.req.url,
    signature: context.req.header('x-infrai-signature'),
    hex: Buffer.from(await context.req.arrayBuffer()).toString('hex'),
  }),
);

const serve = async (event: LambdaEvent, context?: LambdaContext) => {
  const counted: string[] = [];
  const answer = await lambdaEntry(echo, { count: (name) => void counted.push(name) })(event, context);
  return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(answer.body), counted };
};

describe.each([
  ['1.0', eventV1],
  ['2.0', eventV2],
] as const)('an event of payload format %s', (_format, eventOf) => {
  it('reaches the app with its bytes intact when they came as base64 [C096]', async () => {
    const { body } = await serve(eventOf({ body: Buffer.from('ff00fe', 'hex').toString('base64'), base64: true }));
    expect(body.hex).toBe('ff00fe');
  });

  it('is the same request, plain or as base64 [C097]', async () => {
    const text = '{"message_id":"m1","payload":{"n":"é"}}';
    const plain = await serve(eventOf({ body: text }));
    const encoded = await serve(eventOf({ body: Buffer.from(text).toString('base64'), base64: true }));
    expect(encoded.body).toEqual(plain.body);
    expect(Buffer.from(plain.body.hex, 'hex').toString()).toBe(text);
  });

  it.each([
    ['a character that base64 does not have', '{"n":1}='],
    ['one character too few', 'YWJ'],
    ['the alphabet of URLs', '_w-A'],
    ['a line end', 'YWJj\nYWJj'],
    ['padding in the middle', 'YQ==YQ=='],
    ['padding alone', '===='],
    ['too much padding', 'YWI=='],
    ['a letter outside of ASCII', 'YWJjé==='],
  ])('is refused as a problem when its body is marked as base64 and holds %s [C098]', async (_what, body) => {
    const answer = await serve(eventOf({ body, base64: true }));
    expect(answer.status).toBe(400);
    expect(answer.headers).toEqual({ 'content-type': 'application/problem+json' });
    expect(answer.body).toEqual({
      type: 'about:blank',
      title: 'Bad request',
      status: 400,
      code: 'body-not-base64',
      detail: expect.stringContaining('base64'),
    });
    expect(answer.counted).toEqual(['body-not-base64']);
  });

  it('is refused as a problem when it is a GET with a body, which no request can carry', async () => {
    const answer = await serve(eventOf({ method: 'GET', body: '{}' }));
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('unexpected-body');
  });

  it('needs no body', async () => {
    expect((await serve(eventOf({ method: 'GET' }))).status).toBe(200);
    expect((await serve(eventOf({ base64: true }))).body.hex).toBe('');
    expect((await serve(eventOf({ body: '', base64: true }))).body.hex).toBe('');
  });

  it('keeps its path as it was sent: nothing is decoded on the way', async () => {
    const { body } = await serve(eventOf({ method: 'GET', path: '/v1/events/a%2Fb%252Fc/deliveries/%C3%A9' }));
    expect(new URL(body.url).pathname).toBe('/v1/events/a%2Fb%252Fc/deliveries/%C3%A9');
  });

  it('takes a body of the largest size that the platform hands over', async () => {
    const bytes = Buffer.alloc(4_500_000, 'x');
    const { body } = await serve(eventOf({ body: bytes.toString('base64'), base64: true }));
    expect(body.hex.length).toBe(2 * bytes.length);
  });
});

describe('a header that came twice', () => {
  it('reaches the app joined, so that a signature given twice is seen as two [C099]', async () => {
    const twice = eventV1({ body: '{}', multiValueHeaders: { 'X-Infrai-Signature': ['a', 'b'] } });
    expect((await serve(twice)).body.signature).toBe('a, b');
    // Format 2.0 has joined them already.
    const joined = eventV2({ body: '{}', headers: { 'x-infrai-signature': 'a,b' } });
    expect((await serve(joined)).body.signature).toBe('a,b');
  });
});

describe('cookies, which the platform hands over beside the headers', () => {
  it('change nothing: the signature and the bytes reach the app as they came', async () => {
    const headers = { 'x-infrai-signature': 'abc' };
    const { status, body } = await serve({
      ...eventV2({ body: '{}', headers }),
      cookies: ['a=1', 'b=2'],
    } as LambdaEvent);
    expect([status, body.signature, body.hex]).toEqual([200, 'abc', '7b7d']);
  });
});

describe('the adapter of the framework alone', () => {
  it('answers a broken base64 body by a bare text that nobody counts: this is why it is looked for ahead of it', async () => {
    const quiet = vi.spyOn(console, 'error').mockImplementation(() => {});
    const answer = await handle(echo)(eventV2({ body: '{"n":1}=', base64: true }));
    quiet.mockRestore();
    expect(answer.statusCode).toBeGreaterThanOrEqual(400);
    expect(() => JSON.parse(answer.body)).toThrow();
  });
});

const readingOf = (reading: unknown) =>
  remainingMsOf({ env: { lambdaContext: { getRemainingTimeInMillis: () => reading } } });

describe('the time that is left to an invocation', () => {
  it.each([0, 1, 1_999, 30_000, FUNCTION_MS, -1, -60_000])('is %d where the platform says so [C003]', (reading) => {
    expect(readingOf(reading)).toBe(reading);
  });

  it.each([
    ['no context', {}],
    ['no environment', undefined],
    ['null', null],
    ['a context without the function', { lambdaContext: {} }],
    ['an empty context', { lambdaContext: null }],
    ['something that is no function', { lambdaContext: { getRemainingTimeInMillis: 5 } }],
  ])('is the limit of the function where there is no reading: %s [C003]', (_what, env) => {
    expect(remainingMsOf({ env })).toBe(FUNCTION_MS);
  });

  it('is the limit of the function where the platform gives undefined [C003]', () => {
    expect(readingOf(undefined)).toBe(FUNCTION_MS);
  });

  it.each([Number.NaN, null, '30000', {}])('is nothing where the reading is no number: %s [C003]', (reading) => {
    expect(readingOf(reading)).toBe(0);
  });

  it('is never more than the function has', () => {
    expect(readingOf(Number.POSITIVE_INFINITY)).toBe(FUNCTION_MS);
    expect(readingOf(Number.NEGATIVE_INFINITY)).toBe(Number.NEGATIVE_INFINITY);
  });

  it('is read as a method of the context', () => {
    const context = {
      leftMs: 4_000,
      getRemainingTimeInMillis() {
        return this.leftMs;
      },
    };
    expect(remainingMsOf({ env: { lambdaContext: context } })).toBe(4_000);
  });
});

// ---- the bundles --------------------------------------------------------------------------------------------------

const ENTRIES = {
  intake: 'functions/intake/handler.ts',
  receiver: 'functions/receiver/handler.ts',
  'sqs-receiver': 'functions/receiver/sqs-handler.ts',
  operator: 'functions/operator/handler.ts',
  reconciler: 'functions/reconciler/handler.ts',
} as const;
type Name = keyof typeof ENTRIES;
const NAMES = Object.keys(ENTRIES) as Name[];
/** Those that answer requests. */
const FACES = ['intake', 'receiver', 'operator'] as const;

let folder = '';
const metafiles = new Map<Name, Metafile>();
const fileOf = (name: Name): string => join(folder, name, 'index.mjs');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'onceward-bundles-'));
  for (const name of NAMES) metafiles.set(name, bundle(ENTRIES[name], join(folder, name)).metafile);
}, 30_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Of what was read, what has come into the bundle. */
const inputsOf = (name: Name): string[] =>
  Object.values(metafiles.get(name)?.outputs ?? {}).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
const packagesOf = (name: Name): Set<string> =>
  new Set(
    inputsOf(name).flatMap((path) => {
      const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path);
      return found?.[1] === undefined ? [] : [found[1]];
    }),
  );

const packageJson = z.object({ devDependencies: z.record(z.string(), z.string()) });

describe.each(NAMES)('the bundle of the %s', (name) => {
  it('holds functions/ and nothing else of this project', () => {
    const own = inputsOf(name).filter((path) => !path.includes('node_modules/'));
    expect(own.length).toBeGreaterThan(3);
    // The front door of undici that the bundles have, made for them.
    const strangers = own.filter((path) => !path.startsWith('functions/') && path !== 'infra/aws/undici.cjs');
    expect(strangers).toEqual([]);
    expect(own.filter((path) => /(twin|memory-store)\.ts$/.test(path))).toEqual([]);
  });

  it('holds no package of the local world and none of development', async () => {
    const { devDependencies } = packageJson.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
    const packages = packagesOf(name);
    const unwanted = [...Object.keys(devDependencies), 'dynalite', 'level', 'classic-level', '@hono/node-server'];
    expect(unwanted.filter((one) => packages.has(one))).toEqual([]);
  });

  it('holds the small edition of zod, without its texts in forty languages', () => {
    expect(inputsOf(name).filter((path) => /zod\/.*\/locales\/(?!en\.|index\.)/.test(path))).toEqual([]);
    expect(inputsOf(name).filter((path) => /zod\/v4\/classic\//.test(path))).toEqual([]);
  });
});

describe('a bundle holds only what its function uses', () => {
  it('the sender of attempts is in the receivers, and in the operator, which reads it when it has a drill to run', () => {
    const sends = NAMES.filter((name) => inputsOf(name).some((path) => path.startsWith('functions/adapters/sender/')));
    expect(sends).toEqual(['receiver', 'sqs-receiver', 'operator']);
    const outputs = Object.entries(metafiles.get('operator')?.outputs ?? {});
    const [[part] = []] = outputs.filter(([, { inputs }]) => 'functions/adapters/sender/sender.ts' in inputs);
    const named = outputs.flatMap(([, { imports }]) => imports.filter(({ path }) => path === part));
    expect(new Set(named.map(({ kind }) => kind))).toEqual(new Set(['dynamic-import']));
  });

  it('the console is read when somebody looks at a page, and not at the start of the operator', () => {
    const outputs = Object.entries(metafiles.get('operator')?.outputs ?? {});
    const [part, ...others] = outputs.filter(([, { inputs }]) =>
      Object.keys(inputs).some((path) => path.startsWith('functions/operator/console/')),
    );
    expect([part?.[1].entryPoint, others]).toEqual(['functions/operator/console/app.ts', []]);
    const named = outputs.flatMap(([, { imports }]) => imports.filter(({ path }) => path === part?.[0]));
    expect(new Set(named.map(({ kind }) => kind))).toEqual(new Set(['dynamic-import']));
    expect(part?.[1].bytes).toBeLessThan(150_000);
  });

  it('the reconciler can sweep nothing: it has no machine, no index and no push side', () => {
    const has = (path: string) => NAMES.filter((name) => inputsOf(name).includes(path));
    expect(has('functions/core/machine.ts')).toEqual(['receiver', 'sqs-receiver', 'operator']);
    expect(has('functions/adapters/ledger/pages.ts')).toEqual(['receiver', 'sqs-receiver', 'operator']);
    expect(has('functions/adapters/queue/infrai/push.ts')).toEqual(['receiver']);
    expect(has('functions/adapters/queue/sqs/push.ts')).toEqual(['sqs-receiver']);
  });
});

const SETTINGS = {
  ONCEWARD_TRANSPORT: 'both',
  ONCEWARD_SQS_QUEUE_URL: 'http://127.0.0.1:9/123456789012/onceward',
  ONCEWARD_SQS_DEAD_LETTER_URL: 'http://127.0.0.1:9/123456789012/onceward-dead',
  ONCEWARD_TABLE: 'onceward-test',
  ONCEWARD_OWN_HOSTS: 'push.example',
  ONCEWARD_INFRAI_URL: 'http://127.0.0.1:9',
  ONCEWARD_INFRAI_KEY: 'a-key-of-the-queue',
  ONCEWARD_QUEUE: 'orders',
  ONCEWARD_PUSH_SECRET: 'a-secret-of-the-push-side',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
};

/** Imports bundles in a fresh process whose network is sealed: `reached` counts what tried to get out. */
const SEAL = `
  import net from 'node:net';
  import dns from 'node:dns';
  import dnsPromises from 'node:dns/promises';
  import { syncBuiltinESMExports } from 'node:module';
  export const reached = [];
  net.Socket.prototype.connect = function () {
    reached.push("socket");
    process.nextTick(() => this.destroy(Object.assign(new Error("sealed"), { code: "ECONNREFUSED" })));
    return this;
  };
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
    dns[name] = (...all) => { reached.push('dns'); all.at(-1)(Object.assign(new Error('sealed'), { code: 'ENOTFOUND' })); };
    dnsPromises[name] = async () => { reached.push('dns'); throw Object.assign(new Error('sealed'), { code: 'ENOTFOUND' }); };
  }
  syncBuiltinESMExports();
`;

const run = async (script: string, settings: Record<string, string>, sealed = true): Promise<unknown> => {
  const seal = `data:text/javascript,${encodeURIComponent(SEAL)}`;
  const source = `${sealed ? `import { reached } from ${JSON.stringify(seal)};` : ''}
    const files = ${JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, fileOf(name)])))};
    const report = await (async () => { ${script} })();
    process.stdout.write('\\n' + JSON.stringify(report));`;
  const args = ['--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: settings, timeout: 15_000 });
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n')));
};

const call = (name: Name, event: LambdaEvent): string =>
  `await (await import(files['${name}'])).handler(${JSON.stringify(event)}, { getRemainingTimeInMillis: () => 30000 })`;
const statusOf = (name: Name, event: LambdaEvent): string => `(${call(name, event)}).statusCode`;

describe('a cold start', () => {
  it.each(NAMES)(
    'of the %s, as the stack bundles it, exports a handler and reaches for nothing [C141]',
    async (name) => {
      const script = `const all = await import(files['${name}']); return { type: typeof all.handler, reached };`;
      expect(await run(script, SETTINGS)).toEqual({ type: 'function', reached: [] });
    },
  );

  it.each([
    ['intake', 'ONCEWARD_TABLE'],
    ['receiver', 'ONCEWARD_PUSH_SECRET'],
    ['sqs-receiver', 'ONCEWARD_SQS_QUEUE_URL'],
    ['operator', 'ONCEWARD_TABLE'],
    ['reconciler', 'ONCEWARD_INFRAI_KEY'],
  ] as const)('of the %s stops with the name of a setting that is missing: %s', async (name, setting) => {
    const { [setting]: _left, ...rest } = SETTINGS;
    const script = `return await import(files['${name}']).then(() => 'started', (error) => error.message);`;
    expect(await run(script, rest)).toBe(`setting ${setting} is missing`);
  });
});

describe('a handler in the cloud', () => {
  it('answers who is not signed in before it reaches for anything', async () => {
    const script = `return [
      ${statusOf('intake', eventV2({ path: '/v1/events', body: '{}' }))},
      ${statusOf('operator', eventV2({ method: 'GET', path: '/v1/destinations' }))},
      ${statusOf('receiver', eventV2({ path: '/push/infrai', body: '{}' }))},
      reached.length,
    ];`;
    expect(await run(script, SETTINGS)).toEqual([401, 401, 401, 0]);
  });

  it('answers for its health, and refuses a broken base64 body, in both payload formats [C098]', async () => {
    const checks = FACES.flatMap((name) =>
      [eventV1, eventV2].flatMap((eventOf) => [
        statusOf(name, eventOf({ method: 'GET', path: '/healthz' })),
        statusOf(name, eventOf({ path: '/push/infrai', body: '!', base64: true })),
      ]),
    );
    expect(await run(`return [${checks.join(', ')}];`, SETTINGS)).toEqual(Array(6).fill([200, 400]).flat());
  });

  it('says 503 with a problem when the ledger cannot be reached', async () => {
    const event = eventV2({ path: '/v1/events', body: '{}', headers: { authorization: 'Bearer a-token-of-16-chars' } });
    const script = `const answer = ${call('intake', event)};
      return { status: answer.statusCode, code: JSON.parse(answer.body).code, tried: reached.length > 0 };`;
    expect(await run(script, SETTINGS)).toEqual({ status: 503, code: 'ledger-unavailable', tried: true });
  });
});

describe('the receiver of SQS, as it is bundled', () => {
  const queueArn = 'arn:aws:sqs:eu-central-1:123456789012:onceward';
  const message = '{"kind":"deliver","format":1,"event":"e-1","destination":"partner"}';
  const batch = sqsBatch(
    sqsRecord('m-1', message, { eventSourceARN: queueArn }),
    sqsRecord('m-2', message, { eventSourceARN: `${queueArn}-of-somebody-else` }),
  );
  const failed = [{ itemIdentifier: 'm-1' }, { itemIdentifier: 'm-2' }];

  it.each([
    ['0', false],
    ['1', false],
    ['undefined', true],
    ['30000', true],
  ])(
    'with %s ms left: names what it cannot do, and looks into the ledger only where there is time',
    async (left, tries) => {
      const script = `const { handler } = await import(files['sqs-receiver']);
      const answer = await handler(${JSON.stringify(batch)}, { getRemainingTimeInMillis: () => ${left} });
      return { ...answer, tried: reached.length > 0 };`;
      const { batchItemFailures, tried } = z.parse(batchReport, await run(script, SETTINGS));
      expect(batchItemFailures.toSorted((a, b) => a.itemIdentifier.localeCompare(b.itemIdentifier))).toEqual(failed);
      expect(tried).toBe(tries);
    },
  );
});

const batchReport = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })),
  tried: z.boolean(),
});

describe('the reconciler', () => {
  const script = `return await (await import(files.reconciler)).handler(${JSON.stringify(scheduledEvent)});`;

  it('enqueues one message a shard and returns the counts', async () => {
    const queue = await openPublishStub();
    const settings = { ...SETTINGS, ONCEWARD_TRANSPORT: 'infrai', ONCEWARD_INFRAI_URL: queue.url };
    const counts = await run(script, settings, false).finally(queue.close);
    expect(counts).toEqual({ tick: expect.any(Number), enqueued: DUE_SHARDS, failed: 0 });
    const shards = queue.messages.map((one) => z.parse(z.object({ kind: z.literal('sweep'), shard: z.number() }), one));
    expect(shards.map(({ shard }) => shard).sort()).toEqual([0, 1, 2, 3]);
  });

  it('returns what it could not enqueue when the queue is away, and does not throw', async () => {
    expect(await run(script, SETTINGS)).toEqual({ tick: expect.any(Number), enqueued: 0, failed: DUE_SHARDS });
  });
});
