/** A harmless event for one destination, through the normal way: claimed, signed, journaled like any other. */
import { createHash } from 'node:crypto';
import { TEST_CONTENT_TYPE, TEST_TYPE, testPayload } from '../../core/drill.ts';
import { fingerprintOfBytes } from '../../core/fingerprint.ts';
import { type EventId, parseEventId, type RequestId } from '../../core/ids.ts';
import { causeOf } from '../../core/journal.ts';
import type { Submission } from '../../core/submission.ts';
import { accept } from '../../steps/accept.ts';
import type { Effects } from '../../steps/effects.ts';
import { DONE, decideOnce, type Ready } from './decide.ts';
import { showDestination } from './destinations.ts';
import type { DestinationAsked } from './pause.ts';

type Refused = { readonly kind: 'absent' } | { readonly kind: 'newer' };

export type DestinationTested =
  | { readonly kind: 'done'; readonly event: EventId }
  /** Somebody else's event stands under the id that belongs to this request. */
  | { readonly kind: 'conflict'; readonly event: EventId }
  | { readonly kind: 'reused' }
  | Refused;

const PAYLOAD = testPayload();

export const testDestination = async (world: Effects, asked: DestinationAsked): Promise<DestinationTested> => {
  const event = testEventId(asked.request);
  const once = await decideOnce<Refused>(
    world,
    { ...asked, command: 'test', more: [] },
    {
      look: async (): Promise<Ready | Refused> => {
        const shown = await showDestination(world, asked.destination);
        return shown.kind === 'found' ? { kind: 'ready', before: shown.config.mode } : shown;
      },
      act: async () => {
        const source = { kind: 'api', cause: causeOf('actor', asked.request) } as const;
        const accepted = await accept(world, submissionOf(event, asked), source);
        return accepted.kind === 'accepted' ? DONE : accepted.kind;
      },
    },
  );
  if (once.kind !== 'decided') return once;
  if (once.result === DONE) return { kind: 'done', event };
  return once.result === 'conflict' ? { kind: 'conflict', event } : { kind: 'absent' };
};

const testEventId = (request: RequestId): EventId => {
  const parsed = parseEventId(`test~${createHash('sha256').update(request).digest('base64url')}`);
  if (parsed.kind === 'bad') throw new TypeError(`the id of a test event ${parsed.reason}`);
  return parsed.id;
};

const submissionOf = (event: EventId, { destination }: DestinationAsked): Submission => ({
  event,
  type: TEST_TYPE,
  payload: PAYLOAD,
  contentType: TEST_CONTENT_TYPE,
  fingerprint: fingerprintOfBytes(TEST_CONTENT_TYPE, PAYLOAD),
  destinations: [destination],
});
