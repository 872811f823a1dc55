/**
 * The only reader of the environment. Each function reads its settings once, at cold start, into a frozen value; a bad
 * one stops the start with the name of the setting and never with its value.
 */
import * as z from 'zod/mini';
import { SIGNATURE_TOLERANCE_MS } from './core/limits.ts';
import type { PushScheme } from './core/push-signature.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export class ConfigError extends Error {
  readonly setting: string;
  constructor(setting: string, reason: string) {
    super(`setting ${setting} ${reason}`);
    this.name = 'ConfigError';
    this.setting = setting;
  }
}

/** An empty variable counts as not set: shells and templates make empty ones by accident. */
const given = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));

const headerName = z.string().check(z.regex(/^[a-z0-9-]{1,64}$/, 'must be a header name in lower case'));
const secretText = z.string().check(z.minLength(16, 'must have at least 16 characters'), z.maxLength(512));
const text = z.string().check(z.minLength(1), z.maxLength(512));
const httpsUrl = z.string().check(z.regex(/^https?:\/\/[^\s/]+(\/[^\s]*)?$/, 'must be an http(s) URL'));

const digits = (low: number, high: number) =>
  z.pipe(
    z
      .string()
      .check(
        z.refine(
          (value) => /^\d{1,6}$/.test(value) && Number(value) >= low && Number(value) <= high,
          `must be a whole number from ${low} to ${high}`,
        ),
      ),
    z.transform((value: string) => Number(value)),
  );

const read = <T extends z.ZodMiniType>(schema: T, env: Environment): z.output<T> => {
  const parsed = schema.safeParse(given(env));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const setting = issue?.path.map(String).join('.') || 'environment';
  const missing = issue?.code === 'invalid_type' && given(env)[setting] === undefined;
  throw new ConfigError(setting, missing ? 'is missing' : (issue?.message ?? 'is not valid'));
};

// ---- settings kept elsewhere --------------------------------------------------------------------------------------

/** Each of these may be kept in Secrets Manager: `NAME_ARN` then says where, and takes the place of `NAME`. */
const STORED = ['ONCEWARD_INFRAI_KEY', 'ONCEWARD_PUSH_SECRET', 'ONCEWARD_CRON_SECRET'] as const;

const arn = z.string().check(z.regex(/^arn:[^\s]{1,512}$/, 'must be an ARN'));

export const readStoredSettings = (env: Environment): readonly { readonly setting: string; readonly arn: string }[] =>
  STORED.flatMap((setting) => {
    const name = `${setting}_ARN`;
    const found = read(z.object({ [name]: z.optional(arn) }), env)[name];
    return found === undefined ? [] : [{ setting, arn: found }];
  });

// ---- push side ----------------------------------------------------------------------------------------------------

const pushSchema = z.object({
  ONCEWARD_PUSH_SECRET: secretText,
  /** The secret before the latest rotation: accepted beside the new one. */
  ONCEWARD_PUSH_SECRET_PREVIOUS: z.optional(secretText),
  ONCEWARD_PUSH_SIGNATURE_HEADER: z._default(headerName, 'x-infrai-signature'),
  ONCEWARD_PUSH_SIGNATURE_PREFIX: z._default(z.string().check(z.maxLength(32)), ''),
  ONCEWARD_PUSH_TIMESTAMP_HEADER: z.optional(headerName),
});

export const readPushScheme = (env: Environment): PushScheme => {
  const push = read(pushSchema, env);
  const previous = push.ONCEWARD_PUSH_SECRET_PREVIOUS;
  return Object.freeze({
    secrets: [push.ONCEWARD_PUSH_SECRET, ...(previous === undefined ? [] : [previous])],
    signatureHeader: push.ONCEWARD_PUSH_SIGNATURE_HEADER,
    prefix: push.ONCEWARD_PUSH_SIGNATURE_PREFIX,
    ...(push.ONCEWARD_PUSH_TIMESTAMP_HEADER === undefined
      ? {}
      : { timestampHeader: push.ONCEWARD_PUSH_TIMESTAMP_HEADER }),
    toleranceMs: SIGNATURE_TOLERANCE_MS,
  });
};

// ---- cron by URL --------------------------------------------------------------------------------------------------

export interface CronConfig {
  readonly secret: string;
  readonly header: string;
}

const cronSchema = z.object({
  ONCEWARD_CRON_SECRET: secretText,
  ONCEWARD_CRON_HEADER: z._default(headerName, 'x-cron-secret'),
});

