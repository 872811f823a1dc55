/**
 * Tokens: made, listed, revoked. Two records that are not written in one step, in an order that is safe wherever it stops:
 *
 *   create: name into the register --> token item: from here on it lets somebody in --> shown, this once
 *   revoke: token item is marked: it stops with its next request --> name out of the register
 *
 * A name is taken while a token of it is live. A name whose token was never made, or is revoked, is free.
 */
import type { RequestId } from '../../core/ids.ts';
import type { RegisteredToken, Right, Token } from '../../core/items.ts';
import { TOKENS_MAX } from '../../core/limits.ts';
import { tokenHash } from '../../http/auth.ts';
import type { World } from '../../ports.ts';
import { DONE, decideOnce, type Ready } from './decide.ts';
import { loadRegister, loadToken, revokeItem, swapRegister } from './token-records.ts';

type Needs = Pick<World, 'ledger' | 'clock' | 'dice' | 'telemetry'>;

interface Asked {
  readonly request: RequestId;
  readonly actor: string;
  readonly reason: string;
  readonly name: string;
}

export interface CreateAsked extends Asked {
  readonly rights: readonly Right[];
}

export type TokenRefusal = 'name-taken' | 'too-many-tokens' | 'last-admin';

type Refused =
  | { readonly kind: 'refused'; readonly code: TokenRefusal }
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' };

export type TokenCreated =
  /** `text` is shown by the call that has made it; nobody can say it again. */
  { readonly kind: 'done'; readonly token: Token; readonly text?: string } | { readonly kind: 'reused' } | Refused;

export type TokenRevoked =
  | { readonly kind: 'done'; readonly name: string; readonly revokedAtMs: number }
  | { readonly kind: 'reused' }
  | Refused;

// ---- create -------------------------------------------------------------------------------------------------------

export const createToken = async (world: Needs, asked: CreateAsked): Promise<TokenCreated> => {
  const { name, rights, ...said } = asked;
  let text: string | undefined;
  const once = await decideOnce<Refused>(
    world,
    { ...said, command: 'create-token', token: name, more: rights },
    {
      look: async () => (await refusalFor(world, asked)) ?? { kind: 'ready', before: 'no such token' },
      act: async () => {
        const made = await make(world, asked);
        if (made.kind === 'refused') return made.code;
        text = made.text;
        return DONE;
      },
    },
  );
  if (once.kind !== 'decided') return once;
  if (isRefusal(once.result)) return { kind: 'refused', code: once.result };
  const token = await tokenOf(world, asked);
  if (token === undefined) return { kind: 'absent' };
  return { kind: 'done', token, ...(text === undefined ? {} : { text }) };
};

const isRefusal = (result: string): result is TokenRefusal => result === 'name-taken' || result === 'too-many-tokens';

const refusalFor = async (world: Needs, { name }: CreateAsked): Promise<Refused | undefined> => {
  const register = await loadRegister(world);
  if (register === 'newer') return { kind: 'newer' };
  const entry = register.find((one) => one.name === name);
  if (entry !== undefined && (await loadToken(world, entry.hash)) !== undefined) {
    return { kind: 'refused', code: 'name-taken' };
  }
  return register.length >= TOKENS_MAX ? { kind: 'refused', code: 'too-many-tokens' } : undefined;
};

const SECRET_BYTES = 24;

type Made =
  | { readonly kind: 'made'; readonly text?: string }
  | { readonly kind: 'refused'; readonly code: TokenRefusal };

