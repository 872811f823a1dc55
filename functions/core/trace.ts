/** W3C Trace Context: one trace for an event, one span for each attempt, all derived, so that nothing has to be stored. */
import { hash } from 'node:crypto';
import type { ClaimId, EventId } from './ids.ts';

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The header as it came, if it is valid by the specification (version 00, no all-zero ids); otherwise undefined. */
export const readTraceparent = (value: string | undefined): string | undefined => {
  const parts = value === undefined ? null : TRACEPARENT.exec(value);
  if (!parts || /^0+$/.test(parts[1] ?? '') || /^0+$/.test(parts[2] ?? '')) return undefined;
  return parts[0];
};

const hex = (text: string, chars: number): string => hash('sha256', text, 'hex').slice(0, chars);

const partsOf = (given: string | undefined) => (given === undefined ? null : TRACEPARENT.exec(given));

/** The caller's trace where it gave one, else a trace made from the event's id. 32 hexadecimal digits. */
export const traceIdOf = (event: EventId, given: string | undefined): string =>
  partsOf(given)?.[1] ?? hex(`trace ${event}`, 32);

/** What an attempt sends: one trace for all attempts of an event, a span of its own for each. */
export const traceparentOf = (event: EventId, claim: ClaimId, given: string | undefined): string =>
  `00-${traceIdOf(event, given)}-${hex(`span ${claim}`, 16)}-${partsOf(given)?.[3] ?? '01'}`;
