/** Signing secrets that overlap: after a rotation the older ones go on for a while, so that a receiver can change over. */
import type { SecretItem } from './items.ts';

export interface LiveSecret {
  readonly text: string;
  /** When it stops to sign; undefined for the newest, and for older ones that nobody has ended. */
  readonly endsAtMs?: number;
}

/** Newest first. Each of them signs every request: one signature for each in the header. */
export const liveSecrets = ({ secrets, olderEndAtMs }: SecretItem, nowMs: number): readonly LiveSecret[] =>
  secrets.flatMap((text, index) => {
    const endsAtMs = index === 0 ? undefined : olderEndAtMs?.[index - 1];
    if (endsAtMs === undefined) return [{ text }];
    return endsAtMs > nowMs ? [{ text, endsAtMs }] : [];
  });

/** The new one in front; what is live goes on for the overlap, and no longer than it was to. */
export const rotated = (
  read: SecretItem | undefined,
  made: string,
  overlapMs: number,
  nowMs: number,
): Pick<SecretItem, 'secrets' | 'olderEndAtMs'> => {
  const older =
    read === undefined || overlapMs === 0 ? [] : liveSecrets(read, nowMs).filter(({ text }) => text !== made);
  return {
    secrets: [made, ...older.map(({ text }) => text)],
    olderEndAtMs: older.map(({ endsAtMs = Number.POSITIVE_INFINITY }) => Math.min(endsAtMs, nowMs + overlapMs)),
  };
};
