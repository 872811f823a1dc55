/** What an attempt sends: the same key and the same bytes every time, a fresh timestamp and signature each time. */
import { outgoingKey } from '../core/keys.ts';
import { outgoingHeaders } from '../core/outgoing.ts';
import { traceparentOf } from '../core/trace.ts';
import type { World } from '../ports.ts';
import { signingSecrets } from '../steps/signing.ts';
import type { ClaimMade } from './claim.ts';

export interface Prepared {
  readonly kind: 'prepared';
  /** Headers for an attempt whose first byte leaves at this time. */
  headersAt(nowMs: number): Readonly<Record<string, string>>;
}

export type Preparation = Prepared | { readonly kind: 'impossible'; readonly detail: 'argument' };

/** Everything that takes time or can fail happens here, before the re-check. */
export const prepare = async (
  world: Pick<World, 'secrets' | 'sender' | 'telemetry'>,
  claimed: ClaimMade,
): Promise<Preparation> => {
  const { row, event, config } = claimed;
  const [secrets] = await Promise.all([signingSecrets(world, row.destination), world.sender.ready?.()]);
  if (secrets.length === 0) return { kind: 'impossible', detail: 'argument' };
  const id = outgoingKey(row.event, row.destination);
  const traceparent = traceparentOf(row.event, row.claim.id, event.traceparent);
  const { contentType, payload: body } = event;
  return {
    kind: 'prepared',
    headersAt: (nowMs) =>
      outgoingHeaders({
        own: config.headers,
        contentType,
        traceparent,
        id,
        timestampSec: Math.floor(nowMs / 1_000),
        body,
        secrets,
      }),
  };
};
