/**
 * Settings that are kept in Secrets Manager, read once at cold start and again when they have become old.
 *
 *   cold start ──► read ──► make the handler ──► invocations ──► older than AGE_MS ──► read again
 *                                  ▲                                                    │ changed
 *                                  └────────────────────────────────────────────────────┤
 *                                     the last known stays in use, and is counted ◄─────┘ cannot be read
 *
 * So a secret that is rotated is in use within minutes, without a deployment, and a service that is away stops nothing
 * that runs already.
 */
import type { Clock, Telemetry } from '../ports.ts';

export interface StoredPlace {
  /** Name of the setting, such as `ONCEWARD_INFRAI_KEY`. */
  readonly setting: string;
  readonly arn: string;
}

/** Values by the name of their setting. */
export type StoredTexts = Readonly<Record<string, string>>;

type Texts = Readonly<Record<string, string | undefined>>;

/** The environment as if they stood in it. A push secret may be two, `new,old`, while it is being rotated. */
export const withStored = (env: Texts, texts: StoredTexts): Texts => {
  const [push, previous] = (texts['ONCEWARD_PUSH_SECRET'] ?? '').split(',').map((one) => one.trim());
  return {
    ...env,
    ...texts,
    ...(push ? { ONCEWARD_PUSH_SECRET: push } : {}),
    ...(previous ? { ONCEWARD_PUSH_SECRET_PREVIOUS: previous } : {}),
  };
};

/** Rejects where the service is out of reach, or does not give it. Its message never holds the value. */
export type ReadSecret = (arn: string) => Promise<string>;

export type Handler<In extends readonly unknown[], Out> = (...event: In) => Promise<Out>;

export interface Renewal {
  readonly places: readonly StoredPlace[];
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly telemetry: Telemetry;
  /** Left out, it is Secrets Manager with the credentials of the function's role. */
  readonly read?: ReadSecret;
}

export const SECRET_AGE_MS = 5 * 60_000;
/** After a reading that failed. */
export const SECRET_AGAIN_MS = 60_000;
const READ_MS = 5_000;

/** Rejects where a setting cannot be read at cold start: without it nothing can work. */
export const renewing = async <In extends readonly unknown[], Out>(
  { places, clock, telemetry, read }: Renewal,
  make: (texts: StoredTexts) => Promise<Handler<In, Out>>,
): Promise<Handler<In, Out>> => {
  // Where nothing is stored, the client of the service is not even loaded.
  if (places.length === 0) return make({});
  const reader = read ?? (await secretsManager());
  const readAll = async (): Promise<StoredTexts> =>
    Object.fromEntries(
      await Promise.all(places.map(async ({ setting, arn }) => [setting, await reader(arn)] as const)),
    );
  let texts = await readAll();
  let handler = await make(texts);
  let oldAtMs = clock.nowMs() + SECRET_AGE_MS;

  const renew = async (): Promise<void> => {
    // Said first: invocations at the same time do not all read.
    oldAtMs = clock.nowMs() + SECRET_AGAIN_MS;
    try {
      const next = await readAll();
      if (places.some(({ setting }) => next[setting] !== texts[setting])) handler = await make(next);
      texts = next;
      oldAtMs = clock.nowMs() + SECRET_AGE_MS;
    } catch (error) {
      telemetry.line('secret.not-renewed', { detail: nameOf(error) }, { 'secret-not-renewed': 1 });
    }
  };

  return async (...event) => {
    if (clock.nowMs() >= oldAtMs) await renew();
    return handler(...event);
  };
};

/** The name only: the text of an error may quote what was read. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown error');

const secretsManager = async (): Promise<ReadSecret> => {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const client = new SecretsManagerClient({ maxAttempts: 3 });
  return async (arn) => {
    const command = new GetSecretValueCommand({ SecretId: arn });
    const { SecretString: text } = await client.send(command, { abortSignal: AbortSignal.timeout(READ_MS) });
    if (text === undefined) throw new TypeError(`the secret ${arn} holds no text`);
    return text;
  };
};
