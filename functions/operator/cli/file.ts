/** A file that a command was given, or what comes in where it is `-`. */
import type { Shell } from './shell.ts';
import { Stop, USAGE } from './stop.ts';

/** Throws Stop: one that cannot be read is a mistake in the command, not a fault of this program. */
export const fileBytes = async (shell: Shell, at: string): Promise<Uint8Array> => {
  try {
    return await shell.read(at);
  } catch (error) {
    throw new Stop(USAGE, `cannot read ${at}: ${error instanceof Error ? error.message : String(error)}`);
  }
};
