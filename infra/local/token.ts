/** The admin token of the local world: given, or made at start and kept beside the data so that it outlives a restart. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { parseRequestId } from '../../functions/core/ids.ts';
import type { Token } from '../../functions/core/items.ts';
import { RIGHTS, tokenHash } from '../../functions/http/auth.ts';
import { loadToken, revokeItem, swapRegister } from '../../functions/operator/commands/token-records.ts';
import type { Dice, World } from '../../functions/ports.ts';

const NAME = 'local-admin';

/**
 * Stored hashed, like any other token. Its name is the actor of what a person does on this laptop. Whoever starts the
 * world says which token that is: the one of an earlier start ends with it, and one that was revoked does not come back.
 */
export const putAdminToken = async (world: Pick<World, 'ledger' | 'clock'>, text: string): Promise<void> => {
  const hash = tokenHash(text);
  const parsed = parseRequestId(`start-${hash}`);
  if (parsed.kind === 'bad') throw new TypeError(`the request of a start ${parsed.reason}`);
  const mine = { name: NAME, hash, request: parsed.id };
  const created = await world.ledger.create<Token>({
    item: 'token',
    version: 1,
    hash,
    name: NAME,
    rights: [...RIGHTS],
    createdAtMs: world.clock.nowMs(),
    carried: {},
  });
  if (created.kind === 'refused' && (await loadToken(world, hash)) === undefined) {
    throw new Error('the admin token was revoked: set another one in ONCEWARD_TOKEN, or remove the file admin-token');
  }
  let old: string | undefined;
  await swapRegister(world, async (tokens) => {
    old = tokens.find((one) => one.name === NAME)?.hash;
    return old === hash ? undefined : [...tokens.filter((one) => one.name !== NAME), mine];
  });
  if (old !== undefined && old !== hash) await revokeItem(world, old);
};

export const keptSecret = async (
  dataDir: string,
  name: string,
  dice: Pick<Dice, 'bytes'>,
): Promise<{ readonly text: string; readonly made: boolean }> => {
  await mkdir(dataDir, { recursive: true }).catch((error: unknown) => {
    throw new Error(`ONCEWARD_DATA: ${dataDir} cannot be used as a folder for the data: ${String(error)}`);
  });
  const file = join(dataDir, name);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text !== undefined && text.trim().length >= 16) return { text: text.trim(), made: false };
  const fresh = `ow_${Buffer.from(dice.bytes(24)).toString('base64url')}`;
  await writeFile(file, `${fresh}\n`, { mode: 0o600 });
  return { text: fresh, made: true };
};

export interface FirstToken {
  readonly text: string;
  /** The item that stands for it, as the API of DynamoDB takes one. */
  readonly item: Stored;
}

/**
 * The token that makes all others in a deployment, where there is none yet: whoever may write to the table may store it.
 * It has every right; narrower ones are made with it.
 */
export const firstToken = (nowMs: number, dice: Pick<Dice, 'bytes'>): FirstToken => {
  const text = `ow_${Buffer.from(dice.bytes(24)).toString('base64url')}`;
  const named = { hash: tokenHash(text), name: 'first-admin', rights: [...RIGHTS], createdAtMs: nowMs, carried: {} };
  return { text, item: toItem({ item: 'token', version: 1, ...named }) };
};
