/**
 * The product in one process for tests: the real apps over the twin of the ledger, a clock that stands still, dice of a
 * seed, a queue that records, a sender that answers as it is told.
 *
 *   submit --> intake --> queue --run--> receiver --> sender
 *                           ^               |
 *                           +-- next plan --+        everything that was written: `store.writes`
 */
import { createHmac } from 'node:crypto';
import { toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { createLedger } from '../../functions/adapters/ledger/ledger.ts';
import type { MemoryStore, Write } from '../../functions/adapters/ledger/memory-store.ts';
import { createTwin, type Operation } from '../../functions/adapters/ledger/twin.ts';
import { createInfraiPush, type InfraiPushSettings } from '../../functions/adapters/queue/infrai/push.ts';
import { createLedgerSecrets } from '../../functions/adapters/secrets.ts';
import { type DestinationId, type EventId, parseDestinationId, parseEventId } from '../../functions/core/ids.ts';
import type { Right, Token } from '../../functions/core/items.ts';
import { FUNCTION_MS, TICK_MS } from '../../functions/core/limits.ts';
import type { Delivery } from '../../functions/core/model.ts';
import type { TargetPolicy } from '../../functions/core/target.ts';
import { RIGHTS, tokenHash } from '../../functions/http/auth.ts';
import { remainingMsOf } from '../../functions/http/lambda.ts';
import { createIntakeApp } from '../../functions/intake/app.ts';
import { createOperatorApp } from '../../functions/operator/api/app.ts';
import { type Ledger, PortUnavailable } from '../../functions/ports.ts';
import { createReceiverApp } from '../../functions/receiver/app.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import { tick } from '../../functions/reconciler/tick.ts';
import { VirtualClock } from './virtual-clock.ts';
import {
  type HeldDeadLetters,
  heldDeadLetters,
  type RecordedTelemetry,
  type RecordingQueue,
  recordedTelemetry,
  recordingQueue,
  type ScriptedSender,
  scriptedSender,
  seededDice,
  slotsInMemory,
} from './world-ports.ts';

export const PUSH_SECRET = 'the-secret-of-the-push-side';

export interface WorldOptions {
  readonly seed?: number;
  readonly scheme?: Partial<InfraiPushSettings>;
  readonly policy?: TargetPolicy;
  /** Puts something between the functions and their ports. */
  readonly reshape?: (ports: Receiver) => Receiver;
}

export interface Answered {
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
  /** The body as JSON, or its text where it is none. */
  readonly body: unknown;
}

export interface PushOptions {
  readonly messageId?: string;
  /** Instead of the ones that belong to the body. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly remainingMs?: unknown;
}

export interface CallOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface App {
  request(path: string, init?: RequestInit, env?: unknown): Response | Promise<Response>;
}

export interface TestWorld {
  readonly ports: Receiver;
  readonly clock: VirtualClock;
  readonly store: MemoryStore;
  readonly queue: RecordingQueue;
  readonly deadLetters: HeldDeadLetters;
  readonly sender: ScriptedSender;
  readonly telemetry: RecordedTelemetry;
  readonly apps: { readonly intake: App; readonly receiver: App; readonly operator: App };
  /** Straight to the records: not counted, and never away. */
  readonly records: Ledger;
  /** Called around every request to the ledger; may wait or throw. */
  readonly ledgerHooks: {
    before?: ((operation: Operation) => unknown) | undefined;
    after?: ((operation: Operation) => unknown) | undefined;
  };
  /** Ledger requests that went out so far. */
  readonly asked: readonly Operation[];

  /** A bearer token that has this one right. There is one for each from the start. */
  token(right: Right): string;
  call(app: 'intake' | 'receiver' | 'operator', method: string, path: string, options?: CallOptions): Promise<Answered>;
  /** A destination that honours keys, unless the settings say otherwise. */
  destination(id: string, settings?: Readonly<Record<string, unknown>>): Promise<Answered>;
  submit(event: Readonly<Record<string, unknown>> | readonly unknown[] | string): Promise<Answered>;
  /** An event for one destination, accepted; its message is not yet pushed. */
  accepted(event: string, destination: string): Promise<void>;
  /** Pushes a message, wrapped and signed as the queue does it. */
  push(message: unknown, options?: PushOptions): Promise<Answered>;
  /** Pushes a body as it is, signed. */
  pushBody(body: Uint8Array | string, options?: PushOptions): Promise<Answered>;
  deliver(event: string, destination: string, options?: PushOptions): Promise<Answered>;
  row(event: string, destination: string): Promise<Delivery>;
  /** What was written while the work was done. */
  writesOf(work: () => Promise<unknown>): Promise<readonly Write[]>;
  /** Moves the clock until the work is done. */
  finish<T>(work: Promise<T>): Promise<T>;
  /** Pushes what the queue holds, each message at its time, as long as that comes within `ms`. */
  run(ms: number): Promise<void>;
  /** One tick of the schedule. */
  tick(): Promise<void>;
  ledgerAway(): void;
  ledgerBack(): void;
}

export const eventId = (text: string): EventId => {
  const parsed = parseEventId(text);
  if (parsed.kind === 'bad') throw new TypeError(`event id ${parsed.reason}`);
  return parsed.id;
};
export const destinationId = (text: string): DestinationId => {
  const parsed = parseDestinationId(text);
  if (parsed.kind === 'bad') throw new TypeError(`destination id ${parsed.reason}`);
  return parsed.id;
};

export const deliverMessage = (event: string, destination: string) => ({
  kind: 'deliver',
  format: 1,
  event,
  destination,
});

const SCHEME: InfraiPushSettings = { secrets: [PUSH_SECRET], signatureHeader: 'x-infrai-signature', prefix: '' };

/** The headers with which the queue sends this body. */
export const signed = (body: Uint8Array, scheme: InfraiPushSettings, nowMs: number): Record<string, string> => {
  const { timestampHeader, signatureHeader, prefix, secrets } = scheme;
  const seconds = String(Math.floor(nowMs / 1_000));
  const head = timestampHeader === undefined ? '' : `${seconds}.`;
  const digest = createHmac('sha256', secrets[0] ?? '')
    .update(head)
    .update(body)
    .digest('hex');
  return {
    [signatureHeader]: `${prefix}${digest}`,
    ...(timestampHeader === undefined ? {} : { [timestampHeader]: seconds }),
  };
};

export const openTestWorld = (options: WorldOptions = {}): TestWorld => {
  const clock = new VirtualClock();
  const ledgerHooks: TestWorld['ledgerHooks'] = {};
  const asked: Operation[] = [];
  const twin = createTwin({
    clock,
    intercept: async (operation) => {
      asked.push(operation);
      await ledgerHooks.before?.(operation);
    },
    after: async (operation) => void (await ledgerHooks.after?.(operation)),
  });
  putTokens(twin.store, clock.nowMs());
  const queue = recordingQueue(clock);
  const deadLetters = heldDeadLetters();
  const sender = scriptedSender(clock);
  const telemetry = recordedTelemetry();
  const scheme = { ...SCHEME, ...options.scheme };
  const plain: Receiver = {
    ledger: twin.ledger,
    pages: twin.pages,
    pace: slotsInMemory(),
    queue,
    deadLetters,
    push: createInfraiPush(scheme),
    sender,
    secrets: createLedgerSecrets(twin.ledger, clock),
    telemetry,
    clock,
    dice: seededDice(options.seed ?? 1),
    tickMs: TICK_MS,
  };
  const ports = options.reshape?.(plain) ?? plain;
  const apps = {
    intake: createIntakeApp(ports),
    receiver: createReceiverApp(ports, { transport: 'infrai', remainingMs: remainingMsOf }),
    operator: createOperatorApp(ports, options.policy ?? { allowLocal: false }),
  };
  const records = createLedger(twin.store);
  const parts = {
    ports,
    clock,
    store: twin.store,
    queue,
    deadLetters,
    sender,
    telemetry,
    apps,
    records,
    ledgerHooks,
    asked,
  };
  return { ...parts, ...verbsOf(parts, scheme) };
};

type Parts = Pick<
  TestWorld,
  | 'ports'
  | 'clock'
  | 'store'
  | 'queue'
  | 'deadLetters'
  | 'sender'
  | 'telemetry'
  | 'apps'
  | 'records'
  | 'ledgerHooks'
  | 'asked'
>;

const verbsOf = (parts: Parts, scheme: InfraiPushSettings): Omit<TestWorld, keyof Parts> => {
  const http = httpVerbs(parts);
  const pushing = pushVerbs(parts, scheme);
  const away = (): never => {
    throw new PortUnavailable('ledger', 'the ledger is away');
  };
  return {
    ...http,
    ...pushing,
    accepted: async (event, destination) => {
      const answer = await http.submit({ id: event, payload: { n: 1 }, destinations: [destination] });
      if (answer.status !== 202) throw new Error(`not accepted: ${answer.text}`);
    },
    row: async (event, destination) => {
      const ref = { item: 'delivery', event: eventId(event), destination: destinationId(destination) } as const;
      const found = await parts.records.load(ref);
      if (found.kind !== 'found') throw new Error(`delivery of ${event} to ${destination}: ${found.kind}`);
      return found.item;
    },
    writesOf: async (work) => {
      const before = parts.store.writes.length;
      await work();
      return parts.store.writes.slice(before);
    },
    finish: (work) => finish(parts.clock, work),
    tick: async () => void (await tick(parts.ports, parts.ports.tickMs)),
    ledgerAway: () => {
      parts.ledgerHooks.before = away;
    },
    ledgerBack: () => {
      delete parts.ledgerHooks.before;
    },
  };
};

export const tokenOf = (right: Right): string => `token-for-${right}-0123456789`;

const putTokens = (store: MemoryStore, nowMs: number): void => {
  for (const token of tokenItems(nowMs)) store.poke(toItem(token));
};

/** One for each right, for a world over another ledger than its own. */
export const tokenItems = (nowMs: number): readonly Token[] =>
  RIGHTS.map((right) => ({
    item: 'token',
    version: 1,
    hash: tokenHash(tokenOf(right)),
    name: `holder-of-${right}`,
    rights: [right],
    createdAtMs: nowMs,
    carried: {},
  }));

const httpVerbs = ({ apps }: Parts): Pick<TestWorld, 'token' | 'call' | 'destination' | 'submit'> => {
  const call: TestWorld['call'] = async (app, method, path, { token: bearer, body, headers } = {}) => {
    const init: RequestInit = {
      method,
      headers: { ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }), ...headers },
    };
    if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body);
    return answeredBy(await apps[app].request(path, init));
  };
  return {
    token: tokenOf,
    call,
    destination: (id, settings) =>
      call('operator', 'PUT', `/v1/destinations/${encodeURIComponent(id)}`, {
        token: tokenOf('admin'),
        body: { url: 'https://partner.example/hook', repeatSafe: true, ...settings },
      }),
    submit: (event) => call('intake', 'POST', '/v1/events', { token: tokenOf('send'), body: event }),
  };
};

