/**
 * Product and queue in motion, on a virtual clock: what is published is really pushed to the receiver at its time, by a
 * number of workers side by side, again if it was refused, and to the dead letters after the third time.
 *
 *   publish --(delay)--> due --(a free worker)--> receive -+- ack ------> gone
 *      ^                  ^                                +- no ack ----> again 6 s later, three times in all, then dead
 *      +---- what the receiver plans -----------------------+
 *
 * Every push is recorded with what came of it, and with how many writes stood in the ledger when its re-check began: by
 * that the order of two workers is read, not guessed from times.
 */
import { expect } from 'vitest';
import { fromItem } from '../../functions/adapters/ledger/codec/codec.ts';
import type { Write } from '../../functions/adapters/ledger/memory-store.ts';
import { BREAKER_ACTOR } from '../../functions/core/breaker.ts';
import { payloadHash } from '../../functions/core/fingerprint.ts';
import { parseRequestId, type RequestId } from '../../functions/core/ids.ts';
import type { Gate, ItemKind, ItemOf } from '../../functions/core/items.ts';
import { FUNCTION_MS, PROBE_EVERY_MS, PUSH_ANSWER_MS } from '../../functions/core/limits.ts';
import type { Delivery } from '../../functions/core/model.ts';
import type { Answer } from '../../functions/core/outcome.ts';
import { pauseDestination, resumeDestination } from '../../functions/operator/commands/pause.ts';
import type { Clock, Publication, Published, Queue, QueueLimits } from '../../functions/ports.ts';
import { receive } from '../../functions/receiver/receive.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import { tick } from '../../functions/reconciler/tick.ts';
import { accept } from '../../functions/steps/accept.ts';
import { swapGate } from '../../functions/steps/gate.ts';
import { DueHeap } from '../../infra/local/queue/due-heap.ts';
import { submissionOf } from './machine.ts';
import type { VirtualClock } from './virtual-clock.ts';
import { destinationId, eventId, openTestWorld, PUSH_SECRET, signed, type TestWorld } from './world.ts';
import type { Reaction } from './world-ports.ts';

export const SEVEN_DAYS: QueueLimits = { delayMsMax: 604_800_000, messageBytesMax: 262_144 };
export const FIFTEEN_MINUTES: QueueLimits = { delayMsMax: 900_000, messageBytesMax: 262_144 };

const KEYS_KEPT_MS = 86_400_000;
const AGAIN_MS = 6_000;
const DELIVERIES_MAX = 3;
const SCHEME = { secrets: [PUSH_SECRET], signatureHeader: 'x-infrai-signature', prefix: '' } as const;

// ---- queue --------------------------------------------------------------------------------------------------------

export interface Message extends Publication {
  readonly messageId: string;
  readonly kind: string;
  readonly event: string | undefined;
  readonly publishedAtMs: number;
  /** From when it may be pushed. */
  readonly atMs: number;
}

export interface PushQueue extends Queue {
  /** Every message that was taken, lost ones too; a repeated key makes none. */
  readonly published: readonly Message[];
  readonly dead: readonly Message[];
  /** Publishes under a key that was known already. */
  readonly repeated: number;
  readonly waiting: number;
  /** While true, no publish goes through. */
  away: boolean;
  /** Says of a message that is taken: it gets lost without a trace. */
  loses: (message: Message) => boolean;
  /** Starts pushing. `push` is true if the message was acknowledged. */
  attach(clock: VirtualClock, workers: number, push: (message: Message) => Promise<boolean>): void;
}

const readKind = (body: string): { kind: string; event: string | undefined } => {
  const { kind, event } = JSON.parse(body);
  return { kind: String(kind), event: typeof event === 'string' ? event : undefined };
};

interface Held {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly heap: DueHeap;
  readonly messages: Map<string, { readonly message: Message; deliveries: number }>;
  readonly dead: Message[];
}

