/**
 * The sender, loaded when the first message comes and not when the process starts: its HTTP client is nearly half of what
 * a receiver would have to load, and a message that is a duplicate, early or held never needs it.
 *
 *   cold start ──► first message: warm ──► the ledger is asked ──► prepare: ready ──► re-check ──► send
 *                                 └────── loads meanwhile ────────────▲
 *
 * Between the re-check and the socket nothing may take time, so whoever sends waits for `ready` before it.
 */
import type { Sender } from '../../ports.ts';
import type { SenderOptions } from './sender.ts';

export interface LazySender extends Sender {
  /** Begins to load, and waits for nothing. */
  warm(): void;
  ready(): Promise<void>;
}

export const createLazySender = (options: SenderOptions): LazySender => {
  let loaded: Promise<Sender> | undefined;
  const load = (): Promise<Sender> => {
    loaded ??= import('./sender.ts').then(({ createSender }) => createSender(options));
    return loaded;
  };
  return {
    // A failure is told to whoever waits for it.
    warm: () => void load().catch(() => {}),
    ready: async () => void (await load()),
    send: async (request) => (await load()).send(request),
    close: async () => (await loaded)?.close(),
  };
};
