/** W3C Trace Context: one trace for an event, one span for each attempt, all derived, so that nothing has to be stored. */
import { createHash } from 'node:crypto';
import type { ClaimId, EventId } from './ids.ts';

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The header as it came, if it is valid by the specification (version 00, no all-zero ids); otherwise undefined. */
export const readTraceparent = (value: string | undefined): string | undefined => {
  const parts = value === undefined ? null : TRACEPARENT.exec(value);
  if (!parts || /^0+$/.test(parts[1] ?? '') || /^0+$/.test(parts[2] ?? '')) return undefined;
  return parts[0];
};

const hex = (text: string, chars: number): string => createHash('sha256').update(text).digest('hex').slice(0, chars);

/** What an attempt sends: the caller's trace where it gave one, else a trace made from the event's id. */
export const traceparentOf = (event: EventId, claim: ClaimId, given: string | undefined): string => {
  const parts = given === undefined ? null : TRACEPARENT.exec(given);
  const trace = parts?.[1] ?? hex(`trace ${event}`, 32);
  return `00-${trace}-${hex(`span ${claim}`, 16)}-${parts?.[3] ?? '01'}`;
};
