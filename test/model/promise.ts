/**
 * The promise as a model: so simple that it can be seen to be right. It knows what clients were told, what the partner
 * did and what people decided; never how the product does it.
 */
import type { Delivery } from '../../functions/core/model.ts';
import type { Sent } from '../support/world-ports.ts';

export const DESTINATIONS = ['safe', 'unsafe'] as const;
export type DestinationName = (typeof DESTINATIONS)[number];
export const EVENTS = ['e1', 'e2', 'e3'] as const;
export type EventName = (typeof EVENTS)[number];

/** One delivery as everybody outside has seen it. */
export interface Duty {
  readonly event: EventName;
  readonly destination: DestinationName;
  /** Somebody has asked for it. Without an answer it is no promise, and may be kept all the same. */
  asked: boolean;
  promised: boolean;
  /** The partner has done it, as often as this. */
  effects: number;
  requests: number;
  /** A request has left of which nobody knows whether it arrived, and no person has said anything since. */
  inDoubt: boolean;
  grants: number;
  /** Second effects that a person has accepted, or brought about by saying that nothing had arrived. */
  accepted: number;
  /** What the ledger has shown as final: from then on it stays. */
  final: 'delivered' | 'cancelled' | undefined;
}

export interface Promised {
  readonly duties: readonly Duty[];
  readonly paused: Set<DestinationName>;
  /** Request ids of people are never used twice. */
  requests: number;
}

export const nothingYet = (): Promised => ({
  duties: EVENTS.flatMap((event) =>
    DESTINATIONS.map((destination) => ({
      event,
      destination,
      asked: false,
      promised: false,
      effects: 0,
      requests: 0,
      inDoubt: false,
      grants: 0,
      accepted: 0,
      final: undefined,
    })),
  ),
  paused: new Set(),
  requests: 0,
});

export const BUDGET = 4;

/** A line for each promise that these requests break, in the state in which they were made. */
export const brokenBySends = (
  model: Promised,
  duty: Duty,
  sends: readonly Sent[],
  first: Sent | undefined,
): string[] => {
  const broken: string[] = [];
  const name = `${duty.event} to ${duty.destination}`;
  if (sends.length === 0) return broken;
  if (!duty.asked) broken.push(`${name} is sent, and nobody has asked for it`);
  if (duty.final !== undefined) broken.push(`${name} is sent, and it was ${duty.final}`);
  if (model.paused.has(duty.destination)) broken.push(`${name} is sent, and its destination is paused`);
  if (duty.destination === 'unsafe' && duty.inDoubt) broken.push(`${name} may have arrived, and is sent again`);
  for (const sent of sends) {
    const same =
      sent.headers['webhook-id'] === first?.headers['webhook-id'] &&
      sent.headers['idempotency-key'] === first?.headers['idempotency-key'] &&
      Buffer.from(sent.body).equals(Buffer.from(first?.body ?? []));
    if (!same) broken.push(`${name} is sent with another key or body than before`);
  }
  if (duty.requests > BUDGET + duty.grants) broken.push(`${name} was sent ${duty.requests} times`);
  return broken;
};

/** A line for each promise that the row breaks. */
export const brokenByRow = (duty: Duty, row: Delivery | undefined): string[] => {
  const name = `${duty.event} to ${duty.destination}`;
  if (row === undefined) return duty.promised ? [`${name} was promised, and is not there`] : [];
  const broken: string[] = [];
  const entries = row.journal.lines.map(({ entry }) => entry);
  const successes = entries.filter((entry) => entry.kind === 'outcome' && entry.class === 'delivered').length;
  if (successes > 1) broken.push(`${name} has ${successes} recorded successes`);
  if (duty.final !== undefined && row.status !== duty.final)
    broken.push(`${name} was ${duty.final}, and is ${row.status}`);
  if (row.status === 'delivered' && row.by !== 'decision' && duty.effects === 0) {
    broken.push(`${name} is delivered, and the partner has done nothing`);
  }
  if (duty.effects > 1 + duty.accepted) broken.push(`${name} has had ${duty.effects} effects`);
  return broken;
};
