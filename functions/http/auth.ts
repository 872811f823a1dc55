/**
 * Bearer tokens (RFC 6750). Only a token's hash is stored; its name is the actor of what is done with it.
 *
 *   token --has failed lately--> 401, or 429 where it keeps on: nothing is read
 *     +--else: the ledger------> 401 unknown or revoked | 403 without the right | the actor
 *
 * Failures are counted by the hash of what was presented, and never by who or where the caller is. So a program with a
 * bad token slows itself down to a read a minute, while a good token has another hash and is not in anybody's way: there
 * is nothing an attacker could send that locks out its owner. Guessing is bounded by the size of a token, not by a count
 * (a made one has 192 random bits). What is good is looked up every time: a revoked token ends with its next request.
 */
import { createHash } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import type { Right, Token } from '../core/items.ts';
import type { World } from '../ports.ts';
import { problem } from './problem.ts';

export const RIGHTS = ['view', 'send', 'pause', 'resend', 'decide', 'admin'] as const satisfies readonly Right[];

export interface Signed {
  readonly Variables: {
    readonly actor: string;
    /** Of this one HTTP request; in its answer and in the log. */
    readonly requestId: string;
    /** Of the problem that it was answered with. */
    readonly code?: string;
  };
}

/** Lets a request through whose token has the right; `admin` has them all. */
export type Guard = (right: Right) => MiddlewareHandler<Signed>;

const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const TOKEN_CHARS_MAX = 512;

/** Whether a text could be a bearer token at all. */
export const isTokenText = (text: string): boolean => text.length <= TOKEN_CHARS_MAX && TOKEN.test(text);

export const tokenHash = (token: string): string => createHash('sha256').update(token, 'utf8').digest('base64url');

/** The token of the header, or undefined where there is none, or more than one, or another scheme. */
const bearerOf = (header: string | undefined): string | undefined => {
  const [, text = ''] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? [];
  return isTokenText(text) ? text : undefined;
};

type Needs = Pick<World, 'ledger' | 'clock' | 'telemetry'>;

export type Presented =
  | { readonly kind: 'known'; readonly token: Token }
  /** Never there, or revoked. */
  | { readonly kind: 'unknown' }
  /** It has failed too often lately, and was not looked at. */
  | { readonly kind: 'wait'; readonly waitSec: number };

/** Looks a token up, however it was presented. */
export type Door = (text: string) => Promise<Presented>;

/** One for an app: what it remembers of failures is bounded, and only of this process. */
export const createDoor = (world: Needs): Door => {
  const failures = failureMemory(world);
  return async (text) => {
    const hash = tokenHash(text);
    const waitSec = failures.waitSec(hash);
    if (waitSec !== undefined) return { kind: 'wait', waitSec };
    const token = failures.isFresh(hash) ? undefined : await loadToken(world, hash);
    if (token !== undefined) return { kind: 'known', token };
    failures.add(hash);
    return { kind: 'unknown' };
  };
};

export const isAllowed = ({ rights }: Pick<Token, 'rights'>, right: Right): boolean =>
  rights.includes(right) || rights.includes('admin');

export const createGuard =
  (world: Needs, door: Door = createDoor(world)): Guard =>
  (right) =>
  async (context, next) => {
    const text = bearerOf(context.req.header('authorization'));
    if (text === undefined) return unsigned(context, 'send a token as "Authorization: Bearer <token>"');
    const presented = await door(text);
    if (presented.kind === 'wait') return tooMany(context, presented.waitSec);
    if (presented.kind === 'unknown') return unsigned(context, 'this token is not known or was revoked');
    if (!isAllowed(presented.token, right)) return rightMissing(context, presented.token, right);
    context.set('actor', presented.token.name);
    return next();
  };

const rightMissing = (context: Context, { name }: Token, right: Right): Response =>
  problem(context, { status: 403, code: 'right-missing', detail: `token ${name} lacks the right "${right}"` });

const loadToken = async ({ ledger }: Needs, hash: string): Promise<Token | undefined> => {
  const found = await ledger.load({ item: 'token', hash });
  return found.kind === 'found' && found.item.revokedAtMs === undefined ? found.item : undefined;
};

const unsigned = (context: Context, detail: string): Response =>
  problem(context, { status: 401, code: 'not-signed-in', detail });

const tooMany = (context: Context, waitSec: number): Response => {
  const detail = `this token has failed too often; it is looked at again in ${waitSec} s. Other tokens are not held up`;
  context.header('retry-after', String(waitSec));
  return problem(context, { status: 429, code: 'too-many-failures', detail });
};

// ---- failures -----------------------------------------------------------------------------------------------------

const KEPT_MAX = 1_000;
const FRESH_MS_FIRST = 1_000;
const FRESH_MS_MAX = 60_000;
/** So many failures of one token are answered as such; then it is told to wait. */
const PATIENCE = 5;

interface Failure {
  readonly count: number;
  /** Until then it is known to be bad: a token that does not exist will not come to be one, for it would be random. */
  readonly untilMs: number;
}

const failureMemory = ({ clock, telemetry }: Needs) => {
  const kept = new Map<string, Failure>();
  return {
    isFresh: (hash: string): boolean => (kept.get(hash)?.untilMs ?? 0) > clock.nowMs(),
    waitSec: (hash: string): number | undefined => {
      const failure = kept.get(hash);
      const waitMs = (failure?.untilMs ?? 0) - clock.nowMs();
      return failure !== undefined && failure.count >= PATIENCE && waitMs > 0 ? Math.ceil(waitMs / 1_000) : undefined;
    },
    add: (hash: string): void => {
      const count = (kept.get(hash)?.count ?? 0) + 1;
      kept.delete(hash);
      const [oldest] = kept.size < KEPT_MAX ? [] : kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
      const freshMs = Math.min(FRESH_MS_MAX, FRESH_MS_FIRST * 2 ** Math.min(count - 1, 10));
      kept.set(hash, { count, untilMs: clock.nowMs() + freshMs });
      telemetry.count('auth-failed');
    },
  };
};
