/** The command line over a world in process: the same program, with a terminal of strings and the apps as its network. */
import type { Right } from '../../functions/core/items.ts';
import { createClient, type Wire } from '../../functions/operator/cli/client.ts';
import { createQueueDesk } from '../../functions/operator/cli/infrai.ts';
import { runCli } from '../../functions/operator/cli/run.ts';
import type { Shell } from '../../functions/operator/cli/shell.ts';
import type { TestWorld } from './world.ts';

export interface Ran {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  /** The token's right; `undefined` for none at all. */
  readonly right?: Right;
  readonly token?: string | undefined;
  readonly shell?: Partial<Shell>;
  readonly wire?: Partial<Wire>;
  /** What a person at the terminal says; without it, nobody is there. */
  readonly says?: boolean;
  readonly files?: Readonly<Record<string, string>>;
}

const OPERATOR = 'http://operator.test';
const INTAKE = 'http://intake.test';

/** The apps as a network: what a request to one of the two hosts is answered. */
export const appsAsWire = (world: TestWorld): Wire['callOnce'] => {
  return async ({ method, url, headers, body }) => {
    const app = url.startsWith(INTAKE) ? world.apps.intake : world.apps.operator;
    const response = await app.request(url, { method, headers, ...(body === undefined ? {} : { body }) });
    return {
      kind: 'answer',
      status: response.status,
      text: await response.text(),
      contentType: response.headers.get('content-type') ?? '',
      header: (name) => response.headers.get(name) ?? undefined,
    };
  };
};

export const ran = async (world: TestWorld, args: readonly string[], options: CliOptions = {}): Promise<Ran> => {
  let [out, err] = ['', ''];
  const token = 'token' in options ? options.token : world.token(options.right ?? 'admin');
  const wire: Wire = {
    callOnce: appsAsWire(world),
    retries: async (once) => (await once(1_000)).result,
    tryMs: 1_000,
    ...options.wire,
  };
  const shell: Shell = {
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
    ...(options.says === undefined ? {} : { ask: async () => options.says === true }),
    read: async (path) => {
      const text = options.files?.[path];
      if (text === undefined) throw new Error('no such file');
      return Buffer.from(text);
    },
    client: () => createClient({ url: OPERATOR, intakeUrl: INTAKE, ...(token === undefined ? {} : { token }) }, wire),
    queue: createQueueDesk({}, wire),
    callOnce: wire.callOnce,
    clock: world.clock,
    dice: world.ports.dice,
    ...options.shell,
  };
  const exit = await runCli(args, shell);
  return { exit, out, err };
};
