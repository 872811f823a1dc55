/**
 * What happened inside a world that may die at any moment: one line for each thing, in the order in which they happened,
 * with the push that did it. A line is with the system before the next step begins, so SIGKILL takes nothing back.
 */
import type { EntryKind } from '../../../functions/core/model.ts';
import type { OutcomeClass } from '../../../functions/core/outcome.ts';

export interface EntryWritten {
  readonly kind: EntryKind;
  readonly attempt?: number;
  readonly class?: OutcomeClass;
}

export type Happened =
  | { readonly kind: 'up' }
  /** A delivery was written, with these new entries in its journal. */
  | {
      readonly kind: 'wrote';
      readonly push: number;
      readonly event: string;
      readonly destination: string;
      readonly entries: readonly EntryWritten[];
    }
  /** A request is about to leave. */
  | { readonly kind: 'sends'; readonly push: number; readonly key: string }
  | { readonly kind: 'answered'; readonly push: number; readonly key: string; readonly status?: number }
  /** The queue, or a client, has our answer to this request. */
  | { readonly kind: 'acknowledged'; readonly push: number; readonly path: string; readonly status: number };

export const linesOf = (text: string): readonly Happened[] =>
  text
    .split('\n')
    // The kill may have cut the last line.
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Happened);
