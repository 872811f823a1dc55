/**
 * Making the plan of a redrive: reading a bounded set, joining it with the ledger, and storing what was read with its
 * finding. Nothing is acted on.
 *
 *   read --new ones--> look at each --> stored, one item a message --+
 *    ^                                                              |  limit, time over, nothing new, no answer
 *    +--------------------------------------------------------------+--> counted --> the plan itself: it can be run
 *
 * It is `planning` until then and cannot be run; the same request again goes on where the first was cut off.
 * Reading dead letters leases them: they are out of others' sight until the plan is made, or, where the transport cannot
 * give them back, until the lease ends.
 */
import { estimateMs, type Share } from '../core/estimate.ts';
import { type Finding, failureOf } from '../core/finding.ts';
import type { DestinationId, EventId } from '../core/ids.ts';
import { deliveryKeyText } from '../core/keys.ts';
import { LIST_PAGE_MAX } from '../core/limits.ts';
import type { DeliveryRef } from '../core/model.ts';
import type { FindingKind, Operation, OperationMessage, Shortfall } from '../core/operations.ts';
import { type DeadLetter, PortUnavailable, type World } from '../ports.ts';
import { createLook, type Look, type Looked, lookAtLetter, lookAtRow } from './redrive-look.ts';
import { changeOperation, DETAIL_CHARS_MAX, loadMessages } from './redrive-record.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'deadLetters' | 'clock'>;

export const PLAN_MESSAGES_MAX = 5_000;
/** For so long a plan reads; a request of the API is answered within half a minute. */
export const PLAN_MS = 25_000;
const READ_AT_ONCE = 100;
const LOOK_AT_ONCE = 10;

export type PlanMade =
  | { readonly kind: 'made'; readonly operation: Operation }
  /** Nothing could be read at all. */
  | { readonly kind: 'unreadable'; readonly code: string; readonly detail: string };

interface Draft {
  readonly world: Needs;
  readonly operation: Operation;
  readonly look: Look;
  readonly endsAtMs: number;
  /** Names of what is in the plan, or was read and is not for it. */
  readonly seen: Set<string>;
  /** To be given back at the end. */
  readonly letters: Pick<DeadLetter, 'handle'>[];
  kept: number;
  position: number;
  /** Events that would be sent, by destination: several messages of one delivery are one request. */
  readonly sending: Map<DestinationId, Set<EventId>>;
}

export const makePlan = async (world: Needs, operation: Operation): Promise<PlanMade> => {
  const nowMs = world.clock.nowMs();
  const earlier = await loadMessages(world, operation.operation, 0, PLAN_MESSAGES_MAX);
  const draft: Draft = {
    world,
    operation,
    look: createLook(world, operation),
    endsAtMs: nowMs + PLAN_MS,
    seen: new Set(earlier.map(nameOf)),
    letters: [],
    kept: earlier.length,
    position: (earlier.at(-1)?.position ?? -1) + 1,
    sending: new Map(),
  };
  const stats = operation.source === 'dead-letters' ? await world.deadLetters.stats() : undefined;
  const deadBefore = stats?.kind === 'stats' ? stats.dead : undefined;
  const read = operation.source === 'dead-letters' ? await readLetters(draft) : await readHeld(draft);
  await world.deadLetters.release(draft.letters);
  if (read.kind === 'failed' && draft.kept === 0) {
    return { kind: 'unreadable', code: read.code, detail: read.detail };
  }
  const shortfall = shortfallOf(draft, read, deadBefore);
  return { kind: 'made', operation: await endPlan(draft, shortfall, deadBefore) };
};

// ---- reading ------------------------------------------------------------------------------------------------------

type Read =
  /** Full, or nothing new came. */
  | { readonly kind: 'all' }
  | { readonly kind: 'time' }
  | { readonly kind: 'failed'; readonly code: string; readonly detail: string };

const isFull = ({ kept, operation }: Draft): boolean => kept >= operation.limit;
const isLate = ({ world, endsAtMs }: Draft): boolean => world.clock.nowMs() >= endsAtMs;

const readLetters = async (draft: Draft): Promise<Read> => {
  while (!isFull(draft) && draft.seen.size < PLAN_MESSAGES_MAX) {
    if (isLate(draft)) return { kind: 'time' };
    // With a filter, most of what is read may not be for the plan.
    const wanted = draft.operation.destination === undefined ? draft.operation.limit - draft.kept : READ_AT_ONCE;
    const read = await draft.world.deadLetters.read(Math.min(READ_AT_ONCE, wanted));
    if (read.kind === 'failed') return read;
    draft.letters.push(...read.letters.map(({ handle }) => (handle === undefined ? {} : { handle })));
    const fresh = read.letters.filter(({ messageId }) => !draft.seen.has(messageId));
    if (fresh.length === 0) return { kind: 'all' };
    for (const { messageId } of fresh) draft.seen.add(messageId);
    await inGroups(fresh, (letter) => keepLetter(draft, letter));
  }
  return { kind: isFull(draft) ? 'all' : 'time' };
};

