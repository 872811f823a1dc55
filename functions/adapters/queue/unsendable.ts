/** What a queue would refuse, or misread, whichever queue it is: found before the call, and not sent at all. */
import type { Publication, QueueLimits } from '../../ports.ts';

export interface Unsendable {
  readonly code: 'too-large' | 'delay-too-long' | 'senseless-message';
  readonly detail: string;
}

export const unsendable = (
  { messageBytesMax, delayMsMax }: QueueLimits,
  { body, delaySec }: Pick<Publication, 'body' | 'delaySec'>,
): Unsendable | undefined => {
  const bytes = Buffer.byteLength(body, 'utf8');
  if (bytes > messageBytesMax) {
    return { code: 'too-large', detail: `the message has ${bytes} bytes, and the queue takes ${messageBytesMax}` };
  }
  if (delaySec * 1_000 > delayMsMax) {
    return { code: 'delay-too-long', detail: `a delay of ${delaySec} s, and the queue takes ${delayMsMax / 1_000} s` };
  }
  if (!Number.isSafeInteger(delaySec) || delaySec < 0) {
    return { code: 'senseless-message', detail: 'the delay must be whole seconds, from 0' };
  }
  if (!isObjectText(body)) {
    return { code: 'senseless-message', detail: 'the message is not the text of a JSON object' };
  }
  return undefined;
};

const isObjectText = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};
