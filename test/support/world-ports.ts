/** The ports of a test world that only record or repeat what they were told: queue, sender, telemetry, dice. */
import { createHash } from 'node:crypto';
import type { Answer } from '../../functions/core/outcome.ts';
import type {
  Clock,
  DeadLetter,
  DeadLetters,
  Dice,
  Fields,
  OutgoingRequest,
  Pace,
  Publication,
  Queue,
  QueueLimits,
  Sender,
  Telemetry,
} from '../../functions/ports.ts';

// ---- dice ---------------------------------------------------------------------------------------------------------

/** The same throws in every run of one seed. */
export const seededDice = (seed: number | string): Dice => {
  let thrown = 0;
  const digest = (): Buffer => {
    thrown += 1;
    return createHash('sha256').update(`${seed} ${thrown}`).digest();
  };
  return {
    draw: () => digest().readUInt32BE(0) / 2 ** 32,
    id: () => digest().toString('base64url').slice(0, 11),
    bytes: (count) => new Uint8Array(Buffer.concat([digest(), digest()]).subarray(0, count)),
  };
};

/** Lets rivals go on one at a time, in an order of the dice: each waits here before its next request. */
export const shuffledTurns = (dice: Pick<Dice, 'draw'>): (() => Promise<void>) => {
  const waiting: (() => void)[] = [];
  let running = false;
  const next = (): void => {
    const [go] = waiting.splice(Math.floor(dice.draw() * waiting.length), 1);
    go?.();
    running = waiting.length > 0;
    if (running) setImmediate(next);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (running) return;
      running = true;
      setImmediate(next);
    });
};

// ---- telemetry ----------------------------------------------------------------------------------------------------

export interface RecordedTelemetry extends Telemetry {
  readonly lines: readonly { readonly name: string; readonly fields: Fields }[];
  /** Every number said, in a line or alone; the latest of each name. */
  readonly measured: ReadonlyMap<string, number>;
  counted(name: string): number;
}

export const recordedTelemetry = (): RecordedTelemetry => {
  const lines: { name: string; fields: Fields }[] = [];
  const counts = new Map<string, number>();
  const measured = new Map<string, number>();
  const measure = (name: string, by: number): void => {
    counts.set(name, (counts.get(name) ?? 0) + by);
    measured.set(name, by);
  };
  return {
    lines,
    measured,
    line: (name, fields, measures = {}) => {
      lines.push({ name, fields });
      for (const [one, value] of Object.entries(measures)) measure(one, value);
    },
    count: (name, by = 1) => measure(name, by),
    counted: (name) => counts.get(name) ?? 0,
  };
};

// ---- queue --------------------------------------------------------------------------------------------------------

export interface Enqueued extends Publication {
  readonly messageId: string;
  /** From when the queue would push it. */
  readonly atMs: number;
}

export interface RecordingQueue extends Queue {
  readonly published: readonly Enqueued[];
  /** Takes the earliest message whose time comes by then; it is gone from the queue. */
  take(byMs: number): Enqueued | undefined;
  /** All that is in the queue now is lost without a trace. */
  loseAll(): void;
  /** While true, no publish goes through. */
  away: boolean;
}

/** Seven days and 256 KB, as the real one. A key that it has seen publishes nothing new. */
export const recordingQueue = (
  clock: Pick<Clock, 'nowMs'>,
  limits: QueueLimits = { delayMsMax: 604_800_000, messageBytesMax: 262_144 },
): RecordingQueue => {
  const published: Enqueued[] = [];
  const waiting = new Set<Enqueued>();
  const queue: RecordingQueue = {
    limits,
    published,
    away: false,
    take: (byMs) => {
      const [next] = [...waiting].filter(({ atMs }) => atMs <= byMs).toSorted((a, b) => a.atMs - b.atMs);
      if (next !== undefined) waiting.delete(next);
      return next;
    },
    loseAll: () => waiting.clear(),
    publish: async (publication) => {
      if (queue.away) return { kind: 'failed', code: 'unavailable', detail: 'the queue is away' };
      const known = published.find(({ key }) => key === publication.key);
      if (known !== undefined) return { kind: 'published', messageId: known.messageId };
      const messageId = `qmsg_${published.length + 1}`;
      const enqueued = { ...publication, messageId, atMs: clock.nowMs() + publication.delaySec * 1_000 };
      published.push(enqueued);
      waiting.add(enqueued);
      return { kind: 'published', messageId };
    },
  };
  return queue;
};

