/**
 * A local world that is to be killed: everything real, its data on disk, its queue in its own memory. It writes down
 * what happens in which order, and may kill itself at its n-th call of a port.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { openSync, writeSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { silentTelemetry } from '../../../functions/adapters/telemetry.ts';
import type { Item } from '../../../functions/core/items.ts';
import type { Ledger } from '../../../functions/ports.ts';
import type { Receiver } from '../../../functions/receiver/run.ts';
import { demoWorldOptions } from '../../../infra/local/demo/options.ts';
import { openWorld } from '../../../infra/local/world.ts';
import type { Happened } from './order.ts';

/** By the command line, as JSON. */
export interface ChildOptions {
  readonly dataDir: string;
  readonly token: string;
  readonly orderFile: string;
  readonly seed: number;
  /** The call of a port, counted from 1, at which it dies; 0 for none. */
  readonly dieAtCall: number;
  readonly dieBefore: boolean;
  /** The clock of this process runs so far ahead of the machine's. */
  readonly aheadMs: number;
  readonly chaos: boolean;
}

const options = JSON.parse(process.argv[2] ?? '{}') as ChildOptions;

const machineNow = Date.now;
Date.now = () => machineNow() + options.aheadMs;

const order = openSync(options.orderFile, 'a');
const note = (happened: Happened): void => void writeSync(order, `${JSON.stringify(happened)}\n`);

// ---- which push does it -------------------------------------------------------------------------------------------

const pushes = new AsyncLocalStorage<number>();
const numbers = new WeakMap<IncomingMessage, number>();
let requests = 0;
const pushOf = (): number => pushes.getStore() ?? 0;

subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage };
  requests += 1;
  numbers.set(request, requests);
  pushes.enterWith(requests);
});
subscribe('http.server.response.finish', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const path = request.url ?? '';
  if (!path.startsWith('/push/')) return;
  note({ kind: 'acknowledged', push: numbers.get(request) ?? 0, path, status: response.statusCode });
});

// ---- where it dies ------------------------------------------------------------------------------------------------

let calls = 0;

/** Nothing runs after this: no handler, no flush. */
const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
};

const deadly = <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
  return async (...args: Args): Promise<Result> => {
    calls += 1;
    const here = calls === options.dieAtCall;
    if (here && options.dieBefore) return die();
    const result = await call(...args);
    return here ? die() : result;
  };
};

const noteWritten = (read: Item | undefined, next: Item): void => {
  if (next.item !== 'delivery') return;
  const known = read?.item === 'delivery' ? read.journal.lines.length : 0;
  const entries = next.journal.lines.slice(known).map(({ entry }) => ({
    kind: entry.kind,
    ...(entry.attempt === undefined ? {} : { attempt: entry.attempt }),
    ...(entry.class === undefined ? {} : { class: entry.class }),
  }));
  note({ kind: 'wrote', push: pushOf(), event: next.event, destination: next.destination, entries });
};

const notedLedger = (ledger: Ledger): Ledger => ({
  ...ledger,
  load: deadly((ref) => ledger.load(ref)) as Ledger['load'],
  loadDestination: deadly((id) => ledger.loadDestination(id)),
  create: deadly(async (item) => {
    const written = await ledger.create(item);
    if (written.kind === 'written') noteWritten(undefined, item as Item);
    return written;
  }) as Ledger['create'],
  replace: deadly(async (read, next) => {
    const written = await ledger.replace(read, next);
    if (written.kind === 'written') noteWritten(read as Item, next as Item);
    return written;
  }) as Ledger['replace'],
});

const reshape = (world: Receiver): Receiver => ({
  ...world,
  ledger: notedLedger(world.ledger),
  pace: { take: deadly((...args) => world.pace.take(...args)) },
  queue: { ...world.queue, publish: deadly((publication) => world.queue.publish(publication)) },
  sender: {
    ...world.sender,
    send: deadly(async (request) => {
      const push = pushOf();
      const key = request.headers['webhook-id'] ?? '';
      note({ kind: 'sends', push, key });
      const answer = await world.sender.send(request);
      note({ kind: 'answered', push, key, ...(answer.kind === 'answered' ? { status: answer.status } : {}) });
      return answer;
    }),
  },
});

const CHAOS = {
  duplicate: 0.1,
  reorder: 0.1,
  delay: { share: 0.1, ms: 1_500 },
  loseAnswer: 0.05,
  losePublishAnswer: 0.05,
};

const world = await openWorld({
  ...demoWorldOptions(options.token, silentTelemetry),
  tickMs: 1_000,
  dataDir: options.dataDir,
  reshape,
  ...(options.chaos ? { chaos: { seed: options.seed, ...CHAOS } } : {}),
});
note({ kind: 'up' });
console.log(world.url);
// Nobody is left to kill it.
process.stdin.once('end', () => process.exit(1)).resume();
process.once('SIGTERM', () => {
  void world.close().then(() => process.exit(0));
});