const make = async (world: Needs, asked: CreateAsked): Promise<Made> => {
  const { name, rights, request } = asked;
  const text = `ow_${Buffer.from(world.dice.bytes(SECRET_BYTES)).toString('base64url')}`;
  const mine: RegisteredToken = { name, hash: tokenHash(text), request };
  let refused: TokenRefusal | undefined;
  let before = false;
  await swapRegister(world, async (tokens) => {
    [refused, before] = [undefined, false];
    const there = tokens.find((one) => one.name === name);
    const isLive = there !== undefined && !(await isOver(world, there, rights));
    if (isLive && there.request === request) before = true;
    else if (isLive) refused = 'name-taken';
    else if (there === undefined && tokens.length >= TOKENS_MAX) refused = 'too-many-tokens';
    return before || refused !== undefined ? undefined : [...tokens.filter((one) => one !== there), mine];
  });
  if (refused !== undefined) return { kind: 'refused', code: refused };
  if (before) return { kind: 'made' };
  const created = await world.ledger.create<Token>(tokenItem(mine, rights, world.clock.nowMs()));
  // Refused: somebody has taken the name over meanwhile, and has seen to it that this one will never be.
  return created.kind === 'written' ? { kind: 'made', text } : { kind: 'made' };
};

const tokenItem = ({ name, hash }: RegisteredToken, rights: readonly Right[], createdAtMs: number): Token => ({
  item: 'token',
  version: 1,
  hash,
  name,
  rights,
  createdAtMs,
  carried: {},
});

/**
 * Whether the name of this entry may be given to another. Where its token was not made yet, a revoked one is put in its
 * place: whoever is still about to make it, perhaps the same request sent twice at once, then finds that it is too late.
 */
const isOver = async (world: Needs, entry: RegisteredToken, rights: readonly Right[]): Promise<boolean> => {
  const nowMs = world.clock.nowMs();
  const never = { ...tokenItem(entry, rights, nowMs), revokedAtMs: nowMs };
  const created = await world.ledger.create<Token>(never);
  if (created.kind === 'written') return true;
  return created.present.kind === 'found' && created.present.item.revokedAtMs !== undefined;
};

const entryOf = async (world: Needs, name: string): Promise<RegisteredToken | undefined> => {
  const register = await loadRegister(world);
  return register === 'newer' ? undefined : register.find((one) => one.name === name);
};

/** The token that this request has made, if it still lives. */
const tokenOf = async (world: Needs, { name, request }: CreateAsked): Promise<Token | undefined> => {
  const entry = await entryOf(world, name);
  return entry?.request === request ? loadToken(world, entry.hash) : undefined;
};

// ---- list ---------------------------------------------------------------------------------------------------------

/** By name. */
export const listTokens = async (world: Needs): Promise<readonly Token[] | 'newer'> => {
  const register = await loadRegister(world);
  if (register === 'newer') return 'newer';
  const tokens = await Promise.all(register.map(({ hash }) => loadToken(world, hash)));
  return tokens.flatMap((token) => token ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
};

// ---- revoke -------------------------------------------------------------------------------------------------------

export const revokeToken = async (world: Needs, asked: Asked): Promise<TokenRevoked> => {
  const { name, ...said } = asked;
  const once = await decideOnce<Refused>(
    world,
    { ...said, command: 'revoke-token', token: name, more: [] },
    {
      look: () => lookToRevoke(world, name),
      act: async () => {
        const entry = await entryOf(world, name);
        if (entry !== undefined) await revokeItem(world, entry.hash);
        await swapRegister(world, async (tokens) =>
          tokens.some((one) => one.hash === entry?.hash) ? tokens.filter((one) => one.hash !== entry?.hash) : undefined,
        );
        return DONE;
      },
    },
  );
  if (once.kind !== 'decided') return once;
  return { kind: 'done', name, revokedAtMs: once.decision.decidedAtMs };
};

/** Without any token with `admin`, nobody could make one: whoever has none left has to write to the table. */
const lookToRevoke = async (world: Needs, name: string): Promise<Ready | Refused> => {
  const tokens = await listTokens(world);
  if (tokens === 'newer') return { kind: 'newer' };
  const token = tokens.find((one) => one.name === name);
  if (token === undefined) return { kind: 'absent' };
  const others = tokens.filter((one) => one !== token && one.rights.includes('admin'));
  if (token.rights.includes('admin') && others.length === 0) return { kind: 'refused', code: 'last-admin' };
  return { kind: 'ready', before: token.rights.join(' ') };
};
