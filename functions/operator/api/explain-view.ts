/** An explanation for outside: ISO times, causes in words, who decided in one line with what they did. */
import type { Act, Explanation } from '../../core/explain.ts';
import type { AttemptSeen } from '../../core/explain-attempts.ts';
import type { GateSeen, Next } from '../../core/explain-next.ts';
import { wordsOf } from '../../core/explain-words.ts';
import { causeText, given, iso } from './views.ts';

export const explanationView = (explained: Explanation) => {
  const { acceptedAtMs, keyFromMs, sinceMs, attempts, acts, next, ...rest } = explained;
  return {
    ...rest,
    attempts: attempts.map(attemptView),
    acts: acts.map(actView),
    acceptedAt: iso(acceptedAtMs),
    ...given('since', sinceMs === undefined ? undefined : iso(sinceMs)),
    ...given('keyFrom', keyFromMs === undefined ? undefined : iso(keyFromMs)),
    next: nextView(next),
    words: wordsOf(explained),
  };
};

const attemptView = ({ atMs, cause, endedAtMs, late, waited, ...rest }: AttemptSeen) => ({
  ...rest,
  at: iso(atMs),
  ...given('cause', cause === undefined ? undefined : causeText(cause)),
  ...given('endedAt', endedAtMs === undefined ? undefined : iso(endedAtMs)),
  ...given(
    'late',
    late && { seq: late.seq, at: iso(late.atMs), outcome: late.outcome, ...given('status', late.status) },
  ),
  ...given('waited', waited && { count: waited.count, since: iso(waited.sinceMs), reason: waited.reason }),
});

const actView = ({ seq, atMs, what, grant, cause, by }: Act) => ({
  seq,
  at: iso(atMs),
  what,
  ...given('grant', grant),
  ...given('cause', cause === undefined ? undefined : causeText(cause)),
  ...given('actor', by?.actor),
  ...given('reason', by?.reason),
  ...given('ranBy', by?.ranBy),
  ...given('evidence', by?.evidence),
  ...given('decision', by?.request),
});

const gateView = (gate: GateSeen) =>
  gate.kind === 'closed'
    ? {
        kind: gate.kind,
        reason: gate.reason,
        ...given('opensAt', gate.opensAtMs === undefined ? undefined : iso(gate.opensAtMs)),
        ...given('pausedBy', gate.pause?.by),
        ...given('pausedBecause', gate.pause?.reason),
        ...given('pausedSince', gate.pause && iso(gate.pause.sinceMs)),
      }
    : gate;

const nextView = (next: Next) => {
  switch (next.kind) {
    case 'nothing':
    case 'person':
      return next;
    case 'under-way':
      return {
        kind: next.kind,
        leaseEndsAt: iso(next.leaseEndsAtMs),
        lookAfter: iso(next.lapsesAfterMs),
        ifLost: next.ifLost,
      };
    case 'worker-lost':
      return {
        kind: next.kind,
        leaseEndsAt: iso(next.leaseEndedAtMs),
        lookAfter: iso(next.lookAfterMs),
        ifLost: next.ifLost,
      };
    case 'parked':
      return {
        kind: next.kind,
        reason: next.reason,
        since: iso(next.sinceMs),
        lookAfter: iso(next.lookAfterMs),
        gate: gateView(next.gate),
      };
    case 'attempt':
      return {
        kind: next.kind,
        from: iso(next.fromMs),
        lookAfter: iso(next.lookAfterMs),
        gate: gateView(next.gate),
      };
  }
};
