/**
 * One function as the platform gets it: `index.mjs` and the parts that it only loads where it needs them, so that a cold
 * start reads no transport that is not in use.
 *
 * The AWS SDK goes into the bundle: taken from the runtime it starts more slowly, and its version is not ours.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, BuildResult } from 'esbuild';

export type Bundled = BuildResult<{ metafile: true; write: true }>;

/** The top of the project: entries are named from here. */
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

const OPTIONS = {
  absWorkingDir: PROJECT,
  bundle: true,
  metafile: true,
  write: true,
  minify: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // The ES modules of a package can be thinned out; its CommonJS edition comes whole.
  mainFields: ['module', 'main'],
  alias: { undici: './infra/aws/undici.cjs' },
  // As Node's own copy of undici is bundled: without its second, experimental parser.
  define: { esbuildDetection: 'true' },
  entryNames: 'index',
  chunkNames: 'part-[hash]',
  outExtension: { '.js': '.mjs' },
  // CommonJS packages inside of an ES module bundle need a `require` of their own.
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * Synchronous, since a construct is made in one go. esbuild is looked up only here: an installed package brings its
 * functions ready-made and has no esbuild.
 */
export const bundle = (entry: string, outdir: string): Bundled => {
  const esbuild: typeof import('esbuild') = createRequire(import.meta.url)('esbuild');
  return esbuild.buildSync({ ...OPTIONS, entryPoints: [entry], outdir });
};
