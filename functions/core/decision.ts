/** What makes a decision one decision: the same request asks for the same thing, and whatever it changed names it. */
import { createHash } from 'node:crypto';
import type { DestinationId, EventId, RequestId } from './ids.ts';
import type { Gate } from './items.ts';
import type { Command } from './operations.ts';

/** Something that a person asks for, under a request id of their own. */
export interface Asked {
  readonly request: RequestId;
  readonly command: Command;
  readonly actor: string;
  readonly reason: string;
  readonly event?: EventId;
  readonly destination?: DestinationId;
  readonly operation?: string;
  /** The name of a token. */
  readonly token?: string;
  readonly evidence?: string;
  /** Whatever else was asked for, in an order of the command's own. */
  readonly more: readonly (string | number | boolean)[];
}

/**
 * SHA-256 over all that was asked for, who asked included: a request id that comes again with anything else is not a
 * repeat.
 */
export const fingerprintOfAsked = (asked: Asked): string => {
  const { command, actor, reason, event, destination, operation, token, evidence, more } = asked;
  const about = token === undefined ? more : [token, ...more];
  // A list of values as JSON is injective: every text ends at its own quote.
  const text = JSON.stringify([command, actor, reason, event, destination, operation, evidence, ...about]);
  return createHash('sha256').update('onceward decision 1\n').update(text, 'utf8').digest('base64url');
};

/** A request that comes again only after this many later ones have changed the same gate is not recognised there. */
export const GATE_DECISIONS_KEPT = 8;

/** Whether this request has changed the gate before, whatever has become of the gate since. */
export const hasDecided = (gate: Gate, request: RequestId): boolean => gate.decided?.includes(request) ?? false;

export const decidedBy = (gate: Gate, request: RequestId): Gate => ({
  ...gate,
  decided: [...(gate.decided ?? []), request].slice(-GATE_DECISIONS_KEPT),
});