/** `lateMs`: how long a message that is due waits before it is pushed. */
export const pushQueue = (
  clock: Pick<Clock, 'nowMs'>,
  limits: QueueLimits = SEVEN_DAYS,
  lateMs: number = 0,
): PushQueue => {
  const known = new Map<string, Message>();
  const held: Held = { clock, heap: new DueHeap(), messages: new Map(), dead: [] };
  const published: Message[] = [];
  let arm = (): void => {};
  let repeated = 0;

  const publish = async (publication: Publication): Promise<Published> => {
    const { key, delaySec } = publication;
    // The real one refuses such a delay; here it is a bug of the product, and loud.
    const fits = Number.isSafeInteger(delaySec) && delaySec >= 0 && delaySec * 1_000 <= limits.delayMsMax;
    if (!fits) throw new RangeError(`a delay of ${delaySec} seconds`);
    if (queue.away) return { kind: 'failed', code: 'unavailable', detail: 'the queue is away' };
    const nowMs = clock.nowMs();
    const first = known.get(key);
    if (first !== undefined && nowMs - first.publishedAtMs < KEYS_KEPT_MS) {
      repeated += 1;
      return { kind: 'published', messageId: first.messageId };
    }
    const messageId = `m${published.length + 1}`;
    const atMs = nowMs + delaySec * 1_000 + lateMs;
    const message: Message = { ...publication, ...readKind(publication.body), messageId, publishedAtMs: nowMs, atMs };
    known.set(key, message);
    published.push(message);
    if (queue.loses(message)) return { kind: 'published', messageId };
    held.messages.set(messageId, { message, deliveries: 0 });
    held.heap.push(atMs, messageId);
    arm();
    return { kind: 'published', messageId };
  };

  const queue: PushQueue = {
    limits,
    published,
    dead: held.dead,
    get repeated() {
      return repeated;
    },
    get waiting() {
      return held.messages.size;
    },
    away: false,
    loses: () => false,
    publish,
    attach: (timers, workers, push) => {
      arm = pumping(held, timers, workers, push);
    },
  };
  return queue;
};

/** Pushes what is due as workers are free. Gives what has to be called when something new waits. */
const pumping = (
  { clock, heap, messages, dead }: Held,
  timers: VirtualClock,
  workers: number,
  push: (message: Message) => Promise<boolean>,
): (() => void) => {
  let busy = 0;
  let alarm: { readonly atMs: number; readonly callOff: () => void } | undefined;

  const carry = async (messageId: string): Promise<void> => {
    const entry = messages.get(messageId);
    if (entry === undefined) return;
    busy += 1;
    entry.deliveries += 1;
    const acknowledged = await push(entry.message);
    busy -= 1;
    if (acknowledged) messages.delete(messageId);
    else if (entry.deliveries < DELIVERIES_MAX) heap.push(clock.nowMs() + AGAIN_MS, messageId);
    else {
      messages.delete(messageId);
      dead.push(entry.message);
    }
    pump();
  };

  const pump = (): void => {
    while (heap.first !== undefined && heap.first.atMs <= timers.nowMs() && busy < workers) {
      const { id } = heap.first;
      heap.shift();
      void carry(id);
    }
    arm();
  };

  // Nothing is pushed but by the clock, so that a test can arrange things before it lets it run.
  const arm = (): void => {
    const first = heap.first;
    if (first === undefined || busy >= workers) return;
    const atMs = Math.max(first.atMs, timers.nowMs());
    if (alarm !== undefined && alarm.atMs > timers.nowMs() && alarm.atMs <= atMs) return;
    alarm?.callOff();
    alarm = { atMs, callOff: timers.after(atMs - timers.nowMs(), pump) };
  };
  return arm;
};

// ---- flow ---------------------------------------------------------------------------------------------------------

export interface PushRecord {
  readonly message: Message;
  readonly atMs: number;
  endedAtMs?: number;
  /** What the receiver said: its note, or the code of its refusal, or `no-answer`. */
  said?: string;
  /** Writes in effect when the latest look at the gate began: if it went on to send, that was its re-check. */
  gateReadAt?: number;
  /** The same, of the re-check behind which a request left. */
  recheckAt?: number;
  sentAtMs?: number;
}

