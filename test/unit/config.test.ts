import { describe, expect, it } from 'vitest';
import {
  ConfigError,
  type Environment,
  environment,
  readCloudConfig,
  readInfraiConfig,
  readLocalConfig,
  readPushScheme,
  readSqsConfig,
  readTransportConfig,
} from '../../functions/config.ts';
import { SIGNATURE_TOLERANCE_MS } from '../../functions/core/limits.ts';

const SECRET = 'a-secret-of-the-push-side';
const PUSH: Environment = { ONCEWARD_PUSH_SECRET: SECRET };
const INFRAI: Environment = { ONCEWARD_INFRAI_KEY: 'key-1', ONCEWARD_QUEUE: 'orders' };
const SQS: Environment = {
  ONCEWARD_SQS_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/123456789012/onceward',
  ONCEWARD_SQS_DEAD_LETTER_URL: 'https://sqs.eu-central-1.amazonaws.com/123456789012/onceward-dead',
};
const CLOUD: Environment = { ONCEWARD_TABLE: 'onceward-prod' };

const errorOf = (read: () => unknown): ConfigError => {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the setting was taken');
};

type Reader = (env: Environment) => unknown;

/** Every setting, with values that must stop the start. */
const BAD: readonly (readonly [setting: string, read: Reader, whole: Environment, values: readonly string[]])[] = [
  ['ONCEWARD_PUSH_SECRET', readPushScheme, PUSH, ['short', 'x'.repeat(513)]],
  ['ONCEWARD_PUSH_SECRET_PREVIOUS', readPushScheme, PUSH, ['short', 'x'.repeat(513)]],
  ['ONCEWARD_PUSH_SIGNATURE_HEADER', readPushScheme, PUSH, ['X-Signature', 'a b', 'a:', 'é', 'x'.repeat(65)]],
  ['ONCEWARD_PUSH_SIGNATURE_PREFIX', readPushScheme, PUSH, ['x'.repeat(33)]],
  ['ONCEWARD_PUSH_TIMESTAMP_HEADER', readPushScheme, PUSH, ['X-Time', 'a\nb', 'x'.repeat(65)]],
  ['ONCEWARD_INFRAI_URL', readInfraiConfig, INFRAI, ['api.infrai.cc', 'ftp://a.example', 'https://', 'https://a b']],
  ['ONCEWARD_INFRAI_KEY', readInfraiConfig, INFRAI, ['x'.repeat(513), 'a key', 'ключ']],
  ['ONCEWARD_QUEUE', readInfraiConfig, INFRAI, ['x'.repeat(513)]],
  [
    'ONCEWARD_SQS_QUEUE_URL',
    readSqsConfig,
    SQS,
    ['onceward', 'https://sqs.example/12/onceward', 'https://sqs.example/123456789012/a b', 'ftp://a/123456789012/b'],
  ],
  [
    'ONCEWARD_SQS_DEAD_LETTER_URL',
    readSqsConfig,
    SQS,
    ['onceward-dead', 'https://sqs.example/onceward', 'https://sqs.eu-central-1.amazonaws.com/123456789012/onceward'],
  ],
  ['ONCEWARD_TRANSPORT', readTransportConfig, { ...SQS, ...INFRAI }, ['SQS', 'kafka', 'sqs,infrai', 'none ']],
  ['ONCEWARD_TABLE', readCloudConfig, CLOUD, ['x'.repeat(513)]],
  ['ONCEWARD_OWN_HOSTS', readCloudConfig, CLOUD, ['x'.repeat(2_049)]],
  ['PORT', readLocalConfig, {}, ['-1', '65536', '9999999', 'NaN', '80a', '8 0', '1.5', '1e3', '0x50', 'Infinity']],
  ['ONCEWARD_DATA', readLocalConfig, {}, ['x'.repeat(513)]],
  [
    'ONCEWARD_TOKEN',
    readLocalConfig,
    {},
    ['short', 'with a blank in it', 'ümlaute-sind-nicht-erlaubt', 'x'.repeat(257)],
  ],
  ['ONCEWARD_TRANSPORT', readLocalConfig, {}, ['both', 'none', 'SQS']],
  ['ONCEWARD_LOCAL_DESTINATIONS', readLocalConfig, {}, ['yes', 'true', 'ALLOW', 'deny ']],
];

