/** Signing secrets in the table: what stands there signs nothing, and opens only for its own destination. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { KMSClient } from '@aws-sdk/client-kms';
import { describe, expect, it } from 'vitest';
import { createKmsSealing } from '../../functions/adapters/ledger/kms-sealing.ts';
import { withSealedSecrets } from '../../functions/adapters/ledger/sealed.ts';
import { createTwin } from '../../functions/adapters/ledger/twin.ts';
import { createLedgerSecrets } from '../../functions/adapters/secrets.ts';
import type { ItemOf } from '../../functions/core/items.ts';
import { LedgerCorrupt, PortUnavailable } from '../../functions/ports.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { destinationId } from '../support/world.ts';

type SecretItem = ItemOf<'secret'>;
const PARTNER = destinationId('partner');
const OTHER = destinationId('other');
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Input {
  readonly Plaintext?: Uint8Array;
  readonly CiphertextBlob?: Uint8Array;
  readonly EncryptionContext: { readonly destination: string };
}

/** A key as KMS keeps one: authenticated encryption with the context as its further data. */
const fakeKms = () => {
  const key = randomBytes(32);
  const calls: string[] = [];
  const state = { away: false };
  const send = async (command: { readonly input: Input }) => {
    if (state.away) throw Object.assign(new Error('whsec_ must not be repeated'), { name: 'TimeoutError' });
    const { Plaintext: text, CiphertextBlob: blob, EncryptionContext: context } = command.input;
    calls.push(text === undefined ? 'open' : 'seal');
    if (text !== undefined) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context.destination));
      const body = Buffer.concat([cipher.update(text), cipher.final()]);
      return { CiphertextBlob: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
    }
    try {
      const all = Buffer.from(blob ?? []);
      const decipher = createDecipheriv('aes-256-gcm', key, all.subarray(0, 12)).setAAD(
        Buffer.from(context.destination),
      );
      decipher.setAuthTag(all.subarray(12, 28));
      return { Plaintext: Buffer.concat([decipher.update(all.subarray(28)), decipher.final()]) };
    } catch {
      throw Object.assign(new Error('no'), { name: 'InvalidCiphertextException' });
    }
  };
  return { client: { send } as unknown as Pick<KMSClient, 'send'>, calls, state };
};

const item = (version: number, texts: readonly string[], destination = PARTNER): SecretItem => ({
  item: 'secret',
  version,
  destination,
  secrets: texts,
  updatedAtMs: 1_000,
  carried: {},
});

const scene = () => {
  const clock = new VirtualClock();
  const { ledger: plain, store } = createTwin({ clock });
  const kms = fakeKms();
  const ledger = withSealedSecrets(plain, createKmsSealing({ key: 'arn:aws:kms:x', client: kms.client }));
  const load = () => ledger.load({ item: 'secret', destination: PARTNER });
  return { clock, plain, store, kms, ledger, load };
};

describe('a signing secret under a key', () => {
  it('comes out of the ledger as it was put in, and stands in the table as something else', async () => {
    const { ledger, plain, load } = scene();
    await ledger.create<SecretItem>(item(1, [SECRET]));
    expect(await load()).toMatchObject({ kind: 'found', item: { secrets: [SECRET] } });
    const stored = await plain.load({ item: 'secret', destination: PARTNER });
    expect(stored.kind).toBe('found');
    expect(JSON.stringify(stored)).not.toContain(SECRET.slice(6, 20));
  });

  it('stands in the open without the key: this is what sealing is for', async () => {
    const { plain } = scene();
    await plain.create<SecretItem>(item(1, [SECRET]));
    expect(JSON.stringify(await plain.load({ item: 'secret', destination: PARTNER }))).toContain(SECRET);
  });

  it('signs: the receiver reads it through the same door', async () => {
    const { ledger, clock } = scene();
    await ledger.create<SecretItem>(item(1, [SECRET, `${SECRET}2`]));
    expect(await createLedgerSecrets(ledger, clock).signing(PARTNER)).toEqual([SECRET, `${SECRET}2`]);
  });

  it('is swapped like any other item, and a refused swap shows what stands there, opened', async () => {
    const { ledger, load } = scene();
    await ledger.create<SecretItem>(item(1, [SECRET]));
    const read = await load();
    if (read.kind !== 'found') throw new Error(read.kind);
    expect(await ledger.replace<SecretItem>(read.item, item(2, ['whsec_next']))).toEqual({ kind: 'written' });
    const late = await ledger.replace<SecretItem>(read.item, item(2, ['whsec_late']));
    expect(late).toMatchObject({ kind: 'refused', present: { kind: 'found', item: { secrets: ['whsec_next'] } } });
  });

  it('is bound to its destination: copied to another one it does not open, and is broken data', async () => {
    const { ledger, plain } = scene();
    await ledger.create<SecretItem>(item(1, [SECRET]));
    const stored = await plain.load({ item: 'secret', destination: PARTNER });
    if (stored.kind !== 'found') throw new Error(stored.kind);
    await plain.create<SecretItem>(item(1, stored.item.secrets, OTHER));
    await expect(ledger.load({ item: 'secret', destination: OTHER })).rejects.toBeInstanceOf(LedgerCorrupt);
  });

  it('cannot be had while the key is out of reach, and says so without quoting anything', async () => {
    const { ledger, load, kms } = scene();
    await ledger.create<SecretItem>(item(1, [SECRET]));
    kms.state.away = true;
    const error = await load().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PortUnavailable);
    expect(String(error)).not.toContain('whsec');
    await expect(ledger.replace<SecretItem>(item(1, []), item(2, ['whsec_x']))).rejects.toBeInstanceOf(PortUnavailable);
  });

  it('that was stored before there was a key is still read, and sealed when it is next written', async () => {
    const { ledger, plain, load, kms } = scene();
    await plain.create<SecretItem>(item(1, [SECRET]));
    expect(await load()).toMatchObject({ item: { secrets: [SECRET] } });
    expect(kms.calls).toEqual([]);
    await ledger.replace<SecretItem>(item(1, [SECRET]), item(2, [SECRET]));
    expect(JSON.stringify(await plain.load({ item: 'secret', destination: PARTNER }))).not.toContain(SECRET);
  });

  it('is the only item that the key is asked for', async () => {
    const { ledger, kms } = scene();
    await ledger.load({ item: 'token', hash: 'h' });
    await ledger.loadDestination(PARTNER);
    expect(kms.calls).toEqual([]);
  });
});
