/** The secrets with which requests to a destination are signed, fit for use. */
import type { DestinationId } from '../core/ids.ts';
import { parseSecret, type SigningSecret } from '../core/signature.ts';
import { LedgerCorrupt, type World } from '../ports.ts';
import { brokenItem } from './broken-item.ts';

/** Newest first. None: nothing can be signed, and waiting does not mend it; a line says so. */
export const signingSecrets = async (
  world: Pick<World, 'secrets' | 'telemetry'>,
  destination: DestinationId,
): Promise<readonly SigningSecret[]> => {
  const secrets = usable(await textsOf(world, destination));
  if (secrets.length === 0) world.telemetry.line('destination.no-secret', { destination });
  return secrets;
};

/** A secret that cannot be read is as good as none. */
const textsOf = async (
  world: Pick<World, 'secrets' | 'telemetry'>,
  destination: DestinationId,
): Promise<readonly string[]> => {
  try {
    return await world.secrets.signing(destination);
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    brokenItem(world.telemetry, { destination }, error);
    return [];
  }
};

const usable = (texts: readonly string[]): readonly SigningSecret[] =>
  texts.flatMap((text) => {
    const parsed = parseSecret(text);
    return parsed.kind === 'ok' ? [parsed.secret] : [];
  });
