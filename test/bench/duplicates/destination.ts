/** A destination that ignores keys: whatever comes is acted upon, each time. It counts the effects of each event. */
import { openLoopback } from './loopback.ts';

export interface Destination {
  readonly url: string;
  effectsOf(event: string): number;
  /** Called with the number of all effects so far, after each. */
  onEffect(hook: (effects: number) => void): void;
  readonly effects: number;
  close(): Promise<void>;
}

/** It acts when the request has been read, and answers this much later: what is cut off in between is in doubt. */
const ANSWER_AFTER_MS = 5;

export const openDestination = async (): Promise<Destination> => {
  const counts = new Map<string, number>();
  let effects = 0;
  let hook: (effects: number) => void = () => {};
  const { url, close } = await openLoopback((body, response) => {
    const { id } = JSON.parse(body) as { readonly id: string };
    counts.set(id, (counts.get(id) ?? 0) + 1);
    effects += 1;
    hook(effects);
    setTimeout(() => response.writeHead(200).end(), ANSWER_AFTER_MS);
  });
  return {
    url: `${url}effect`,
    close,
    effectsOf: (event) => counts.get(event) ?? 0,
    onEffect: (next) => {
      hook = next;
    },
    get effects() {
      return effects;
    },
  };
};

/** 1 KB, and the name by which the destination tells events apart. */
export const bodyOf = (event: string): string => JSON.stringify({ id: event, text: 'x'.repeat(1_000 - event.length) });
