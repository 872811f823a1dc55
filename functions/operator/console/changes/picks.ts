/** Deliveries that were ticked in a list: two ids, encoded once, with a border that neither can hold. */
import { parseDestinationId, parseEventId } from '../../../core/ids.ts';
import type { DeliveryRef } from '../../../core/model.ts';

export const pickOf = ({ event, destination }: DeliveryRef): string =>
  `${encodeURIComponent(event)}/${encodeURIComponent(destination)}`;

/** Undefined for what no list of ours has given out. */
export const readPick = (text: string): DeliveryRef | undefined => {
  const [first, second, ...rest] = text.split('/');
  if (first === undefined || second === undefined || rest.length > 0) return undefined;
  try {
    const event = parseEventId(decodeURIComponent(first));
    const destination = parseDestinationId(decodeURIComponent(second));
    if (event.kind === 'bad' || destination.kind === 'bad') return undefined;
    return { event: event.id, destination: destination.id };
  } catch {
    return undefined;
  }
};
