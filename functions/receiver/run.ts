/** What is known of one push while it is being worked on. */
import type { World } from '../ports.ts';

/** What the receiver needs: the world, and how often the schedule ticks here. */
export interface Receiver extends World {
  readonly tickMs: number;
}

export interface Run {
  /** Names this invocation: the holder of a claim, and the request id in logs. */
  readonly id: string;
  /** Why: the cause that journal entries carry. */
  readonly cause: string;
  readonly messageId?: string;
  /** Time until the platform ends this invocation. */
  remainingMs(): number;
}
