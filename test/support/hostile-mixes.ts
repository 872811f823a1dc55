/** Many random mixes, some side by side, and a line for every promise that was broken. */
import { createSender } from '../../functions/adapters/sender/sender.ts';
import type { Sender } from '../../functions/ports.ts';
import { attemptAt, brokenPromises } from './hostile-attempt.ts';
import { type Mix, mixOf } from './hostile-mix.ts';
import { clock, LOCAL, toLoopback } from './sending.ts';

export type SenderWith = (signalAfter: (ms: number) => AbortSignal) => Sender;

const AT_ONCE = 8;

export const senderUnderTest: SenderWith = (signalAfter) =>
  createSender({ policy: LOCAL, clock, lookup: toLoopback, signalAfter });

export const brokenMixes = async (
  seed: number,
  count: number,
  senderWith: SenderWith,
  played: (mix: Mix) => void = () => {},
): Promise<readonly string[]> => {
  const broken: string[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let nth = next++; nth < count; nth = next++) {
      const mix = mixOf(seed, nth);
      played(mix);
      const seen = await attemptAt(mix, senderWith);
      for (const promise of brokenPromises(seen))
        broken.push(`seed ${seed}, mix ${nth}: ${promise} ${JSON.stringify(seen)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return broken;
};
