/** What a journal leaves open: attempts that may have arrived and of which nobody has learned what became of them. */
import type { Entry } from './model.ts';

/**
 * The numbers of the attempts in doubt, in order. An answer that came late takes its attempt out, and so does a person
 * who says what happened. An accepted second effect does not: the first attempt is as unknown as before.
 */
export const attemptsInDoubt = (entries: readonly Entry[]): readonly number[] => {
  const open = new Set<number>();
  for (const entry of entries) {
    if (entry.decision === 'resolve-delivered' || entry.decision === 'resolve-not-delivered') open.clear();
    if (entry.attempt === undefined || entry.class === undefined) continue;
    if (entry.class === 'in-doubt') open.add(entry.attempt);
    else open.delete(entry.attempt);
  }
  return [...open].sort((a, b) => a - b);
};