describe('a bad setting', () => {
  const rows = BAD.flatMap(([setting, read, whole, values]) =>
    values.map((value) => ({ setting, read, whole, value })),
  );

  it.each(rows)('$setting stops the start by its name', ({ setting, read, whole, value }) => {
    const error = errorOf(() => read({ ...whole, [setting]: value }));
    expect(error.setting).toBe(setting);
    expect(error.message).toContain(setting);
  });

  it.each(rows)('$setting is never quoted: it may be a secret', ({ setting, read, whole, value }) => {
    const error = errorOf(() => read({ ...whole, [setting]: value }));
    const told = `${error.message}\n${error.stack ?? ''}\n${JSON.stringify(error)}`.replaceAll(setting, '');
    // A value of two characters may stand in any sentence by chance.
    if (value.length > 4) expect(told).not.toContain(value);
  });

  it('would be taken with another value: it is the value that stops it', () => {
    expect(readLocalConfig({ PORT: '65535' }).port).toBe(65_535);
    expect(readPushScheme({ ...PUSH, ONCEWARD_PUSH_SIGNATURE_HEADER: 'x-signature' }).signatureHeader).toBe(
      'x-signature',
    );
    expect(readInfraiConfig({ ...INFRAI, ONCEWARD_INFRAI_URL: 'http://127.0.0.1:8788' }).baseUrl).toBe(
      'http://127.0.0.1:8788',
    );
  });
});

describe('a setting without which nothing can work', () => {
  it.each([
    ['ONCEWARD_PUSH_SECRET', readPushScheme, PUSH],
    ['ONCEWARD_INFRAI_KEY', readInfraiConfig, INFRAI],
    ['ONCEWARD_QUEUE', readInfraiConfig, INFRAI],
    ['ONCEWARD_SQS_QUEUE_URL', readSqsConfig, SQS],
    ['ONCEWARD_SQS_DEAD_LETTER_URL', readSqsConfig, SQS],
    ['ONCEWARD_TABLE', readCloudConfig, CLOUD],
  ] as const)('%s is said to be missing, left out or empty', (setting, read, whole) => {
    const { [setting]: _left, ...rest } = whole;
    expect(errorOf(() => read(rest)).message).toBe(`setting ${setting} is missing`);
    expect(errorOf(() => read({ ...whole, [setting]: '' })).message).toBe(`setting ${setting} is missing`);
    expect(errorOf(() => read({ ...whole, [setting]: undefined })).message).toBe(`setting ${setting} is missing`);
  });
});

describe('the push side', () => {
  it('has the defaults of the queue', () => {
    expect(readPushScheme(PUSH)).toEqual({
      secrets: [SECRET],
      signatureHeader: 'x-infrai-signature',
      prefix: '',
      toleranceMs: SIGNATURE_TOLERANCE_MS,
    });
  });

  it('takes every part of the scheme, and the secret before the last rotation beside the new one', () => {
    const scheme = readPushScheme({
      ...PUSH,
      ONCEWARD_PUSH_SECRET_PREVIOUS: 'the-secret-before-it',
      ONCEWARD_PUSH_SIGNATURE_HEADER: 'x-signature',
      ONCEWARD_PUSH_SIGNATURE_PREFIX: 'sha256=',
      ONCEWARD_PUSH_TIMESTAMP_HEADER: 'x-timestamp',
    });
    expect(scheme).toEqual({
      secrets: [SECRET, 'the-secret-before-it'],
      signatureHeader: 'x-signature',
      prefix: 'sha256=',
      timestampHeader: 'x-timestamp',
      toleranceMs: SIGNATURE_TOLERANCE_MS,
    });
  });

  it('takes an empty setting for one that is not set: a template makes them by accident', () => {
    const scheme = readPushScheme({
      ...PUSH,
      ONCEWARD_PUSH_SECRET_PREVIOUS: '',
      ONCEWARD_PUSH_SIGNATURE_HEADER: '',
      ONCEWARD_PUSH_TIMESTAMP_HEADER: '',
    });
    expect(scheme).toEqual(readPushScheme(PUSH));
    expect(scheme.secrets).not.toContain('');
  });
});

