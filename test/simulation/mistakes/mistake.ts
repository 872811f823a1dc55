/** A deliberate mistake: small pieces of the real code, replaced in the thread that runs the histories. */
import type { Patch } from '../../support/patched-code.ts';

export interface Mistake {
  readonly name: string;
  readonly patches: readonly Patch[];
  /** Why no history can show it, where that is so: it must then really survive. */
  readonly survives?: string;
}

export const patch = (file: string, find: string, put: string): Patch => ({ file, find, put });
export const mistake = (name: string, ...patches: readonly Patch[]): Mistake => ({ name, patches });
export const survivor = (name: string, survives: string, ...patches: readonly Patch[]): Mistake => ({
  name,
  patches,
  survives,
});
