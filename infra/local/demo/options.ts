/** The settings that all worlds of the demo share. */
import type { Telemetry } from '../../../functions/ports.ts';
import type { WorldOptions } from '../world.ts';

const DEMO_TICK_MS = 2_000;

export const demoWorldOptions = (token: string, telemetry: Telemetry): Omit<WorldOptions, 'dataDir'> => ({
  port: 0,
  token,
  pushScheme: { secrets: ['demo-push-secret-0123'], signatureHeader: 'x-infrai-signature', prefix: '' },
  policy: { allowLocal: true },
  telemetry,
  tickMs: DEMO_TICK_MS,
});
