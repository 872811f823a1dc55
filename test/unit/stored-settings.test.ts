/** Settings out of Secrets Manager: read once, again when they are old, and never the reason why a running function stops. */
import { describe, expect, it } from 'vitest';
import {
  renewing,
  SECRET_AGAIN_MS,
  SECRET_AGE_MS,
  type StoredTexts,
  withStored,
} from '../../functions/adapters/stored-settings.ts';
import { readPushScheme, readStoredSettings } from '../../functions/config.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { recordedTelemetry } from '../support/world-ports.ts';

const KEY = { setting: 'ONCEWARD_INFRAI_KEY', arn: 'arn:aws:secretsmanager:x:1:secret:key' };

const scene = async (places = [KEY]) => {
  const clock = new VirtualClock();
  const telemetry = recordedTelemetry();
  const service = { text: 'first', reads: 0, away: false };
  const made: StoredTexts[] = [];
  const read = async (): Promise<string> => {
    service.reads += 1;
    if (service.away) throw new Error(`could not send ${service.text}`);
    return service.text;
  };
  const handler = await renewing({ places, clock, telemetry, read }, async (texts) => {
    made.push(texts);
    return async (event: string) => `${event} with ${texts[KEY.setting]}`;
  });
  return { clock, telemetry, service, made, handler };
};

describe('a stored setting', () => {
  it('is read once at cold start, whatever comes then', async () => {
    const { handler, service, made } = await scene();
    expect(await handler('push')).toBe('push with first');
    expect(await handler('push')).toBe('push with first');
    expect([service.reads, made.length]).toEqual([1, 1]);
  });

  it('that was rotated is in use after its age, without a new start', async () => {
    const { handler, service, clock } = await scene();
    service.text = 'second';
    await clock.advance(SECRET_AGE_MS - 1);
    expect(await handler('push')).toBe('push with first');
    await clock.advance(1);
    expect(await handler('push')).toBe('push with second');
  });

  it('that is the same makes nothing anew', async () => {
    const { handler, made, clock, service } = await scene();
    await clock.advance(SECRET_AGE_MS);
    await handler('push');
    expect([service.reads, made.length]).toEqual([2, 1]);
  });

  it('that cannot be read again stays in use, is counted, and is asked for a minute later', async () => {
    const { handler, service, clock, telemetry } = await scene();
    Object.assign(service, { away: true, text: 'second' });
    await clock.advance(SECRET_AGE_MS);
    expect(await handler('push')).toBe('push with first');
    expect(await handler('push')).toBe('push with first');
    expect([telemetry.counted('secret-not-renewed'), service.reads]).toEqual([1, 2]);
    expect(JSON.stringify(telemetry.lines)).not.toContain('second');
    service.away = false;
    await clock.advance(SECRET_AGAIN_MS);
    expect(await handler('push')).toBe('push with second');
  });

  it('stops the start where it cannot be read at all', async () => {
    const read = (): Promise<string> => Promise.reject(new Error('away'));
    const options = { places: [KEY], clock: new VirtualClock(), telemetry: recordedTelemetry(), read };
    await expect(renewing(options, async () => async () => 'never')).rejects.toThrow('away');
  });

  it('is asked for by nobody where nothing is stored', async () => {
    const { handler, service, clock } = await scene([]);
    await clock.advance(10 * SECRET_AGE_MS);
    expect(await handler('push')).toBe('push with undefined');
    expect(service.reads).toBe(0);
  });
});

describe('the environment', () => {
  it('says where a setting is kept by its name and _ARN', () => {
    expect(readStoredSettings({ ONCEWARD_INFRAI_KEY_ARN: KEY.arn, ONCEWARD_TABLE: 't' })).toEqual([KEY]);
    expect(() => readStoredSettings({ ONCEWARD_PUSH_SECRET_ARN: 'the secret itself' })).toThrow(
      'setting ONCEWARD_PUSH_SECRET_ARN must be an ARN',
    );
  });

  it('takes two push secrets while they are being rotated', () => {
    const secrets = (text: string) => readPushScheme(withStored({}, { ONCEWARD_PUSH_SECRET: text })).secrets;
    expect(secrets('a-secret-of-16-chars')).toEqual(['a-secret-of-16-chars']);
    expect(secrets('the-new-secret-text, the-old-secret-text')).toEqual(['the-new-secret-text', 'the-old-secret-text']);
  });
});
