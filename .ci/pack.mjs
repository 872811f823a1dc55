/**
 * What `npm pack` ships, and the two steps around it.
 *
 *   prepack:  build/ is made, and package.json becomes that of the package; the project's own is kept in build/
 *   npm packs the folder
 *   postpack: the project's package.json comes back
 *
 *   build/onceward.js      the construct, for an app of one's own; aws-cdk-lib and constructs are that app's
 *   build/types/           its types
 *   build/lambda/NAME/     the code of each function, ready-made: nobody who installs it needs esbuild
 *   build/cli.mjs          the command line, with all that it needs, for any Node from 20 on
 *
 * Everything is bundled, so the package depends on nothing: what this project runs on, its own Node among it, would
 * otherwise be installed into every project that wants a command line.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const MANIFEST = 'package.json';
const KEPT = 'build/package.json.project';
const BANNER = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

const prepack = async () => {
  if (existsSync(KEPT))
    throw new Error(`${KEPT} is there: an earlier pack was cut off. Run: node .ci/pack.mjs postpack`);
  rmSync('build', { recursive: true, force: true });
  const { build } = await import('esbuild');
  const { bundle } = await import('../infra/aws/bundle.ts');
  const { shippedName } = await import('../infra/aws/code.ts');
  // As with the functions: the CommonJS form of some packages cannot be bundled.
  const mainFields = ['module', 'main'];
  const common = { bundle: true, platform: 'node', format: 'esm', logLevel: 'warning', mainFields };
  await build({
    ...common,
    entryPoints: ['functions/operator/cli/main.ts'],
    outfile: 'build/cli.mjs',
    target: 'node20',
    banner: { js: BANNER },
  });
  await build({
    ...common,
    entryPoints: ['infra/aws/onceward.ts'],
    outfile: 'build/infra/aws/onceward.js',
    target: 'node20',
    external: ['aws-cdk-lib', 'constructs', 'esbuild'],
  });
  for (const entry of globSync('functions/*/*handler.ts')) {
    bundle(entry, `build/lambda/${shippedName(entry)}`);
  }
  execFileSync('node_modules/.bin/tsc', ['--project', '.ci/types.json'], { stdio: 'inherit' });
  const project = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  copyFileSync(MANIFEST, KEPT);
  writeFileSync(MANIFEST, `${JSON.stringify(packaged(project), null, 2)}\n`);
};

/** Without all that only this project needs. */
const packaged = ({ scripts, allowScripts, dependencies, devDependencies, optionalDependencies, ...kept }) => {
  const peer = (name) => `^${devDependencies[name]}`;
  return {
    ...kept,
    peerDependencies: { 'aws-cdk-lib': peer('aws-cdk-lib'), constructs: peer('constructs') },
    // Who only wants the command line needs neither.
    peerDependenciesMeta: { 'aws-cdk-lib': { optional: true }, constructs: { optional: true } },
  };
};

const postpack = () => {
  if (!existsSync(KEPT)) return;
  copyFileSync(KEPT, MANIFEST);
  rmSync(KEPT);
};

const steps = { prepack, postpack };
const step = steps[process.argv[2]];
if (step === undefined) throw new Error(`node .ci/pack.mjs ${Object.keys(steps).join(' | ')}`);
try {
  await step();
} catch (error) {
  postpack();
  throw error;
}