const pushVerbs = (
  { apps, clock, queue }: Parts,
  scheme: InfraiPushSettings,
): Pick<TestWorld, 'push' | 'pushBody' | 'deliver' | 'run'> => {
  let pushed = 0;
  const pushBody: TestWorld['pushBody'] = async (body, { headers, remainingMs = FUNCTION_MS } = {}) => {
    const bytes = Uint8Array.from(typeof body === 'string' ? Buffer.from(body) : body);
    const init = { method: 'POST', body: bytes, headers: headers ?? signed(bytes, scheme, clock.nowMs()) };
    const env = { lambdaContext: { getRemainingTimeInMillis: () => remainingMs } };
    return answeredBy(await apps.receiver.request('/push/infrai', init, env));
  };
  const push: TestWorld['push'] = (message, options = {}) => {
    pushed += 1;
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    return pushBody(
      `{"message_id":${JSON.stringify(options.messageId ?? `test_${pushed}`)},"payload":${text}}`,
      options,
    );
  };
  return {
    pushBody,
    push,
    deliver: (event, destination, options) => push(deliverMessage(event, destination), options),
    run: (ms) => runQueue({ clock, queue, push }, clock.nowMs() + ms),
  };
};

const runQueue = async (
  { clock, queue, push }: Pick<TestWorld, 'clock' | 'queue' | 'push'>,
  endMs: number,
): Promise<void> => {
  for (let next = queue.take(endMs); next !== undefined; next = queue.take(endMs)) {
    await clock.advance(Math.max(0, next.atMs - clock.nowMs()));
    await finish(clock, push(next.body, { messageId: next.messageId }));
  }
  await clock.advance(Math.max(0, endMs - clock.nowMs()));
};

const STEP_MS = 50;
const STEPS_MAX = 20_000;

const finish = async <T>(clock: VirtualClock, work: Promise<T>): Promise<T> => {
  let over = false;
  const end = (): void => {
    over = true;
  };
  work.then(end, end);
  await new Promise((resolve) => setImmediate(resolve));
  for (let steps = 0; !over; steps += 1) {
    if (steps > STEPS_MAX) throw new Error('the work does not end, however far the clock is moved');
    await clock.advance(STEP_MS);
  }
  return work;
};

const answeredBy = async (response: Response): Promise<Answered> => {
  const text = await response.text();
  const contentType = response.headers.get('content-type');
  return { status: response.status, contentType, text, body: contentType?.includes('json') ? JSON.parse(text) : text };
};
