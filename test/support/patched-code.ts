/**
 * Runs the real code with a piece of its text replaced, in this thread only. A broken machine is made of the code under
 * test itself, so it cannot drift away from it: a text that is not found exactly once is an error.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

export interface Patch {
  /** Below functions/. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

const FUNCTIONS = new URL('../../functions/', import.meta.url);

/** Throws where the text is not found exactly once. */
export const patchedText = (text: string, { file, find, put }: Patch): string => {
  const parts = text.split(find);
  if (parts.length === 2) return parts.join(put);
  throw new Error(
    `functions/${file} holds this text ${parts.length - 1} times instead of once; has the code changed? ${find}`,
  );
};

/** Must be called before anything imports the patched files; gives the patches that no import has met so far. */
export const patchCode = (patches: readonly Patch[]): (() => readonly Patch[]) => {
  const left = new Set(patches);
  registerHooks({
    load: (url, context, nextLoad) => {
      const here = patches.filter(({ file }) => url === new URL(file, FUNCTIONS).href);
      if (here.length === 0) return nextLoad(url, context);
      for (const patch of here) left.delete(patch);
      const text = readFileSync(fileURLToPath(url), 'utf8');
      return { format: 'module-typescript', source: here.reduce(patchedText, text), shortCircuit: true };
    },
  });
  return () => [...left];
};
