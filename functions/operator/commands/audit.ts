/** The raw material of an audit: rows with their journals as they are stored, and the payload's hash as it is now. */
import type { AuditMaterial } from '../../core/audit-material.ts';
import { payloadHash } from '../../core/fingerprint.ts';
import type { DestinationId, EventId } from '../../core/ids.ts';
import type { AcceptedEvent } from '../../core/items.ts';
import type { Delivery, DeliveryRef } from '../../core/model.ts';
import { LedgerCorrupt, type Ref, type World } from '../../ports.ts';

type Needs = Pick<World, 'ledger' | 'pages'>;

export type Audited =
  | { readonly kind: 'row'; readonly row: AuditMaterial }
  /** It should be there by its event, or by the index, and is not. */
  | { readonly kind: 'missing'; readonly ref: DeliveryRef }
  | {
      readonly kind: 'unreadable';
      readonly ref: DeliveryRef;
      readonly why: 'written-by-newer-code' | 'ledger-corrupt';
    };

const hashNow = (event: AcceptedEvent | undefined): { readonly payloadHashNow?: string } =>
  event === undefined ? {} : { payloadHashNow: payloadHash(event.payload) };

const materialOf = (row: Delivery, event: AcceptedEvent | undefined): AuditMaterial => ({
  event: row.event,
  destination: row.destination,
  payloadHash: row.payloadHash,
  head: row.journal.head,
  lines: row.journal.lines.map(({ text }) => text),
  status: row.status,
  ...('reason' in row ? { reason: row.reason } : {}),
  ...('by' in row ? { by: row.by } : {}),
  attempts: row.attempts,
  budget: row.budget,
  refunds: row.refunds,
  redrives: row.redrives,
  decisions: row.decisions,
  ...hashNow(event),
});

const loadEvent = async ({ ledger }: Pick<World, 'ledger'>, event: EventId): Promise<AcceptedEvent | undefined> => {
  const found = await ledger.load({ item: 'event', event });
  return found.kind === 'found' ? found.item : undefined;
};

const loadOne = async (
  { ledger }: Pick<World, 'ledger'>,
  ref: DeliveryRef,
  loadedEvent: () => Promise<AcceptedEvent | undefined>,
): Promise<Audited> => {
  try {
    const event = await loadedEvent();
    const found = await ledger.load({ item: 'delivery', event: ref.event, destination: ref.destination });
    if (found.kind === 'absent') return { kind: 'missing', ref };
    if (found.kind === 'later') return { kind: 'unreadable', ref, why: 'written-by-newer-code' };
    return { kind: 'row', row: materialOf(found.item, event) };
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    return { kind: 'unreadable', ref, why: 'ledger-corrupt' };
  }
};

/** Every delivery that the event was accepted for; undefined: there is no such event. */
export const auditEvent = async (
  world: Pick<World, 'ledger'>,
  event: EventId,
): Promise<readonly Audited[] | undefined> => {
  const accepted = await loadEvent(world, event);
  if (accepted === undefined) return undefined;
  return Promise.all(
    accepted.destinations.map((destination) => loadOne(world, { event, destination }, async () => accepted)),
  );
};

export interface AuditQuery {
  readonly destination: DestinationId;
  /** The UTC day on which the deliveries were accepted; undefined: the latest days that the index keeps in one list. */
  readonly day?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export interface AuditPage {
  readonly items: readonly Audited[];
  readonly next?: string;
}

/** Payloads are big: so many are looked at side by side. */
const AT_ONCE = 10;

export const auditPage = async (world: Needs, query: AuditQuery): Promise<AuditPage> => {
  const page = await world.pages.list({ list: 'recent', ...query });
  const refs = page.refs.filter((ref): ref is Extract<Ref, { item: 'delivery' }> => ref.item === 'delivery');
  const items: Audited[] = [];
  for (let from = 0; from < refs.length; from += AT_ONCE) {
    const some = refs.slice(from, from + AT_ONCE).map(({ event, destination }) => ({ event, destination }));
    items.push(...(await Promise.all(some.map((ref) => loadOne(world, ref, () => loadEvent(world, ref.event))))));
  }
  return { items, ...(page.next === undefined ? {} : { next: page.next }) };
};
