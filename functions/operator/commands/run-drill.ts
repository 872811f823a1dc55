/**
 * A drill against a destination: requests as deliveries send them, by the same sender, under keys of their own. It writes
 * nothing: what it has seen is its result.
 *
 *   part ──► round ──► round ──► next part ...
 *               └── not answered, asked for time, nothing accepted, time over, not as it was: the rest is left alone
 */
import {
  type DrillPart,
  type DrillRequest,
  type DrillWish,
  drillEventText,
  drillPayload,
  type Round,
  roundsOf,
  TEST_CONTENT_TYPE,
} from '../../core/drill.ts';
import { DRILL_MS } from '../../core/drill-limits.ts';
import { type Exchange, exchangeOf, haltOf, type PartSeen, readingOf, type Skipped } from '../../core/drill-reading.ts';
import { WEBHOOK_SIGNATURE } from '../../core/headers.ts';
import { type EventId, parseClaimId, parseEventId } from '../../core/ids.ts';
import type { Destination } from '../../core/items.ts';
import { outgoingKey } from '../../core/keys.ts';
import { CONNECT_MS, EXCERPT_BYTES_MAX } from '../../core/limits.ts';
import type { Answer } from '../../core/outcome.ts';
import { outgoingHeaders } from '../../core/outgoing.ts';
import { secretsIn, withoutSecrets } from '../../core/redaction.ts';
import { parseSecret, type SigningSecret } from '../../core/signature.ts';
import { traceparentOf } from '../../core/trace.ts';
import type { World } from '../../ports.ts';

type Needs = Pick<World, 'sender' | 'clock' | 'dice'>;

/** A part with what it was sent under, so that its effects can be looked for. */
export interface PartDone extends PartSeen {
  readonly event: EventId;
  /** `Idempotency-Key` and `webhook-id`. */
  readonly key: string;
}

interface Course {
  readonly world: Needs;
  readonly config: Destination;
  readonly secrets: readonly SigningSecret[];
  readonly drill: string;
  readonly burst: number;
  /** No request may end behind it. */
  readonly endsAtMs: number;
  /** By the destination's rate. */
  nextAtMs: number;
}

export const runDrill = async (
  world: Needs,
  config: Destination,
  secrets: readonly SigningSecret[],
  wish: DrillWish,
  /** Asked before each part: is the destination still as it was when the drill began? */
  isAsItWas: () => Promise<boolean>,
): Promise<readonly PartDone[]> => {
  await world.sender.ready?.();
  const nowMs = world.clock.nowMs();
  const { burst } = wish;
  const course = { world, config, secrets, drill: world.dice.id(), burst, endsAtMs: nowMs + DRILL_MS, nextAtMs: nowMs };
  const done: PartDone[] = [];
  let halted: Skipped | undefined;
  for (const part of wish.parts) {
    halted ??= (await isAsItWas()) ? undefined : 'changed';
    const next = await partOf(course, part, halted);
    done.push(next);
    // A destination that takes one at a time is fit for all that comes one by one.
    halted ??= next.skipped === 'concurrency' ? undefined : (next.skipped ?? haltOf(next.exchanges));
  }
  return done;
};

const partOf = async (course: Course, part: DrillPart, halted: Skipped | undefined): Promise<PartDone> => {
  const event = eventOf(drillEventText(course.drill, part));
  const named = { part, event, key: outgoingKey(event, course.config.destination) };
  const rounds = roundsOf(part, course.burst);
  const skipped = halted ?? obstacleTo(course, rounds);
  if (skipped !== undefined) return { ...named, exchanges: [], skipped };
  const exchanges: Exchange[] = [];
  let first: Answer | undefined;
  for (const [index, round] of rounds.entries()) {
    const stop = index === 0 ? undefined : (haltOf(exchanges) ?? successNeeded(part, exchanges));
    if (stop !== undefined) return { ...named, exchanges, skipped: stop };
    if (!(await turnCame(course, round.length))) return { ...named, exchanges, skipped: 'no-time' };
    const sent = await Promise.all(round.map((request) => sendOne(course, named, request)));
    first ??= sent[0]?.answer;
    for (const { request, answer, headers } of sent) {
      const before = exchanges.length === 0 ? undefined : first;
      exchanges.push(cleaned(exchangeOf(request, answer, before, course.world.clock.nowMs()), course.config, headers));
    }
  }
  return { ...named, exchanges };
};

