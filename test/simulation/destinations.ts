/**
 * The destinations, and the way to them. Each keeps its own log of what arrived and what came of it; what it does with
 * keys is one of the personalities of the partner in the local world. The network in between is simulated at the port of
 * the sender: what it says of an attempt is what the real sender would say.
 *
 *   look up -> judge -> connect -> (stall) -> arrives -> personality, effect -> answer on its way -> the worker has it
 */
import { createHmac } from 'node:crypto';
import type { Answer } from '../../functions/core/outcome.ts';
import { judgeAddress } from '../../functions/core/target.ts';
import type { OutgoingRequest, Sender } from '../../functions/ports.ts';
import { Budget } from '../../infra/local/partner/budget.ts';
import { KeyMemory } from '../../infra/local/partner/personality.ts';
import { type Play, replyOf, WELL_BEHAVED } from '../../infra/local/partner/play.ts';
import type { FaultName } from './fault-classes.ts';
import type { DestinationPlan } from './plan.ts';
import type { Actor, Stage } from './stage.ts';

const HOUR_MS = 3_600_000;
const PUBLIC = '93.184.215.14';
const PRIVATE = ['10.0.0.7', '127.0.0.1', '169.254.169.254', '::ffff:10.1.2.3', 'fd00::1'] as const;

/** As real ones write it: seconds, dates in their three forms, and what is no time at all. */
const RETRY_AFTER: readonly string[] = [
  ...['1', '5', '30', '60', '60', '120', '600', '1200', '7200', '0', '', 'soon', '-5', '1e3', ' 12 ', '99999999999'],
  ...['Sun, 29 Nov 2026 12:10:00 GMT', 'Sunday, 29-Nov-26 12:10:00 GMT', 'Sun Nov 29 12:10:00 2026'],
];

/** What the destination does with one request. */
interface Fate {
  readonly play: Play;
  /** How its answer gets to the worker; `never` leaves it to the deadline. */
  readonly answer: 'plain' | 'never' | 'reset' | 'garbage' | 'broken-body' | 'slow';
  readonly retryAfter?: readonly string[];
}

/** How a destination can be bad all the time. */
export type BadWay = 'hang' | 'reset' | 'refused' | 'dns' | '404' | '429' | '500' | '502' | '503';

const NETWORK_WAYS: ReadonlyMap<BadWay | undefined, FaultName> = new Map([
  ['refused', 'connect-refused'],
  ['dns', 'dns-fails'],
]);

const fateOfWay = (way: BadWay): Fate => {
  if (way === 'hang') return unanswered('never', false);
  if (way === 'reset') return unanswered('reset', false);
  return way === '429' ? { ...plain(429, false), retryAfter: ['120'] } : plain(Number(way), false);
};

export class Destinations {
  readonly #stage: Stage;
  readonly #wayOf: (id: string) => BadWay | undefined;
  readonly #known = new Map<string, { readonly plan: DestinationPlan; readonly memory: KeyMemory }>();
  /** All secrets that a destination ever had, by its id. */
  readonly secrets = new Map<string, string[]>();

  /** `wayOf`: how a destination is bad at the moment, whatever chance says. */
  constructor(stage: Stage, wayOf: (id: string) => BadWay | undefined = () => undefined) {
    this.#stage = stage;
    this.#wayOf = wayOf;
    for (const plan of stage.plan.destinations) {
      this.#known.set(plan.id, { plan, memory: new KeyMemory(new Budget(10_000_000)) });
    }
  }

  senderOf(actor: Actor): Sender {
    return { send: (request) => this.#send(actor, request), close: async () => undefined };
  }

  #send(actor: Actor, request: OutgoingRequest): Promise<Answer> {
    const stage = this.#stage;
    const startedMs = stage.nowMs;
    const key = request.headers['idempotency-key'] ?? '';
    stage.note(actor, {
      kind: 'send',
      url: request.url,
      key,
      clockMs: stage.clockOf(actor),
      deadlineMs: request.deadlineMs,
    });
    const n = stage.draws.nth('send');
    const fault = stage.fates.pick('network', 'send', n) ?? NETWORK_WAYS.get(this.#wayOf(idIn(request.url)));
    return new Promise((resolve) => {
      let over = false;
      const end = (answer: AnswerWithout): void => {
        if (over) return;
        over = true;
        this.#strike(actor, fault, n);
        stage.resume(actor, () => {
          const status = answer.kind === 'answered' ? answer.status : undefined;
          const text = answer.kind === 'answered' ? `${answer.status}` : `${answer.kind}: ${answer.cause}`;
          const retryAfter = answer.kind === 'answered' ? answer.retryAfter : [];
          stage.note(actor, { kind: 'answer', status, text, retryAfter, clockMs: stage.clockOf(actor) });
          resolve({ ...answer, durationMs: stage.nowMs - startedMs });
        });
      };
      const connectMs = 2 + Math.floor(stage.draws.at('connect', n) * 60);
      const stallMs = fault === 'stall-before-socket' ? this.#stallMs(request, n) : 0;
      if (stallMs > 0) stage.freeze(actor, stallMs);
      stage.clockwork.at(stage.nowMs + request.deadlineMs, () => {
        if (over || !stage.isAlive(actor)) return false;
        return void end(inDoubt('timeout'));
      });
      stage.clockwork.at(stage.nowMs + connectMs + stallMs, () => {
        if (over || !stage.isAlive(actor)) return false;
        return void this.#connect(actor, request, { n, fault, end, goesOn: () => !over });
      });
    });
  }

  /** What happens to a worker at the moment its answer comes, or would have come. */
  #strike(actor: Actor, fault: FaultName | undefined, n: number): void {
    if (fault === 'crash-with-answer') this.#stage.crash(actor);
    if (fault !== 'freeze-with-answer') return;
    this.#stage.freeze(actor, Math.floor(5_000 + this.#stage.draws.at('strike', n) ** 2 * 150_000));
  }

