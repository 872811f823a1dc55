/**
 * Sealing by a key of KMS, with the destination as the encryption context: KMS itself refuses to open a text for another
 * one, and its audit log says whose secret was opened. The client is loaded when the first secret is wanted, so that a
 * cold start does not wait for it.
 */
import type { KMSClient } from '@aws-sdk/client-kms';
import { CONNECT_MS } from '../../core/limits.ts';
import { PortUnavailable } from '../../ports.ts';
import { type Sealing, Unsealable } from './sealed.ts';

export interface KmsSealingOptions {
  /** ARN of the key. */
  readonly key: string;
  /** Left out, it is the platform's region and the role's credentials. */
  readonly client?: Pick<KMSClient, 'send'>;
}

const CALL_MS = 3_000;
/** What KMS says of a text that this key has not sealed, or not for this context. */
const REFUSALS: ReadonlySet<string> = new Set(['InvalidCiphertextException', 'IncorrectKeyException']);

export const createKmsSealing = ({ key, client }: KmsSealingOptions): Sealing => {
  let loaded: Promise<Loaded> | undefined;
  const kms = (): Promise<Loaded> => {
    loaded ??= load(client);
    return loaded;
  };
  const calling = async (call: (loaded: Loaded, until: Until) => Promise<Uint8Array | undefined>): Promise<Buffer> => {
    try {
      const bytes = await call(await kms(), { abortSignal: AbortSignal.timeout(CALL_MS) });
      if (bytes === undefined) throw new TypeError('an answer without a text');
      return Buffer.from(bytes);
    } catch (error) {
      if (error instanceof Error && REFUSALS.has(error.name)) throw new Unsealable({ cause: error });
      // The name only: the text of an error may quote what was sent.
      const name = error instanceof Error ? error.name : 'unknown error';
      throw new PortUnavailable('secrets', `the key that seals signing secrets cannot be used: ${name}`);
    }
  };
  return {
    seal: async (text, destination) => {
      const sealed = await calling(async (sdk, until) => {
        const input = { KeyId: key, Plaintext: Buffer.from(text), EncryptionContext: { destination } };
        return (await sdk.client.send(new sdk.EncryptCommand(input), until)).CiphertextBlob;
      });
      return sealed.toString('base64');
    },
    open: async (sealed, destination) => {
      const text = await calling(async (sdk, until) => {
        const input = { KeyId: key, CiphertextBlob: Buffer.from(sealed, 'base64'), EncryptionContext: { destination } };
        return (await sdk.client.send(new sdk.DecryptCommand(input), until)).Plaintext;
      });
      return text.toString('utf8');
    },
  };
};

interface Until {
  readonly abortSignal: AbortSignal;
}

const load = async (client: Pick<KMSClient, 'send'> | undefined) => {
  const { DecryptCommand, EncryptCommand, KMSClient: Client } = await import('@aws-sdk/client-kms');
  const made = client ?? new Client({ maxAttempts: 2, requestHandler: { connectionTimeout: CONNECT_MS } });
  return { DecryptCommand, EncryptCommand, client: made as KMSClient };
};

type Loaded = Awaited<ReturnType<typeof load>>;