const readHeld = async (draft: Draft): Promise<Read> => {
  const { world, operation } = draft;
  let cursor: string | undefined;
  do {
    if (isLate(draft)) return { kind: 'time' };
    const page = await world.pages.list({
      list: 'quarantined',
      limit: LIST_PAGE_MAX,
      ...(operation.destination === undefined ? {} : { destination: operation.destination }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const refs = page.refs.flatMap((ref) => (ref.item === 'delivery' ? [ref] : []));
    const fresh = refs.filter((ref) => !draft.seen.has(deliveryKeyText(ref.event, ref.destination)));
    await inGroups(fresh, (ref) => keepHeld(draft, ref));
    cursor = page.next;
  } while (cursor !== undefined && !isFull(draft));
  return { kind: 'all' };
};

const inGroups = async <T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> => {
  for (let at = 0; at < all.length; at += LOOK_AT_ONCE) await Promise.all(all.slice(at, at + LOOK_AT_ONCE).map(work));
};

/** The queue counts more dead letters than it gives out: never "nothing to do". */
const shortfallOf = (draft: Draft, read: Read, deadBefore: number | undefined): Shortfall | undefined => {
  if (read.kind === 'time') return 'time';
  if (read.kind === 'failed') return 'queue';
  if (isFull(draft)) return undefined;
  return deadBefore !== undefined && deadBefore > draft.seen.size ? 'contradiction' : undefined;
};

// ---- keeping ------------------------------------------------------------------------------------------------------

const nameOf = ({ messageId, event, destination }: OperationMessage): string =>
  messageId ?? (event === undefined || destination === undefined ? '' : deliveryKeyText(event, destination));

const keepLetter = async (draft: Draft, letter: DeadLetter): Promise<void> => {
  const looked = await lookAtLetter(draft.look, letter.body);
  if (!isWanted(draft.operation, looked)) return;
  if (looked.finding.kind === 'accept') {
    for (const destination of looked.submission?.destinations ?? []) {
      noteSend(draft.sending, destination, looked.submission?.event);
    }
  }
  const event = looked.submission === undefined ? {} : { event: looked.submission.event };
  await store(draft, { messageId: letter.messageId, ...event, ...findingOf(looked) });
};

const noteSend = (sending: Draft['sending'], destination: DestinationId, event: EventId | undefined): void => {
  if (event === undefined) return;
  const events = sending.get(destination) ?? new Set();
  sending.set(destination, events.add(event));
};

const isWanted = ({ destination }: Operation, { finding, submission }: Looked): boolean =>
  destination === undefined ||
  finding.ref?.destination === destination ||
  submission?.destinations.includes(destination) === true;

/** The index may be late: a row that is not held any more, or for another reason, was not asked for. */
const keepHeld = async (draft: Draft, ref: DeliveryRef): Promise<void> => {
  const looked = await lookAtRow(draft.look, ref);
  const { row } = looked;
  if (row !== undefined && row.status !== 'quarantined') return;
  if (draft.operation.reason !== undefined && row?.reason !== draft.operation.reason) return;
  draft.seen.add(deliveryKeyText(ref.event, ref.destination));
  await store(draft, findingOf(looked));
};

type Kept = Omit<OperationMessage, 'item' | 'version' | 'operation' | 'position' | 'carried'>;

const findingOf = ({ finding, row }: Looked): Kept => ({
  finding: finding.kind,
  detail: finding.detail.slice(0, DETAIL_CHARS_MAX),
  ...refOf(finding),
  ...(row === undefined ? {} : failureOf(row)),
});

const refOf = ({ ref }: Finding): Partial<DeliveryRef> =>
  ref === undefined ? {} : { event: ref.event, destination: ref.destination };

/** At the next free place. A place that is taken has been taken by this very request, sent twice. */
const store = async (draft: Draft, kept: Kept): Promise<void> => {
  const { world, operation } = draft;
  if (isFull(draft)) return;
  draft.kept += 1;
  for (;;) {
    const message: OperationMessage = {
      item: 'operation-message',
      version: 1,
      operation: operation.operation,
      position: draft.position,
      ...kept,
      carried: {},
    };
    draft.position += 1;
    const created = await world.ledger.create<OperationMessage>(message);
    if (created.kind === 'written') return;
    if (created.present.kind === 'found' && nameOf(created.present.item) === nameOf(message)) return;
    if (draft.position > 4 * PLAN_MESSAGES_MAX) throw new PortUnavailable('ledger', 'no free place in the plan');
  }
};

// ---- the plan itself ----------------------------------------------------------------------------------------------

const endPlan = async (draft: Draft, shortfall: Shortfall | undefined, deadBefore: number | undefined) => {
  const { world, operation } = draft;
  const stored = await loadMessages(world, operation.operation, 0, PLAN_MESSAGES_MAX);
  // Of a request that was sent twice at once, both may have stored what they read: what is over the limit is left.
  const messages = stored.slice(0, operation.limit);
  const plan = {
    state: 'planned',
    estimateMs: await estimateOf(draft, messages),
    found: countsOf(messages),
    messages: (messages.at(-1)?.position ?? -1) + 1,
    ...(shortfall === undefined ? {} : { shortfall }),
    ...(deadBefore === undefined ? {} : { deadBefore }),
  } as const;
  return changeOperation(world, operation, (read) => (read.state === 'planning' ? { ...read, ...plan } : undefined));
};

const countsOf = (messages: readonly OperationMessage[]): Operation['found'] => {
  const counts: { [kind in FindingKind]?: number } = {};
  for (const { finding } of messages) counts[finding] = (counts[finding] ?? 0) + 1;
  return counts;
};

const estimateOf = async ({ look, sending }: Draft, messages: readonly OperationMessage[]): Promise<number> => {
  for (const { finding, event, destination } of messages) {
    if (finding === 'redrive' && destination !== undefined) noteSend(sending, destination, event);
  }
  const shares: Share[] = [];
  for (const [destination, { size }] of sending) {
    const gate = await look.gateOf(destination);
    if (gate.kind !== 'no-destination' && gate.kind !== 'newer') shares.push({ sends: size, config: gate.config });
  }
  return estimateMs(shares);
};
