/** What a failed attempt came to. It may say "not sent" only where no byte of the request can have left. */

import { errors } from 'undici';

import type { Answer } from '../../core/outcome.ts';
import type { Phase } from './connector.ts';
import { fitText } from './excerpt.ts';

type WithoutDuration<A> = A extends Answer ? Omit<A, 'durationMs'> : never;

/** An answer before its duration is known. */
export type Seen = WithoutDuration<Answer>;
type NotSent = Extract<Seen, { kind: 'not-sent' }>;
type InDoubt = Extract<Seen, { kind: 'in-doubt' }>;

interface Moment {
  readonly phase: Phase;
  /** The time for the connection, or for the whole attempt, was over. */
  readonly late: boolean;
}

const DETAIL_BYTES_MAX = 200;

export const notSent = (cause: NotSent['cause'], detail: string): NotSent => ({
  kind: 'not-sent',
  cause,
  detail: fitText(detail, DETAIL_BYTES_MAX),
});

export const inDoubt = (cause: InDoubt['cause'], detail: string): InDoubt => ({
  kind: 'in-doubt',
  cause,
  detail: fitText(detail, DETAIL_BYTES_MAX),
});

/**
 * The phase decides between certain and in doubt; the error only says which kind. A connection that is open counts as
 * written to: whether the first byte left before the failure cannot be told from here.
 */
export const failureOf = (error: unknown, moment: Moment): NotSent | InDoubt =>
  moment.phase === 'open' ? afterOpen(error, moment.late) : beforeOpen(error, moment);

/** Code and message of an error, and of what it gathers; bounded, as a peer can write parts of it. */
export const detailOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(detailOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  return code === '' || error.message.includes(code) ? error.message : `${code}: ${error.message}`;
};

const beforeOpen = (error: unknown, { phase, late }: Moment): NotSent => {
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) {
    return notSent('argument', detailOf(error));
  }
  if (late) return notSent('connect-timeout', `no connection in time (${phase})`);
  if (phase === 'securing') return notSent('tls', detailOf(error));
  const codes = error instanceof AggregateError ? error.errors.map(codeOf) : [codeOf(error)];
  const timedOut = codes.includes('ETIMEDOUT') && !codes.includes('ECONNREFUSED');
  // Unreachable networks and exhausted ports stand here too: nothing was sent, and trying again later is right.
  return notSent(timedOut ? 'connect-timeout' : 'refused', detailOf(error));
};

const afterOpen = (error: unknown, late: boolean): InDoubt => {
  if (late) return inDoubt('timeout', 'no answer before the deadline');
  const detail = detailOf(error);
  if (error instanceof errors.HeadersOverflowError) return inDoubt('header-overflow', detail);
  // The client calls an upgrade that nobody asked for "bad", under the code of a closed socket.
  const refusedByClient = error instanceof errors.SocketError && error.message.startsWith('bad ');
  const resets = ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT', 'UND_ERR_SOCKET'];
  return inDoubt(resets.includes(codeOf(error)) && !refusedByClient ? 'reset' : 'protocol', detail);
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
