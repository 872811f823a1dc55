/** Decisions as a person sends them, and what is left of them in the ledger. */
import { keyOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { parseRequestId } from '../../functions/core/ids.ts';
import type { Right } from '../../functions/core/items.ts';
import { causeOf } from '../../functions/core/journal.ts';
import type { Decided } from '../../functions/core/operations.ts';
import type { Ref } from '../../functions/ports.ts';
import type { Answered, TestWorld } from './world.ts';
import { EVENT, PARTNER } from './world-states.ts';

export interface DecisionCall {
  readonly method?: 'POST' | 'DELETE';
  readonly path: string;
  readonly right: Right;
  readonly body: Readonly<Record<string, unknown>>;
}

const DELIVERY = `/v1/events/${EVENT}/deliveries/${PARTNER}`;
const DESTINATION = `/v1/destinations/${PARTNER}`;
const REASON = 'customer 4711 called';

/** Every route that takes a decision, with a request that is complete. */
export const CALLS = {
  redrive: { path: `${DELIVERY}/redrive`, right: 'resend', body: { reason: REASON } },
  resolve: {
    path: `${DELIVERY}/resolve`,
    right: 'decide',
    body: { reason: REASON, as: 'delivered', evidence: 'seen in their books' },
  },
  cancel: { path: `${DELIVERY}/cancel`, right: 'decide', body: { reason: REASON } },
  replay: { path: `/v1/events/${EVENT}/replay`, right: 'resend', body: { reason: REASON } },
  pause: { path: `${DESTINATION}/pause`, right: 'pause', body: { reason: REASON } },
  resume: { path: `${DESTINATION}/resume`, right: 'pause', body: { reason: REASON } },
  test: { path: `${DESTINATION}/test`, right: 'pause', body: { reason: REASON } },
  delete: { method: 'DELETE', path: DESTINATION, right: 'admin', body: { reason: REASON } },
} as const satisfies Readonly<Record<string, DecisionCall>>;

export interface CallChange {
  readonly right?: Right;
  readonly path?: string;
  /** Members of the body besides, or instead. `undefined` takes one out. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Sends a decision under this request id; without one, there is no header. */
export const decideBy = (
  world: TestWorld,
  call: DecisionCall,
  request: string | undefined,
  change: CallChange = {},
): Promise<Answered> =>
  world.call('operator', call.method ?? 'POST', change.path ?? call.path, {
    token: world.token(change.right ?? call.right),
    body: { ...call.body, ...change.body },
    ...(request === undefined ? {} : { headers: { 'idempotency-key': request } }),
  });

const refOfDecision = (request: string): Extract<Ref, { item: 'decision' }> => {
  const parsed = parseRequestId(request);
  if (parsed.kind === 'bad') throw new TypeError(`request id ${parsed.reason}`);
  return { item: 'decision', cause: causeOf('actor', parsed.id) };
};

export const decisionOf = async (world: TestWorld, request: string): Promise<Decided> => {
  const found = await world.records.load(refOfDecision(request));
  if (found.kind !== 'found') throw new Error(`decision ${request}: ${found.kind}`);
  return found.item;
};

export const isDecided = (world: TestWorld, request: string): boolean =>
  world.store.peek(keyOf(refOfDecision(request))) !== undefined;

/** How often a person's request changed the row: entries that carry it as their cause. */
export const entriesBy = async (world: TestWorld, request: string, event = EVENT): Promise<number> => {
  const row = await world.row(event, PARTNER);
  return row.journal.lines.filter(({ entry }) => entry.cause === `a:${request}`).length;
};