/** `no-success`, where there is nothing that a second request could repeat. */
const successNeeded = (part: DrillPart, exchanges: readonly Exchange[]): Skipped | undefined =>
  readingOf({ part, exchanges }) === 'no-success' ? 'no-success' : undefined;

const obstacleTo = ({ config }: Course, rounds: readonly Round[]): Skipped | undefined => {
  const atOnce = Math.max(...rounds.map(({ length }) => length));
  return atOnce > (config.concurrency ?? atOnce) ? 'concurrency' : undefined;
};

/** Waits for the rate of the destination. False where a request could not end in time. */
const turnCame = async (course: Course, requests: number): Promise<boolean> => {
  const { world, config, endsAtMs } = course;
  const startMs = Math.max(world.clock.nowMs(), course.nextAtMs);
  if (startMs + config.timeoutMs > endsAtMs) return false;
  if (startMs > world.clock.nowMs()) await world.clock.sleep(startMs - world.clock.nowMs());
  if (config.ratePerSecond !== undefined) course.nextAtMs = startMs + (requests * 1_000) / config.ratePerSecond;
  return true;
};

const sendOne = async (
  { world, config, secrets }: Course,
  { event, key }: Pick<PartDone, 'event' | 'key'>,
  { request, otherBody = false, madeMsAgo = 0, forged = false }: DrillRequest,
) => {
  const body = drillPayload(event, otherBody);
  const headers = outgoingHeaders({
    own: config.headers,
    contentType: TEST_CONTENT_TYPE,
    traceparent: traceparentOf(event, spanOf(world), undefined),
    id: key,
    timestampSec: Math.floor((world.clock.nowMs() - madeMsAgo) / 1_000),
    body,
    secrets: forged ? [nobodysSecret(world)] : secrets,
  });
  const answer = await world.sender.send({
    url: config.url,
    headers,
    body,
    deadlineMs: config.timeoutMs,
    connectMs: Math.min(CONNECT_MS, config.timeoutMs),
    excerptBytes: EXCERPT_BYTES_MAX,
  });
  return { request, answer, headers };
};

const cleaned = (
  { excerpt, ...exchange }: Exchange & { readonly excerpt: string },
  config: Destination,
  sent: Readonly<Record<string, string>>,
): Exchange => {
  const secrets = secretsIn([...Object.values(config.headers), sent[WEBHOOK_SIGNATURE] ?? '']);
  const clean = withoutSecrets(excerpt, secrets);
  return clean === '' ? exchange : { ...exchange, excerpt: clean };
};

const nobodysSecret = ({ dice }: Pick<Needs, 'dice'>): SigningSecret => {
  const parsed = parseSecret(`whsec_${Buffer.from(dice.bytes(32)).toString('base64')}`);
  if (parsed.kind === 'bad') throw new TypeError(`a secret that was made here ${parsed.reason}`);
  return parsed.secret;
};

const eventOf = (text: string): EventId => {
  const parsed = parseEventId(text);
  if (parsed.kind === 'bad') throw new TypeError(`the id of a test event ${parsed.reason}`);
  return parsed.id;
};

/** Each request is a span of its own, as an attempt is. */
const spanOf = ({ dice }: Pick<Needs, 'dice'>) => {
  const parsed = parseClaimId(dice.id());
  if (parsed.kind === 'bad') throw new TypeError(`a span ${parsed.reason}`);
  return parsed.id;
};