  /**
   * Shorter than the deadline: a client that finds it over when it goes on again does not begin. Where the key is
   * forgotten, shorter than the time of a connection: nothing can be promised of a byte that leaves when it likes.
   */
  #stallMs({ url, deadlineMs, connectMs }: OutgoingRequest, n: number): number {
    const forgets = this.#known.get(idIn(url))?.plan.keys === 'forgets-after';
    return Math.floor(this.#stage.draws.at('stall', n) * 0.9 * (forgets ? connectMs : deadlineMs));
  }

  #connect(actor: Actor, request: OutgoingRequest, at: Sending): void {
    const { n, fault, end } = at;
    const address = fault === 'dns-private' ? (PRIVATE[n % PRIVATE.length] ?? PRIVATE[0]) : PUBLIC;
    switch (fault) {
      case 'dns-fails':
        end(notSent('dns'));
        return;
      case 'connect-refused':
        end(notSent('refused'));
        return;
      case 'tls-fails':
        end(notSent('tls'));
        return;
      case 'connect-hangs':
        this.#stage.clockwork.at(this.#stage.nowMs + request.connectMs, () => end(notSent('connect-timeout')));
        return;
      default:
        if (judgeAddress(address, { allowLocal: false }).kind === 'denied') {
          end(notSent('blocked'));
          return;
        }
        this.#stage.note(actor, { kind: 'connect', address });
        this.#arrive(actor, request, at);
    }
  }

  #arrive(actor: Actor, request: OutgoingRequest, { n, end, goesOn }: Sending): void {
    const stage = this.#stage;
    const id = idIn(request.url);
    const known = this.#known.get(id);
    const body = Buffer.from(request.body).toString('utf8');
    const key = request.headers['idempotency-key'] ?? '';
    const note = (effect: boolean, status: number | undefined): void =>
      stage.note(actor, {
        kind: 'arrive',
        destination: id,
        key,
        body,
        effect,
        status,
        fault: n % 8 === 0 ? this.#faultIn(id, request) : undefined,
      });
    if (known === undefined) {
      note(false, undefined);
      end(inDoubt('reset'));
      return;
    }
    const { plan, memory } = known;
    const fate = this.#fateOf(plan, n);
    const forgetsAfterMs = plan.keys === 'forgets-after' ? plan.forgetsAfterHours * HOUR_MS : Number.POSITIVE_INFINITY;
    const course = memory.meet({ key, sha256: body, nowMs: stage.nowMs }, fate.play, {
      keys: plan.keys,
      forgetsAfterMs,
    });
    const { status } = course.reply;
    const answers = fate.answer === 'plain' || fate.answer === 'slow' || fate.answer === 'broken-body';
    note(course.acts, answers ? status : undefined);
    const tookMs = this.#tookMs(fate, n, request.deadlineMs);
    const worksOnMs = answers ? 0 : this.#worksOnMs(n);
    if (worksOnMs > 0) stage.clockwork.at(stage.nowMs + tookMs + worksOnMs, () => void course.over());
    stage.clockwork.at(stage.nowMs + tookMs, () => {
      if (worksOnMs === 0) course.over();
      if (!goesOn() || !stage.isAlive(actor)) return false;
      return void this.#answer(fate, status, course.from === 'script' ? (fate.retryAfter ?? []) : [], end);
    });
  }

  #answer(fate: Fate, status: number, retryAfter: readonly string[], end: (answer: AnswerWithout) => void): void {
    switch (fate.answer) {
      case 'never':
        return;
      case 'reset':
        end(inDoubt('reset'));
        return;
      case 'garbage':
        end(inDoubt('protocol'));
        return;
      case 'broken-body':
        end({ kind: 'answered', status, retryAfter, excerpt: '', bodyNote: 'reset' });
        return;
      case 'plain':
      case 'slow':
        end({ kind: 'answered', status, retryAfter, excerpt: status < 300 ? '' : 'not now' });
        return;
    }
  }

  /** Behind an answer that never comes the request may still be at work there. */
  #worksOnMs(n: number): number {
    const { draws, fates } = this.#stage;
    if (!fates.isOn('works-on')) return 0;
    fates.count('works-on');
    return Math.floor(draws.at('works on', n) * 180_000);
  }

  #tookMs(fate: Fate, n: number, deadlineMs: number): number {
    if (fate.answer === 'slow') return Math.max(1, deadlineMs - 80 - Math.floor(this.#stage.draws.at('slow', n) * 400));
    return 3 + Math.floor(this.#stage.draws.at('took', n) ** 2 * Math.min(2_000, deadlineMs / 2));
  }

  #fateOf(plan: DestinationPlan, n: number): Fate {
    const { draws, fates } = this.#stage;
    const half = draws.at('half', n) < 0.5;
    const acts = half && !this.#meansNothing(plan);
    const one = <T>(list: readonly T[]): T => list[Math.floor(draws.at('which', n) * list.length)] as T;
    const way = this.#wayOf(plan.id);
    if (way !== undefined) return fateOfWay(way);
    if (this.#stage.isAway('burst-into-hang', plan.id)) {
      fates.count('burst-into-hang');
      return unanswered('never', half);
    }
    if (this.#stage.isAway('destination-down', plan.id)) {
      fates.count('destination-down');
      const hangs = this.#stage.plan.outages.some(({ destination, hangs }) => destination === plan.id && hangs);
      return hangs ? unanswered('never', half) : plain(503, false);
    }
    if (this.#stage.isAway('destination-throttles', plan.id)) {
      fates.count('destination-throttles');
      return { ...plain(half ? 429 : 503, false), retryAfter: [asked(draws.at('asked', n))] };
    }
    switch (fates.pick('answer', 'answer', n)) {
      case 'answer-5xx':
        return plain(one([500, 500, 503, 501, 507]), acts);
      case 'answer-gateway':
        return plain(one([502, 504, 520, 524, 598]), half);
      case 'answer-throttles':
        return { ...plain(one([429, 503, 425, 408]), false), retryAfter: half ? [asked(draws.at('asked', n))] : [] };
      case 'answer-refuses':
        return plain(one([400, 401, 403, 404, 409, 413, 301, 307, 304]), false);
      case 'answer-rejects':
        return plain(422, false);
      case 'answer-gone':
        return plain(410, false);
      case 'answer-garbage':
        return unanswered('garbage', half);
      case 'answer-slow':
        return { play: WELL_BEHAVED, answer: 'slow' };
      case 'answer-broken':
        return { play: WELL_BEHAVED, answer: 'broken-body' };
      case 'answer-never':
        return unanswered('never', half);
      case 'answer-reset':
        return unanswered('reset', half);
      default:
        return { play: WELL_BEHAVED, answer: 'plain' };
    }
  }

  /**
   * Where a repeat is not safe, an answer of the destination itself other than a 2xx means that nothing was done: who
   * lies about that, and forgets its keys besides, cannot be helped.
   */
  #meansNothing({ keys, repeatSafe }: DestinationPlan): boolean {
    const isEdited = this.#stage.plan.shares.has('edit');
    return keys === 'ignores' || (keys === 'forgets-after' && (!repeatSafe || isEdited));
  }

  /** As the library of a receiver would check it: of every eighth request, for hashing takes its time. */
  #faultIn(id: string, { headers, body }: OutgoingRequest): string | undefined {
    const { 'webhook-id': name = '', 'webhook-timestamp': seconds = '', 'webhook-signature': given = '' } = headers;
    if (name !== headers['idempotency-key']) return 'webhook-id and key differ';
    const signed = given.split(' ');
    const fits = (this.secrets.get(id) ?? []).some((secret) => {
      const mac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'));
      return signed.includes(`v1,${mac.update(`${name}.${seconds}.`).update(body).digest('base64')}`);
    });
    return fits ? undefined : 'the signature does not fit';
  }
}

