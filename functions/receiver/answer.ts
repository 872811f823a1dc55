/**
 * Our answer to the queue. A plan is never dressed as a failure: three refusals in about eighteen seconds dead-letter
 * a healthy message, so whatever stands in the ledger is acknowledged, and waits there.
 *
 *   2xx  the ledger has it: done, planned, waiting, held, or filed as poison
 *   401  unsigned or forged; nothing was written
 *   413  larger than any message of ours
 *   503  the ledger is out of reach or the row is broken, the message is newer than this code, there is no time left to begin, or the queue
 *        holds the only copy of something that cannot be taken in: its dead letters keep that whole
 */
import type { Note } from '../core/inputs.ts';
import type { Transition } from '../steps/transition.ts';

export type Verdict =
  | { readonly kind: 'ack'; readonly note: AckNote }
  | { readonly kind: 'unauthentic'; readonly code: string }
  | { readonly kind: 'later'; readonly code: LaterCode; readonly detail: string };

export type AckNote =
  | Note
  | 'accepted'
  | 'conflict'
  | 'poison'
  | 'swept'
  | 'drained'
  | 'told'
  | 'nothing-to-tell'
  | 'row-of-later-format'
  | 'no-such-delivery';

export type LaterCode =
  | 'ledger-corrupt'
  | 'ledger-unavailable'
  | 'newer-message'
  | 'no-time'
  | 'poison-overflow'
  | 'not-acceptable'
  | 'queue-unavailable';

export const ack = (note: AckNote): Verdict => ({ kind: 'ack', note });
export const later = (code: LaterCode, detail: string): Verdict => ({ kind: 'later', code, detail });

export const statusOf = (verdict: Verdict): 200 | 401 | 503 => {
  switch (verdict.kind) {
    case 'ack':
      return 200;
    case 'unauthentic':
      return 401;
    case 'later':
      return 503;
  }
};

/** What a step came to, as an answer to the queue: whatever it was, the ledger has it. */
export const verdictOf = (result: Transition): Verdict => {
  switch (result.kind) {
    case 'applied':
    case 'kept':
      return ack(result.note);
    case 'absent':
      return ack('no-such-delivery');
    case 'newer':
      return ack('row-of-later-format');
    case 'refused':
      throw new TypeError(`a push was refused as if a person had asked: ${result.code}`);
  }
};
