/** The settings that all worlds of the demo share. */
import type { Telemetry } from '../../../functions/ports.ts';
import type { LocalTransportName, WorldOptions } from '../world.ts';

const DEMO_TICK_MS = 2_000;

export const demoWorldOptions = (
  token: string,
  telemetry: Telemetry,
  transport: LocalTransportName = 'infrai',
): Omit<WorldOptions, 'dataDir'> => ({
  port: 0,
  transport,
  token,
  pushScheme: { secrets: ['demo-push-secret-0123'], signatureHeader: 'x-infrai-signature', prefix: '' },
  policy: { allowLocal: true },
  telemetry,
  tickMs: DEMO_TICK_MS,
});
