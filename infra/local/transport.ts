/**
 * A transport of the local world: the ports over it, and the queue behind them as a story or a test sees it.
 *
 *   open --> begin: messages are pushed from now on --> stop: no more are, those underway end --> close
 */
import type { DeadLetters, Push, Queue } from '../../functions/ports.ts';
import type { Receiver } from '../../functions/receiver/run.ts';

export type LocalQueueStats = Readonly<Record<'available' | 'delayed' | 'inFlight' | 'dead', number>>;

export interface LocalQueue {
  readonly url: string;
  /** The next delivery of a message that holds `text` is made so many times in all, at the same moment. */
  duplicateNext(copies: number, text: string): void;
  /** The latest deliveries that have ended, oldest first, with the status that they were answered, or would have been. */
  pushes(): readonly { readonly messageId: string; readonly status?: number }[];
  /** Resolves when nothing is left to do before the clock moves on. */
  idle(): Promise<void>;
  stats(): Promise<LocalQueueStats>;
  /** Puts a message straight to the dead letters and gives its id: for stories that begin with some. */
  deadLetter(message: string): Promise<string>;
}

export interface LocalTransport {
  readonly publisher: Queue;
  readonly deadLetters: DeadLetters;
  readonly push: Push;
  readonly queue: LocalQueue;
  /** Whether its pushes come by HTTP, to `/push/infrai` at this address. */
  readonly pushesByHttp: boolean;
  begin(ports: Receiver, frontUrl: string): void;
  stop(): Promise<void>;
  close(): Promise<void>;
}