const asked = (draw: number): string => RETRY_AFTER[Math.floor(draw * RETRY_AFTER.length)] ?? '';

const idIn = (url: string): string => /^https:\/\/([^./]+)\./.exec(url)?.[1] ?? '';

interface Sending {
  readonly n: number;
  readonly fault: FaultName | undefined;
  readonly end: (answer: AnswerWithout) => void;
  readonly goesOn: () => boolean;
}

type Without<A> = A extends Answer ? Omit<A, 'durationMs'> : never;
type AnswerWithout = Without<Answer>;

const notSent = (cause: Extract<Answer, { kind: 'not-sent' }>['cause']): AnswerWithout => ({
  kind: 'not-sent',
  cause,
  detail: cause,
});
const inDoubt = (cause: Extract<Answer, { kind: 'in-doubt' }>['cause']): AnswerWithout => ({
  kind: 'in-doubt',
  cause,
  detail: `no answer: ${cause}`,
});

const plain = (status: number, acts: boolean): Fate => ({
  play: { reply: replyOf(status, ''), manner: { kind: 'plain' }, delayMs: 0, acts },
  answer: 'plain',
});

const unanswered = (answer: 'never' | 'reset' | 'garbage', acts: boolean): Fate => ({
  play: { reply: replyOf(200, ''), manner: { kind: 'hang' }, delayMs: 0, acts },
  answer,
});
