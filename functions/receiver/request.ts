/** What an attempt sends: the same key and the same bytes every time, a fresh timestamp and signature each time. */
import { CONTENT_TYPE, IDEMPOTENCY_KEY, TRACEPARENT, USER_AGENT } from '../core/headers.ts';
import type { DestinationId } from '../core/ids.ts';
import { outgoingKey } from '../core/keys.ts';
import { parseSecret, type SigningSecret, signatureHeaders } from '../core/signature.ts';
import { traceparentOf } from '../core/trace.ts';
import { LedgerCorrupt, type World } from '../ports.ts';
import { brokenItem } from '../steps/broken-item.ts';
import type { ClaimMade } from './claim.ts';

export interface Prepared {
  readonly kind: 'prepared';
  /** Headers for an attempt whose first byte leaves at this time. */
  headersAt(nowMs: number): Readonly<Record<string, string>>;
}

export type Preparation = Prepared | { readonly kind: 'impossible'; readonly detail: 'argument' };

const AGENT = 'onceward/1';

/** Everything that takes time or can fail happens here, before the re-check. */
export const prepare = async (
  world: Pick<World, 'secrets' | 'sender' | 'telemetry'>,
  claimed: ClaimMade,
): Promise<Preparation> => {
  const { row, event, config } = claimed;
  const [texts] = await Promise.all([textsOf(world, row.destination), world.sender.ready?.()]);
  const secrets = usable(texts);
  if (secrets.length === 0) {
    world.telemetry.line('destination.no-secret', { destination: row.destination });
    return { kind: 'impossible', detail: 'argument' };
  }
  const id = outgoingKey(row.event, row.destination);
  const traceparent = traceparentOf(row.event, row.claim.id, event.traceparent);
  return {
    kind: 'prepared',
    headersAt: (nowMs) => ({
      ...config.headers,
      [CONTENT_TYPE]: event.contentType,
      [USER_AGENT]: AGENT,
      [IDEMPOTENCY_KEY]: id,
      [TRACEPARENT]: traceparent,
      ...signatureHeaders({ id, timestampSec: Math.floor(nowMs / 1_000), body: event.payload, secrets }),
    }),
  };
};

/** A secret that cannot be read is as good as none: nothing can be signed, and waiting does not mend it. */
const textsOf = async (
  world: Pick<World, 'secrets' | 'telemetry'>,
  destination: DestinationId,
): Promise<readonly string[]> => {
  try {
    return await world.secrets.signing(destination);
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    brokenItem(world.telemetry, { destination }, error);
    return [];
  }
};

const usable = (texts: readonly string[]): SigningSecret[] =>
  texts.flatMap((text) => {
    const parsed = parseSecret(text);
    return parsed.kind === 'ok' ? [parsed.secret] : [];
  });
