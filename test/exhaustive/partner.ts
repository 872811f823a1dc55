/**
 * The destination: it keeps its own log of what arrived and what came of it. Where repeats are safe it honours the key
 * (a second request has no second effect); where they are not, it does everything that it is asked.
 */
import type { Answer } from '../../functions/core/outcome.ts';
import type { OutgoingRequest, Sender } from '../../functions/ports.ts';
import type { AnswerName, Scene } from './scene.ts';
import { type Actor, PARTNER, type Stage, type Way } from './stage.ts';

/** What becomes of one request. `refused` never arrives; of a lost one nobody at the destination knows. */
interface Fate {
  readonly name: string;
  readonly arrives: boolean;
  readonly effect: boolean;
  readonly answer: Answer;
}

const answered = (status: number, retryAfter: readonly string[] = []): Answer => ({
  kind: 'answered',
  status,
  retryAfter,
  excerpt: '',
  durationMs: 5,
});
const timedOut: Answer = { kind: 'in-doubt', cause: 'timeout', detail: 'no answer', durationMs: 20_000 };

const WELL: Fate = { name: '200', arrives: true, effect: true, answer: answered(200) };

const FATES: Readonly<Record<AnswerName, readonly Fate[]>> = {
  '200': [],
  '500': [{ name: '500', arrives: true, effect: false, answer: answered(500) }],
  '429': [{ name: '429', arrives: true, effect: false, answer: answered(429, ['60']) }],
  '410': [{ name: '410', arrives: true, effect: false, answer: answered(410) }],
  '422': [{ name: '422', arrives: true, effect: false, answer: answered(422) }],
  refused: [
    {
      name: 'refused',
      arrives: false,
      effect: false,
      answer: { kind: 'not-sent', cause: 'refused', detail: 'connection refused', durationMs: 1 },
    },
  ],
  timeout: [
    { name: 'timeout-after-effect', arrives: true, effect: true, answer: timedOut },
    { name: 'timeout-on-the-way', arrives: false, effect: false, answer: timedOut },
  ],
  // A gateway's own answer: the request may have passed through it.
  '502': [
    { name: '502-after-effect', arrives: true, effect: true, answer: answered(502) },
    { name: '502-no-effect', arrives: true, effect: false, answer: answered(502) },
  ],
};

export class Partner {
  readonly #stage: Stage;
  readonly #scene: Scene;
  readonly #fates: readonly Fate[];
  readonly #seen = new Set<string>();

  constructor(stage: Stage, scene: Scene) {
    this.#stage = stage;
    this.#scene = scene;
    this.#fates = [WELL, ...FATES[scene.answer]];
  }

  /** A request that has arrived before the run. */
  arrived(actor: Actor, key: string): void {
    this.#take(actor, key, WELL);
  }

  senderOf(actor: Actor): Sender {
    return {
      send: (request) => this.#send(actor, request),
      close: async () => undefined,
    };
  }

  #send(actor: Actor, request: OutgoingRequest): Promise<Answer> {
    const key = request.headers['idempotency-key'] ?? '';
    this.#stage.note(actor, { kind: 'send', key, body: Buffer.from(request.body).toString('utf8') });
    return new Promise((resolve) => {
      const ways = this.#fates.map(
        (fate): Way => ({
          name: fate.name,
          fault: false,
          reads: 0,
          writes: PARTNER,
          go: () => {
            if (fate.arrives) this.#take(actor, key, fate);
            this.#stage.wait(
              actor,
              answering(() => this.#answer(actor, fate, resolve)),
            );
          },
        }),
      );
      this.#stage.wait(actor, { what: 'the request', kind: 'other', ways: () => ways });
    });
  }

  #take(actor: Actor, key: string, { effect, answer }: Fate): void {
    const second = this.#scene.repeatSafe && this.#seen.has(key);
    if (effect) this.#seen.add(key);
    const status = answer.kind === 'answered' ? answer.status : undefined;
    this.#stage.note(actor, { kind: 'arrive', key, effect: effect && !second, status });
  }

  #answer(actor: Actor, { name, answer }: Fate, resolve: (answer: Answer) => void): void {
    const status = answer.kind === 'answered' ? answer.status : undefined;
    this.#stage.note(actor, { kind: 'answer', text: name, status });
    resolve(answer);
  }
}

const answering = (go: () => void) => ({
  what: 'the answer',
  kind: 'other' as const,
  ways: (): readonly Way[] => [{ name: 'ok', fault: false, reads: 0, writes: 0, go }],
});