export interface FlowOptions {
  readonly seed?: number;
  /** Pushes that the queue makes at the same time. */
  readonly workers?: number;
  readonly limits?: QueueLimits;
  readonly lateMs?: number;
  /** Puts something between the functions and their ports. */
  readonly reshape?: (ports: Receiver) => Receiver;
}

export interface Flow {
  readonly world: TestWorld;
  readonly queue: PushQueue;
  readonly pushes: readonly PushRecord[];
  /** Errors that came out of a push: there must be none. */
  readonly crashes: readonly unknown[];
  /** Requests under way at a destination now, and the most that ever were. */
  inFlight(destination: string): { readonly now: number; readonly most: number };
  /** A destination with a URL of its own, and its name in it. */
  destination(id: string, settings?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Events for one destination, so many or of these ids, accepted; gives their ids. */
  accept(
    destination: string,
    events: number | readonly string[],
    more?: { readonly prefix?: string; readonly deliverAtMs?: number },
  ): Promise<string[]>;
  run(ms: number): Promise<void>;
  /** From now on the schedule ticks, first after one interval. */
  startTicks(): void;
  pause(destination: string, request?: string): Promise<unknown>;
  resume(destination: string, request?: string): Promise<unknown>;
  gate(destination: string): Promise<Gate | undefined>;
  rows(events: readonly string[], destination: string): Promise<Delivery[]>;
}

export const requestId = (text: string): RequestId => {
  const parsed = parseRequestId(text);
  if (parsed.kind === 'bad') throw new TypeError(`request id ${parsed.reason}`);
  return parsed.id;
};

export const openFlow = (options: FlowOptions = {}): Flow => {
  const flying = new Map<string, { now: number; most: number }>();
  const queues: PushQueue[] = [];
  const world = openTestWorld({
    seed: options.seed ?? 1,
    reshape: (plain) => {
      const made = pushQueue(plain.clock, options.limits, options.lateMs);
      queues.push(made);
      const flown = { ...plain, queue: made, sender: countedSender(plain.sender, flying) };
      return options.reshape?.(flown) ?? flown;
    },
  });
  const [queue] = queues;
  if (queue === undefined) throw new Error('the world was not built with the queue');
  const pushes: PushRecord[] = [];
  const crashes: unknown[] = [];
  const push = async (message: Message): Promise<boolean> => {
    const record: PushRecord = { message, atMs: world.clock.nowMs() };
    pushes.push(record);
    record.said = await said(world, record, crashes);
    record.endedAtMs = world.clock.nowMs();
    return record.said.startsWith('ack:');
  };
  queue.attach(world.clock, options.workers ?? 10, push);
  const verbs = verbsOf(world);
  const none = { now: 0, most: 0 };
  return { world, queue, pushes, crashes, inFlight: (id) => flying.get(urlOf(id)) ?? none, ...verbs };
};

const urlOf = (destination: string): string => `https://partner.example/${destination}`;

const countedSender = (sender: Receiver['sender'], flying: Map<string, { now: number; most: number }>) => ({
  ...sender,
  send: async (request: Parameters<Receiver['sender']['send']>[0]) => {
    const count = flying.get(request.url) ?? { now: 0, most: 0 };
    flying.set(request.url, count);
    count.now += 1;
    count.most = Math.max(count.most, count.now);
    try {
      return await sender.send(request);
    } finally {
      count.now -= 1;
    }
  },
});

/** One push, as the queue makes it: signed, and given up when no answer comes in time. The work may go on without it. */
const said = async (world: TestWorld, record: PushRecord, crashes: unknown[]): Promise<string> => {
  const { clock } = world;
  const body = Buffer.from(`{"message_id":"${record.message.messageId}","payload":${record.message.body}}`);
  const headers = signed(body, SCHEME, clock.nowMs());
  const endsAtMs = clock.nowMs() + FUNCTION_MS;
  const late = Promise.withResolvers<string>();
  const callOff = clock.after(PUSH_ANSWER_MS, () => late.resolve('no-answer'));
  const answered = receive(watched(world, record), {
    header: (name) => headers[name],
    body,
    runId: world.ports.dice.id(),
    remainingMs: () => endsAtMs - clock.nowMs(),
  }).then(
    (verdict) => (verdict.kind === 'ack' ? `ack:${verdict.note}` : `${verdict.kind}:${verdict.code}`),
    (error: unknown) => {
      crashes.push(error);
      return 'crash';
    },
  );
  const answer = await Promise.race([answered, late.promise]);
  callOff();
  return answer;
};

/** The ports of one push, so that what it reads and sends can be told from what others do. */
const watched = ({ ports, store }: TestWorld, record: PushRecord): Receiver => ({
  ...ports,
  ledger: {
    ...ports.ledger,
    loadDestination: (id) => {
      record.gateReadAt = store.writes.length;
      return ports.ledger.loadDestination(id);
    },
  },
  sender: {
    ...ports.sender,
    send: (request) => {
      record.recheckAt = record.gateReadAt ?? Number.NaN;
      record.sentAtMs = ports.clock.nowMs();
      return ports.sender.send(request);
    },
  },
});

const verbsOf = (world: TestWorld): Omit<Flow, 'world' | 'queue' | 'pushes' | 'crashes' | 'inFlight'> => {
  const { ports, clock, records } = world;
  let requests = 0;
  const asked = (destination: string, request: string | undefined) => {
    requests += 1;
    const reason = 'maintenance';
    return {
      request: requestId(request ?? `request-${requests}`),
      actor: 'ana',
      reason,
      destination: destinationId(destination),
    };
  };
  return {
    destination: async (id, settings) => {
      const answer = await world.destination(id, { url: urlOf(id), ...settings });
      if (answer.status >= 300) throw new Error(answer.text);
    },
    accept: async (destination, events, { prefix = `${destination}-`, deliverAtMs } = {}) => {
      const ids = typeof events === 'number' ? Array.from({ length: events }, (_, n) => `${prefix}${n}`) : [...events];
      const payload = new TextEncoder().encode('{"paid":true}');
      const more = {
        payload,
        fingerprint: payloadHash(payload),
        ...(deliverAtMs === undefined ? {} : { deliverAtMs }),
      };
      for (const id of ids) {
        const submission = submissionOf({ event: eventId(id), destinations: [destinationId(destination)], ...more });
        const accepted = await accept(ports, submission, { kind: 'api', cause: 'i:test' });
        if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
      }
      return ids;
    },
    run: async (ms) => {
      // What is under way goes as far as it can before any time passes.
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(ms);
    },
    startTicks: () => {
      const beat = (): void => {
        clock.after(ports.tickMs, beat);
        void tick(ports, ports.tickMs);
      };
      clock.after(ports.tickMs, beat);
    },
    pause: (destination, request) => pauseDestination(ports, asked(destination, request)),
    resume: (destination, request) => resumeDestination(ports, asked(destination, request)),
    gate: async (destination) => {
      const found = await records.load({ item: 'gate', destination: destinationId(destination) });
      return found.kind === 'found' ? found.item : undefined;
    },
    rows: (events, destination) => Promise.all(events.map((event) => world.row(event, destination))),
  };
};

// ---- reading what happened ----------------------------------------------------------------------------------------

export interface ItemWrite<K extends ItemKind> {
  readonly order: number;
  readonly before: ItemOf<K> | undefined;
  readonly after: ItemOf<K>;
}

/** The writes of one kind of item, decoded, in the order of taking effect. */
export const writesOf = <K extends ItemKind>(world: TestWorld, kind: K, from = 0): ItemWrite<K>[] =>
  world.store.writes.slice(from).flatMap(({ order, ref, before, after }) => {
    if (ref?.item !== kind) return [];
    const next = itemOf(kind, after);
    return next === undefined ? [] : [{ order, before: itemOf(kind, before), after: next }];
  });

const itemOf = <K extends ItemKind>(kind: K, record: Write['after']): ItemOf<K> | undefined => {
  if (record === undefined) return undefined;
  const found = fromItem(record);
  const isKind = (item: { item: ItemKind }): item is ItemOf<K> => item.item === kind;
  return found.kind === 'found' && isKind(found.item) ? found.item : undefined;
};

/** How many deliveries stand in which status; parked ones apart. */
export const statuses = async (flow: Flow, events: readonly string[], destination: string) =>
  tally(
    (await flow.rows(events, destination)).map((row) =>
      row.status === 'pending' && row.parking ? 'parked' : row.status,
    ),
  );

export const runUntil = (flow: Flow, atMs: number): Promise<void> => flow.run(atMs - flow.world.clock.nowMs());

/** Its breaker pauses the destination now. Gives the time of its first probe. */
export const breakerOpens = async (flow: Flow, destination: string, probeInMs = PROBE_EVERY_MS): Promise<number> => {
  const nowMs = flow.world.clock.nowMs();
  const probeAtMs = nowMs + probeInMs;
  const pause = { by: BREAKER_ACTOR, reason: 'failures', sinceMs: nowMs, probeAtMs };
  await swapGate(flow.world.ports, destinationId(destination), (gate) => ({ ...gate, pause }));
  return probeAtMs;
};

export const sendTimes = (flow: Flow): number[] => flow.world.sender.sends.map(({ atMs }) => atMs);

/** A destination that a person has paused, with so many deliveries parked there. */
export const pausedFlow = async (destination: string, count: number, settings?: Readonly<Record<string, unknown>>) => {
  const flow = openFlow();
  await flow.destination(destination, settings);
  await flow.pause(destination);
  const events = await flow.accept(destination, count);
  await flow.run(1_000);
  return { flow, events };
};

/** Each delivery got one request, and no other. */
export const expectOneSendEach = (flow: Flow, events: readonly string[]): void => {
  expect(new Set(flow.world.sender.sends.map(({ headers }) => headers['idempotency-key'])).size).toBe(events.length);
  expect(flow.world.sender.sends).toHaveLength(events.length);
};

/** The latest message of this kind that was published. */
export const bodyOf = (flow: Flow, kind: string): string => {
  const message = flow.queue.published.findLast((one) => one.kind === kind);
  if (message === undefined) throw new Error(`nothing of kind ${kind} was published`);
  return message.body;
};

/** A push of this message by hand, besides the queue. */
export const pushByHand = (flow: Flow, body: string, ports: Receiver = flow.world.ports, runId = 'run') => {
  const bytes = Buffer.from(`{"message_id":"by-hand","payload":${body}}`);
  const headers = signed(bytes, SCHEME, flow.world.clock.nowMs());
  return receive(ports, { header: (name) => headers[name], body: bytes, runId, remainingMs: () => FUNCTION_MS });
};

/** Every request that takes this long before it is answered so. */
export const slowly =
  (flow: Flow, ms: number, answer: Answer): Reaction =>
  async () => {
    await flow.world.clock.sleep(ms);
    return answer;
  };

/** Pushes that sent although their re-check began after the write of this order had taken effect. */
export const sentBehind = (pushes: readonly PushRecord[], order: number): PushRecord[] =>
  pushes.filter(({ recheckAt }) => recheckAt !== undefined && recheckAt >= order);

/** The most of these times that lie in one window of this length. */
export const mostWithin = (times: readonly number[], windowMs: number): number => {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  let from = 0;
  for (const [at, timeMs] of sorted.entries()) {
    while (timeMs - (sorted[from] ?? timeMs) >= windowMs) from += 1;
    most = Math.max(most, at - from + 1);
  }
  return most;
};

/** How often each of these words was said. */
export const tally = (words: readonly (string | undefined)[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word ?? 'nothing'] = (counts[word ?? 'nothing'] ?? 0) + 1;
  return counts;
};