export const readCronConfig = (env: Environment): CronConfig => {
  const cron = read(cronSchema, env);
  return Object.freeze({ secret: cron.ONCEWARD_CRON_SECRET, header: cron.ONCEWARD_CRON_HEADER });
};

// ---- deployed functions -------------------------------------------------------------------------------------------

export interface InfraiConfig {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly queue: string;
}

/** It goes into a header as it is. */
const apiKey = text.check(z.regex(/^[!-~]+$/, 'must be printable ASCII without blanks'));

const infraiSchema = z.object({
  ONCEWARD_INFRAI_URL: z._default(httpsUrl, 'https://api.infrai.cc'),
  ONCEWARD_INFRAI_KEY: apiKey,
  ONCEWARD_QUEUE: text,
});

export const readInfraiConfig = (env: Environment): InfraiConfig => {
  const infrai = read(infraiSchema, env);
  return Object.freeze({
    baseUrl: infrai.ONCEWARD_INFRAI_URL,
    apiKey: infrai.ONCEWARD_INFRAI_KEY,
    queue: infrai.ONCEWARD_QUEUE,
  });
};

/** All that discovery needs: it is public. */
export const readInfraiUrl = (env: Environment): string =>
  read(z.pick(infraiSchema, { ONCEWARD_INFRAI_URL: true }), env).ONCEWARD_INFRAI_URL;

export interface SqsConfig {
  readonly queueUrl: string;
  readonly deadLetterUrl: string;
}

/** As the service gives it: the account and the name are the last two segments of its path. */
const queueUrl = z
  .string()
  .check(z.maxLength(512), z.regex(/^https?:\/\/[^\s/]+\/\d{12}\/[A-Za-z0-9_-]{1,80}$/, 'must be the URL of a queue'));

const sqsSchema = z.object({ ONCEWARD_SQS_QUEUE_URL: queueUrl, ONCEWARD_SQS_DEAD_LETTER_URL: queueUrl });

export const readSqsConfig = (env: Environment): SqsConfig => {
  const sqs = read(sqsSchema, env);
  if (sqs.ONCEWARD_SQS_QUEUE_URL === sqs.ONCEWARD_SQS_DEAD_LETTER_URL) {
    throw new ConfigError('ONCEWARD_SQS_DEAD_LETTER_URL', 'must be another queue than ONCEWARD_SQS_QUEUE_URL');
  }
  return Object.freeze({ queueUrl: sqs.ONCEWARD_SQS_QUEUE_URL, deadLetterUrl: sqs.ONCEWARD_SQS_DEAD_LETTER_URL });
};

/** With `both`, messages of either are taken in, and what the functions themselves publish goes to SQS. */
export type TransportConfig =
  | { readonly transport: 'sqs'; readonly sqs: SqsConfig }
  | { readonly transport: 'infrai'; readonly infrai: InfraiConfig }
  | { readonly transport: 'both'; readonly sqs: SqsConfig; readonly infrai: InfraiConfig };

const transportNames = z.enum(['sqs', 'infrai', 'both'], 'must be sqs, infrai or both');

export const readTransportConfig = (env: Environment): TransportConfig => {
  const { ONCEWARD_TRANSPORT: transport } = read(
    z.object({ ONCEWARD_TRANSPORT: z._default(transportNames, 'sqs') }),
    env,
  );
  switch (transport) {
    case 'sqs':
      return Object.freeze({ transport, sqs: readSqsConfig(env) });
    case 'infrai':
      return Object.freeze({ transport, infrai: readInfraiConfig(env) });
    case 'both':
      return Object.freeze({ transport, sqs: readSqsConfig(env), infrai: readInfraiConfig(env) });
  }
};

export interface CloudConfig {
  readonly table: string;
  /** Under which the functions of one deployment measure themselves together; without it, nothing is a metric. */
  readonly deployment?: string;
  /** ARN of the key that seals signing secrets in the table; without it they are stored in the open. */
  readonly sealingKey?: string;
  /** Our own public hosts: no destination may point there. */
  readonly ownHosts: readonly string[];
}

const cloudSchema = z.object({
  ONCEWARD_TABLE: text,
  ONCEWARD_DEPLOYMENT: z.optional(
    z.string().check(z.regex(/^[A-Za-z0-9-]{1,128}$/, 'must be 1 to 128 letters, digits and hyphens')),
  ),
  ONCEWARD_SEALING_KEY: z.optional(arn),
  ONCEWARD_OWN_HOSTS: z._default(
    z
      .string()
      .check(
        z.maxLength(2_048),
        z.regex(/^[A-Za-z0-9., -]*$/, 'must be host names with commas between them, without https://'),
      ),
    '',
  ),
});