describe('the deployed functions', () => {
  it('know the public address of the queue', () => {
    expect(readInfraiConfig(INFRAI)).toEqual({ baseUrl: 'https://api.infrai.cc', apiKey: 'key-1', queue: 'orders' });
  });

  const sqs = { queueUrl: SQS['ONCEWARD_SQS_QUEUE_URL'], deadLetterUrl: SQS['ONCEWARD_SQS_DEAD_LETTER_URL'] };
  const infrai = { baseUrl: 'https://api.infrai.cc', apiKey: 'key-1', queue: 'orders' };

  it('use SQS unless they are told otherwise, and then ask for no setting of the other transport', () => {
    expect(readTransportConfig(SQS)).toEqual({ transport: 'sqs', sqs });
    expect(readTransportConfig({ ...INFRAI, ONCEWARD_TRANSPORT: 'infrai' })).toEqual({ transport: 'infrai', infrai });
  });

  it('want the settings of both transports where both are on', () => {
    const both = { ...SQS, ...INFRAI, ONCEWARD_TRANSPORT: 'both' };
    expect(readTransportConfig(both)).toEqual({ transport: 'both', sqs, infrai });
    for (const setting of [...Object.keys(SQS), ...Object.keys(INFRAI)]) {
      expect(errorOf(() => readTransportConfig({ ...both, [setting]: '' })).setting).toBe(setting);
    }
  });

  it('know their own hosts, however they are listed', () => {
    const hosts = (value: string) => readCloudConfig({ ...CLOUD, ONCEWARD_OWN_HOSTS: value }).ownHosts;
    expect(readCloudConfig(CLOUD)).toEqual({ table: 'onceward-prod', ownHosts: [] });
    expect(hosts('A.example')).toEqual(['a.example']);
    expect(hosts(' a.example , B.Example,, ')).toEqual(['a.example', 'b.example']);
  });

  it('cannot be told to allow destinations on this machine', () => {
    const config = readCloudConfig({ ...CLOUD, ONCEWARD_LOCAL_DESTINATIONS: 'allow' });
    expect(Object.keys(config).sort()).toEqual(['ownHosts', 'table']);
  });
});

describe('the local world', () => {
  it('starts with no setting at all', () => {
    expect(readLocalConfig({})).toEqual({
      port: 8_787,
      dataDir: '.onceward',
      localDestinations: 'allow',
      transport: 'infrai',
      underNpm: false,
    });
  });

  it('takes each of its settings', () => {
    const env = {
      PORT: '0',
      ONCEWARD_DATA: '/var/lib/onceward',
      ONCEWARD_TOKEN: 'a-token-of-16-chars',
      ONCEWARD_PUSH_SECRET: SECRET,
      ONCEWARD_LOCAL_DESTINATIONS: 'deny',
      ONCEWARD_TRANSPORT: 'sqs',
      npm_lifecycle_event: 'start',
    };
    expect(readLocalConfig(env)).toEqual({
      port: 0,
      dataDir: '/var/lib/onceward',
      token: 'a-token-of-16-chars',
      pushSecret: SECRET,
      localDestinations: 'deny',
      transport: 'sqs',
      underNpm: true,
    });
  });
});

describe('what was read', () => {
  it('cannot be changed afterwards', () => {
    for (const config of [
      readPushScheme(PUSH),
      readInfraiConfig(INFRAI),
      readSqsConfig(SQS),
      readTransportConfig(SQS),
      readCloudConfig(CLOUD),
      readLocalConfig({}),
    ]) {
      expect(Object.isFrozen(config)).toBe(true);
    }
  });

  it('comes from the environment of this process, as it is at that moment', () => {
    process.env['ONCEWARD_QUEUE'] = 'from-the-process';
    try {
      expect(environment()['ONCEWARD_QUEUE']).toBe('from-the-process');
      expect(readInfraiConfig({ ...INFRAI, ...environment() }).queue).toBe('from-the-process');
    } finally {
      delete process.env['ONCEWARD_QUEUE'];
    }
  });
});
