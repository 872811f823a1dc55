/**
 * A dead-letter queue in memory, with the manners of real ones.
 *
 *   add --> dead --read--> leased --lease ends--> dead
 *             |              |
 *             +--------------+--redrive by id--> put back: whoever made this takes it
 *                            +--discard--------> gone; only while it is leased
 */
import type { Clock, DeadLetter, DeadLetters, Done, QueueStats } from '../../functions/ports.ts';

export interface LeasedDeadLetters extends DeadLetters {
  /** Ids of what is dead now, leased or not. */
  ids(): readonly string[];
  add(messageId: string, body: unknown): void;
  /** Somebody else takes it away. */
  lose(messageId: string): void;
  /** What took effect, in its order, such as `redrive m-1`. */
  readonly done: readonly string[];
  /** What was asked for, whatever came of it. */
  readonly asked: readonly string[];
  /** Set by a test: the answer instead of the real one. */
  answer: ((call: 'stats' | 'read' | 'redrive' | 'discard') => Failed | undefined) | undefined;
  /** Says done to a redrive, and does nothing. */
  pretends: boolean;
  /** Gives out nothing, whatever is there. */
  hides: boolean;
}

type Failed = Extract<Done, { kind: 'failed' }>;

export interface LeasedOptions {
  readonly leaseMs?: number;
  /** As queues do that know a message only by the handle of its latest reading. */
  readonly needsHandle?: boolean;
}

export const refused = (code: string, detail = 'as the test has it'): Failed => ({ kind: 'failed', code, detail });

export const leasedDeadLetters = (
  clock: Pick<Clock, 'nowMs'>,
  putBack: (messageId: string, body: string) => Promise<void>,
  { leaseMs = 900_000, needsHandle = false }: LeasedOptions = {},
): LeasedDeadLetters => {
  const held = new Map<string, { readonly letter: DeadLetter; leasedUntilMs: number }>();
  const done: string[] = [];
  const asked: string[] = [];
  const isLeased = (messageId: string): boolean => (held.get(messageId)?.leasedUntilMs ?? 0) > clock.nowMs();
  const port: LeasedDeadLetters = {
    traits: { reachesById: !needsHandle, countsExactly: !needsHandle },
    done,
    asked,
    answer: undefined,
    pretends: false,
    hides: false,
    ids: () => [...held.keys()],
    add: (messageId, body) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const letter = { messageId, body: new TextEncoder().encode(text), deliveryCount: 3 };
      held.set(messageId, { letter, leasedUntilMs: 0 });
    },
    lose: (messageId) => void held.delete(messageId),
    stats: async () => port.answer?.('stats') ?? { kind: 'stats', ...countsOf(held.size) },
    read: async (limit) => {
      asked.push(`read ${limit}`);
      const answer = port.answer?.('read');
      if (answer !== undefined) return answer;
      const free = port.hides ? [] : [...held.values()].filter(({ letter }) => !isLeased(letter.messageId));
      const letters = free.slice(0, limit).map((one) => {
        one.leasedUntilMs = clock.nowMs() + leaseMs;
        return { ...one.letter, handle: `handle of ${one.letter.messageId}` };
      });
      return { kind: 'read', letters };
    },
    redrive: async ({ messageId, handle, body }) => {
      asked.push(`redrive ${messageId}`);
      const answer = port.answer?.('redrive');
      if (answer !== undefined) return answer;
      if (needsHandle && handle === undefined) return refused('no-handle');
      const one = held.get(messageId);
      if (one === undefined) return refused('refused', 'no such dead message');
      if (port.pretends) return { kind: 'done' };
      held.delete(messageId);
      done.push(`redrive ${messageId}`);
      const text = new TextDecoder().decode(needsHandle ? body : one.letter.body);
      await putBack(messageId, text);
      return { kind: 'done' };
    },
    discard: async ({ messageId, handle }) => {
      asked.push(`discard ${messageId}`);
      const answer = port.answer?.('discard');
      if (answer !== undefined) return answer;
      if (needsHandle && handle === undefined) return refused('no-handle');
      if (!isLeased(messageId)) return refused('QUEUE_MESSAGE_NOT_IN_FLIGHT');
      held.delete(messageId);
      done.push(`discard ${messageId}`);
      return { kind: 'done' };
    },
    release: async (letters) => {
      if (!needsHandle) return;
      for (const { handle } of letters) {
        const one = held.get(handle?.replace('handle of ', '') ?? '');
        if (one !== undefined) one.leasedUntilMs = 0;
      }
    },
  };
  return port;
};

const countsOf = (dead: number): QueueStats => ({ available: 0, delayed: 0, inFlight: 0, dead, oldestAgeMs: 0 });