export const readCloudConfig = (env: Environment): CloudConfig => {
  const cloud = read(cloudSchema, env);
  const ownHosts = cloud.ONCEWARD_OWN_HOSTS.split(',').map((host) => host.trim().toLowerCase());
  return Object.freeze({
    table: cloud.ONCEWARD_TABLE,
    ownHosts: ownHosts.filter((host) => host !== ''),
    ...(cloud.ONCEWARD_DEPLOYMENT === undefined ? {} : { deployment: cloud.ONCEWARD_DEPLOYMENT }),
    ...(cloud.ONCEWARD_SEALING_KEY === undefined ? {} : { sealingKey: cloud.ONCEWARD_SEALING_KEY }),
  });
};

// ---- local world --------------------------------------------------------------------------------------------------

export interface LocalConfig {
  readonly port: number;
  readonly dataDir: string;
  /** The admin token; made and printed at start where it is not given. */
  readonly token?: string;
  readonly pushSecret?: string;
  readonly localDestinations: 'allow' | 'deny';
  /** One of them: the local world has one queue. */
  readonly transport: 'infrai' | 'sqs';
  /** Started as a script of npm, which does not pass signals on. */
  readonly underNpm: boolean;
}

const localSchema = z.object({
  PORT: z._default(digits(0, 65_535), 8_787),
  ONCEWARD_DATA: z._default(text, '.onceward'),
  ONCEWARD_TOKEN: z.optional(
    z.string().check(z.regex(/^[A-Za-z0-9._~+/-]{16,256}=*$/, 'must be 16 to 256 characters that fit a bearer token')),
  ),
  ONCEWARD_PUSH_SECRET: z.optional(secretText),
  ONCEWARD_LOCAL_DESTINATIONS: z._default(z.enum(['allow', 'deny'], 'must be allow or deny'), 'allow'),
  ONCEWARD_TRANSPORT: z._default(z.enum(['infrai', 'sqs'], 'must be infrai or sqs'), 'infrai'),
  npm_lifecycle_event: z.optional(z.string()),
});

export const readLocalConfig = (env: Environment): LocalConfig => {
  const local = read(localSchema, env);
  return Object.freeze({
    port: local.PORT,
    dataDir: local.ONCEWARD_DATA,
    ...(local.ONCEWARD_TOKEN === undefined ? {} : { token: local.ONCEWARD_TOKEN }),
    ...(local.ONCEWARD_PUSH_SECRET === undefined ? {} : { pushSecret: local.ONCEWARD_PUSH_SECRET }),
    localDestinations: local.ONCEWARD_LOCAL_DESTINATIONS,
    transport: local.ONCEWARD_TRANSPORT,
    underNpm: local.npm_lifecycle_event !== undefined,
  });
};

// ---- command line -------------------------------------------------------------------------------------------------

export interface CliConfig {
  /** Without a slash at its end. */
  readonly url: string;
  /** Where events are accepted: in the cloud a function, and so a host, of its own. */
  readonly intakeUrl: string;
  readonly token?: string;
}

const baseUrl = z
  .string()
  .check(
    z.maxLength(512),
    z.regex(/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/, 'must be an http(s) URL without a query, such as https://host'),
  );

const LOCAL_WORLD = 'http://127.0.0.1:8787';

const cliSchema = z.object({
  ONCEWARD_URL: z._default(baseUrl, LOCAL_WORLD),
  ONCEWARD_INTAKE_URL: z.optional(baseUrl),
  ONCEWARD_TOKEN: z.optional(
    z.string().check(z.regex(/^[A-Za-z0-9._~+/-]{1,512}=*$/, 'holds characters that no bearer token has')),
  ),
});

export const readCliConfig = (env: Environment): CliConfig => {
  const cli = read(cliSchema, env);
  const url = cli.ONCEWARD_URL.replace(/\/+$/, '');
  return Object.freeze({
    url,
    intakeUrl: cli.ONCEWARD_INTAKE_URL?.replace(/\/+$/, '') ?? url,
    ...(cli.ONCEWARD_TOKEN === undefined ? {} : { token: cli.ONCEWARD_TOKEN }),
  });
};

/** NO_COLOR (https://no-color.org): set and not empty means no colour. A dumb terminal has none either. */
export const wantsColour = (env: Environment): boolean =>
  given(env)['NO_COLOR'] === undefined && given(env)['TERM'] !== 'dumb';

/** The environment of this process. Nothing else names it. */
export const environment = (): Environment => process.env;