export interface HeldDeadLetters extends DeadLetters {
  readonly letters: readonly DeadLetter[];
  add(letter: DeadLetter): void;
}

/** Dead letters in a list. One that is put back is only taken out here: a test pushes it again itself. */
export const heldDeadLetters = (): HeldDeadLetters => {
  const letters: DeadLetter[] = [];
  const takeOut = async ({ messageId }: Pick<DeadLetter, 'messageId'>) => {
    const at = letters.findIndex((letter) => letter.messageId === messageId);
    if (at < 0) return { kind: 'failed', code: 'absent', detail: 'no such dead letter' } as const;
    letters.splice(at, 1);
    return { kind: 'done' } as const;
  };
  return {
    traits: { reachesById: true, countsExactly: true },
    release: async () => {},
    letters,
    add: (letter) => void letters.push(letter),
    stats: async () => ({ kind: 'stats', available: 0, delayed: 0, inFlight: 0, dead: letters.length, oldestAgeMs: 0 }),
    read: async (limit) => ({ kind: 'read', letters: letters.slice(0, limit) }),
    redrive: takeOut,
    discard: takeOut,
  };
};

// ---- pace ---------------------------------------------------------------------------------------------------------

/** Slots in time, one behind the other, in each line of each destination. */
export const slotsInMemory = (): Pace => {
  const lines = new Map<string, { readonly number: number; readonly freeMs: number }>();
  return {
    take: async (destination, { kind, number }, fromMs, stepMs) => {
      const standing = lines.get(`${destination} ${kind}`);
      const slot = standing === undefined || standing.number < number ? fromMs : Math.max(standing.freeMs, fromMs);
      const latest = Math.max(standing?.number ?? 0, number);
      lines.set(`${destination} ${kind}`, { number: latest, freeMs: slot + stepMs });
      return slot;
    },
  };
};

// ---- sender -------------------------------------------------------------------------------------------------------

export type Reaction = Answer | ((request: OutgoingRequest) => Promise<Answer>);

export interface Sent extends OutgoingRequest {
  readonly atMs: number;
}

export interface ScriptedSender extends Sender {
  readonly sends: readonly Sent[];
  /** Reactions to the sends to come, in turn; then 200 to all. */
  script(...reactions: readonly Reaction[]): void;
  /** Reacts to all sends to come, once the script is over. */
  always(reaction: Reaction): void;
  /** The next send is answered only when the test says so. */
  hold(): HeldSend;
}

export interface HeldSend {
  /** Resolves when the request has left. */
  readonly left: Promise<OutgoingRequest>;
  answer(answer: Answer): void;
}

export const scriptedSender = (clock: Pick<Clock, 'nowMs'>): ScriptedSender => {
  const sends: Sent[] = [];
  const reactions: Reaction[] = [];
  let rest: Reaction = answered(200);
  return {
    sends,
    script: (...more) => void reactions.push(...more),
    always: (reaction) => {
      rest = reaction;
    },
    hold: () => {
      const left = Promise.withResolvers<OutgoingRequest>();
      const answer = Promise.withResolvers<Answer>();
      reactions.push((request) => {
        left.resolve(request);
        return answer.promise;
      });
      return { left: left.promise, answer: answer.resolve };
    },
    send: async (request) => {
      sends.push({ ...request, body: Uint8Array.from(request.body), atMs: clock.nowMs() });
      const reaction = reactions.shift() ?? rest;
      return typeof reaction === 'function' ? reaction(request) : reaction;
    },
    close: async () => {},
  };
};

export const answered = (status: number, more: { retryAfter?: readonly string[]; excerpt?: string } = {}): Answer => ({
  kind: 'answered',
  status,
  retryAfter: more.retryAfter ?? [],
  excerpt: more.excerpt ?? '',
  durationMs: 12,
});

export const unanswered = (cause: Extract<Answer, { kind: 'in-doubt' }>['cause']): Answer => ({
  kind: 'in-doubt',
  cause,
  detail: `no answer: ${cause}`,
  durationMs: 12,
});

export const notSent = (cause: Extract<Answer, { kind: 'not-sent' }>['cause'], detail: string = cause): Answer => ({
  kind: 'not-sent',
  cause,
  detail,
  durationMs: 12,
});
