/**
 * The ten questions of 3 a.m., asked in the local world: each by the one command, the one route and the one page that the
 * README's table names for it, and all three have to know the answer.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callOnce } from '../../functions/adapters/http-caller.ts';
import { systemClock, systemDice } from '../../functions/adapters/system.ts';
import { silentTelemetry } from '../../functions/adapters/telemetry.ts';
import { createClient, type Wire } from '../../functions/operator/cli/client.ts';
import { createQueueDesk } from '../../functions/operator/cli/infrai.ts';
import { runCli } from '../../functions/operator/cli/run.ts';
import { demoWorldOptions } from '../../infra/local/demo/options.ts';
import { Stage } from '../../infra/local/demo/stage.ts';
import { type LocalWorld, openWorld } from '../../infra/local/world.ts';
import { wordsIn } from '../support/console.ts';

const TOKEN = 'test-admin-token-0123456789';

const WIRE: Wire = { callOnce, retries: async (once) => (await once(5_000)).result, tryMs: 5_000 };

let world: LocalWorld;
let stage: Stage;
let operation = '';

const onceward = async (command: string): Promise<{ exit: number; out: string; err: string }> => {
  let [out, err] = ['', ''];
  const exit = await runCli(words(command), {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    colour: false,
    cuts: true,
    live: false,
    columns: 100,
    read: (path) => readFile(path),
    client: () => createClient({ url: world.url, intakeUrl: world.url, token: TOKEN }, WIRE),
    queue: createQueueDesk({}, WIRE),
    callOnce,
    clock: systemClock,
    dice: systemDice,
  });
  return { exit, out, err };
};

/** As a shell splits a line: by blanks, and a quoted part is one word. */
const words = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

const settled = (event: string, status: string) => stage.until(event, 'partner', (row) => row.status === status);

beforeAll(async () => {
  world = await openWorld({ ...demoWorldOptions(TOKEN, silentTelemetry), tickMs: 3_600_000 });
  stage = new Stage(world.url, TOKEN, world.partner, world.url);
  const set = (id: string, more: string) =>
    onceward(`destination set ${id} --url ${world.url}/partner/${id}${more} --repeat-safe yes --schedule "" --yes`);
  await set('partner', '');
  await set('broken', '?status=500');
  const send = (id: string, to: string) => onceward(`event send --id ${id} --to ${to} --payload 1 --yes`);
  await send('order-1', 'partner');
  await settled('order-1', 'delivered');
  await send('order-2', 'broken');
  await stage.until('order-2', 'broken', (row) => row.status === 'quarantined');
  await onceward('destination pause partner --reason "their maintenance" --yes');
  await send('order-3', 'partner');
  await stage.until('order-3', 'partner', (row) => row.reason === 'paused');
  const plan = await onceward('redrive plan --source quarantine --reason "they are back" --json');
  operation = (JSON.parse(plan.out) as { operation: string }).operation;
});

afterAll(() => world.close());

/** What a page says to whoever signs in with the token. */
const pageOf = async (path: string): Promise<string> => {
  const signedIn = await fetch(`${world.url}/console/sign-in`, {
    method: 'POST',
    headers: { origin: world.url, 'content-type': 'application/x-www-form-urlencoded' },
    body: `token=${TOKEN}`,
    redirect: 'manual',
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const answer = await fetch(`${world.url}${path}`, { headers: { cookie } });
  expect([path, answer.status]).toEqual([path, 200]);
  return wordsIn(await answer.text());
};

/** By the number of the question: what its command must say, what its route, and what its page. */
const ANSWERS: readonly (readonly [text: RegExp, json: object, page: RegExp])[] = [
  [
    /One request, one recorded success: one effect/,
    { effect: 'one', recordedSuccesses: 1 },
    /One request, one recorded success: one effect/,
  ],
  [
    /order-2 +broken +quarantined +budget/,
    { items: [{ event: 'order-2', reason: 'budget' }] },
    /order-2 broken budget/,
  ],
  [
    /paused since \S+ by local-admin: their maintenance/,
    { next: { gate: { pausedBecause: 'their maintenance' } } },
    /paused since \S+ by local-admin: their maintenance/,
  ],
  [
    /Nothing by itself: all attempts are spent/,
    { next: { kind: 'person', reason: 'budget' } },
    /Nothing by itself: all attempts are spent/,
  ],
  [
    /local-admin +pause +partner +their maintenance +done/,
    {
      items: [
        { actor: 'local-admin', command: 'pause', reason: 'their maintenance', result: 'done' },
        { actor: 'local-admin', command: 'set', destination: 'partner' },
      ],
    },
    /local-admin pause partner their maintenance/,
  ],
  [/over-budget +1 +held for a person/, { found: { 'over-budget': 1 } }, /over-budget 1 held for a person/],
  [/state +(running|done)/, { planned: 1 }, /[01] of 1 acted on/],
  [
    /broken +active .*1/,
    { items: [{ destination: 'partner' }, { destination: 'broken', failures: { count: 1 } }] },
    /broken active 1 safe/,
  ],
  [/quarantined +1/, { quarantined: 1, parked: 1 }, /shard 0 \d+ s ago.*In flight \d/],
  [
    /nothing was altered/,
    { items: [{ event: 'order-1', destination: 'partner' }] },
    /partner whole \d+ entries lead to the head/,
  ],
];

describe("the README's ten questions", async () => {
  const readme = await readFile('README.md', 'utf8');
  const rows = [
    ...readme.matchAll(
      /^\| (\d+)\. ([^|]+?) *\| `onceward ([^`]+)` *\| `(GET|POST) ([^`]+)` *\| `(\/console[^`]*)` *\|$/gm,
    ),
  ];

  it('are ten', () => expect(rows.map(([, number]) => Number(number))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));

  it.each(
    rows.map(([, n = '', asks = '', command = '', method = '', path = '', page = '']) => [
      `${n}. ${asks}`,
      n,
      command,
      method,
      path,
      page,
    ]),
  )('%s', async (_asks, n = '', command = '', method = '', path = '', page = '') => {
    const [text, json, seen] = ANSWERS[Number(n) - 1] ?? [];
    if (n === '7') await onceward(`redrive run ${operation} --reason "the plan is right" --yes --detach`);
    const { exit, out, err } = await onceward(command.replace('OPERATION', operation));
    expect([exit, err]).toEqual([0, '']);
    expect(out).toMatch(text ?? /^$/);
    const body = method === 'POST' ? { source: 'quarantine', limit: 100, why: 'they are back' } : undefined;
    const key = { 'idempotency-key': `question-${n}` };
    const answer = await stage.call(method, path.replace('OPERATION', operation), body, key);
    expect(answer.status).toBeLessThan(300);
    expect(answer.body).toMatchObject(json ?? {});
    expect(await pageOf(page.replace('OPERATION', operation))).toMatch(seen ?? /^$/);
  });
});
