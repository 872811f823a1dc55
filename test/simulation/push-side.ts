/**
 * The push side of the queue. Its wrapping is read by the real code; the signature has tests of its own, and a mark
 * stands for it here: a history has some dozens of pushes, and hashing would be a tenth of its time.
 */
import { createInfraiPush } from '../../functions/adapters/queue/infrai/push.ts';
import type { Push } from '../../functions/ports.ts';

const HEADER = 'x-mark';
const MARK = 'ours';

export const PUSH: Push = {
  verify: (header) =>
    header(HEADER) === MARK
      ? { kind: 'authentic' }
      : { kind: 'refused', code: header(HEADER) ? 'mismatch' : 'missing' },
  unwrap: createInfraiPush({ secrets: [], signatureHeader: HEADER, prefix: '' }).unwrap,
};

/** The bytes of a push and its headers, as the queue makes them; `forged` in place of the mark. */
export const pushOf = (messageId: string, payload: string, forged: string | undefined) => ({
  header: (name: string): string | undefined => (name === HEADER ? (forged ?? MARK) : undefined),
  body: Buffer.from(`{"message_id":${JSON.stringify(messageId)},"payload":${payload}}`),
});
