/** What parent and workers agree on. */
import type { InfraiPushSettings } from '../../../functions/adapters/queue/infrai/push.ts';

export const TABLE = 'onceward';
export const TICK_MS = 2_000;
export const LOCAL = { region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
export const SCHEME: InfraiPushSettings = {
  secrets: ['the-secret-of-the-push-side'],
  signatureHeader: 'x-infrai-signature',
  prefix: '',
};

export const BULL_QUEUE = 'fire';
