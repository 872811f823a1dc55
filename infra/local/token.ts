/** The admin token of the local world: given, or made at start and kept beside the data so that it outlives a restart. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Token } from '../../functions/core/items.ts';
import { RIGHTS, tokenHash } from '../../functions/http/auth.ts';
import type { Dice, Ledger } from '../../functions/ports.ts';

/** Stored hashed, like any other token. Its name is the actor of what a person does on this laptop. */
export const putAdminToken = async (ledger: Ledger, nowMs: number, text: string): Promise<void> => {
  const token: Token = {
    item: 'token',
    version: 1,
    hash: tokenHash(text),
    name: 'local-admin',
    rights: [...RIGHTS],
    createdAtMs: nowMs,
    carried: {},
  };
  await ledger.create<Token>(token);
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
