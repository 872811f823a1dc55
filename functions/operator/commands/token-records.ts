/** The two records of a token: its own item, by the hash, and its name in the register. */
import type { RegisteredToken, Token, TokenRegister } from '../../core/items.ts';
import { SWAP_TRIES_MAX } from '../../core/limits.ts';
import { type Found, PortUnavailable, type World } from '../../ports.ts';

type Needs = Pick<World, 'ledger' | 'clock'>;

const REF = { item: 'token-register' } as const;

export const loadRegister = async ({ ledger }: Needs): Promise<readonly RegisteredToken[] | 'newer'> => {
  const found = await ledger.load(REF);
  if (found.kind === 'later') return 'newer';
  return found.kind === 'found' ? found.item.tokens : [];
};

/** The token of this hash, if it lets anybody in. */
export const loadToken = async ({ ledger }: Needs, hash: string): Promise<Token | undefined> => {
  const found = await ledger.load({ item: 'token', hash });
  return found.kind === 'found' && found.item.revokedAtMs === undefined ? found.item : undefined;
};

/** `change` gives the tokens as they should be, or undefined where nothing has to be written. */
export const swapRegister = async (
  { ledger }: Needs,
  change: (tokens: readonly RegisteredToken[]) => Promise<readonly RegisteredToken[] | undefined>,
): Promise<void> => {
  let found: Found<TokenRegister> = await ledger.load(REF);
  for (let tries = 0; tries < SWAP_TRIES_MAX && found.kind !== 'later'; tries += 1) {
    const read: TokenRegister =
      found.kind === 'found' ? found.item : { item: 'token-register', version: 0, tokens: [], carried: {} };
    const tokens = await change(read.tokens);
    if (tokens === undefined) return;
    const next = { ...read, version: read.version + 1, tokens };
    const written =
      found.kind === 'found'
        ? await ledger.replace<TokenRegister>(read, next)
        : await ledger.create<TokenRegister>(next);
    if (written.kind === 'written') return;
    found = written.present;
  }
  throw new PortUnavailable('ledger', 'the register of tokens kept changing, or is of newer code');
};

export const revokeItem = async ({ ledger, clock }: Needs, hash: string): Promise<void> => {
  let found: Found<Token> = await ledger.load({ item: 'token', hash });
  for (let tries = 0; tries < SWAP_TRIES_MAX && found.kind !== 'later'; tries += 1) {
    if (found.kind === 'absent' || found.item.revokedAtMs !== undefined) return;
    const read = found.item;
    const next = { ...read, version: read.version + 1, revokedAtMs: clock.nowMs() };
    const written = await ledger.replace<Token>(read, next);
    if (written.kind === 'written') return;
    found = written.present;
  }
  throw new PortUnavailable('ledger', 'a token could not be revoked: repeat the same request');
};
