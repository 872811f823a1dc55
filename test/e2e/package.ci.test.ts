/**
 * Goal: what `npm pack` makes can be used in an empty project that has nothing of this one.
 * Method: a copy of the project is packed, so that the manifest of this folder is never the one that is rewritten; the
 * package is installed without a registry; its command line and its construct run from there. Takes half a minute.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = new URL('../..', import.meta.url).pathname;
const SHIPS = ['functions', 'infra', '.ci', 'package.json', 'tsconfig.json', 'README.md', 'LICENSE', '.npmrc'];

let folder = '';
let app = '';
let copy = '';

const run = async (cwd: string, command: string, ...args: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(command, args, { cwd, maxBuffer: 16 * 1_024 * 1_024 });
  return stdout;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'onceward-package-'));
  [copy, app] = [join(folder, 'project'), join(folder, 'app')];
  await Promise.all([mkdir(copy), mkdir(app)]);
  for (const name of SHIPS) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  await run(copy, 'npm', 'pack', '--pack-destination', folder);
  await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
  await run(app, 'npm', 'install', '--offline', join(folder, 'onceward-0.1.0.tgz'));
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const read = async (...path: readonly string[]): Promise<string> => readFile(join(...path), 'utf8');

describe('packing', () => {
  it("gives the project's own manifest back", async () => {
    expect(await read(copy, 'package.json')).toBe(await read(ROOT, 'package.json'));
  });
});

describe('the installed package', () => {
  it('is the only one: it depends on nothing, and brings no Node of its own', async () => {
    const installed = await readdir(join(app, 'node_modules'));
    expect(installed.filter((name) => !name.startsWith('.'))).toEqual(['onceward']);
    expect(await readdir(join(app, 'node_modules', '.bin'))).toEqual(['onceward']);
  });

  it('holds what is built, and no source, test or script of the project', async () => {
    const inside = join(app, 'node_modules', 'onceward');
    expect((await readdir(inside)).toSorted()).toEqual(['LICENSE', 'README.md', 'build', 'package.json']);
    expect((await readdir(join(inside, 'build'))).toSorted()).toEqual(['cli.mjs', 'infra', 'lambda', 'types']);
    expect(JSON.parse(await read(inside, 'package.json'))).not.toHaveProperty('scripts');
  });

  it('has a command line', async () => {
    const help = await run(app, 'npx', '--no-install', 'onceward', '--help');
    expect(help).toContain('Usage: onceward');
    expect(help).toContain('redrive');
    expect(await run(app, 'npx', '--no-install', 'onceward', '--version')).toBe('0.1.0\n');
  });
});

describe('the construct in an app that has the CDK', () => {
  beforeAll(async () => {
    for (const name of ['aws-cdk-lib', 'constructs']) {
      await symlink(join(ROOT, 'node_modules', name), join(app, 'node_modules', name));
    }
  });

  it('synthesises, with the functions as they were packed', { timeout: 60_000 }, async () => {
    const source = `
      import { App, Stack } from 'aws-cdk-lib';
      import { Onceward } from 'onceward';
      import { Onceward as again } from 'onceward/aws';
      const app = new App({ outdir: 'cdk.out' });
      new Onceward(new Stack(app, 'Mine'), 'Onceward');
      const { Resources } = app.synth().getStackByName('Mine').template;
      const types = Object.values(Resources).map(({ Type }) => Type);
      console.log(JSON.stringify({ same: again === Onceward, types }));`;
    await writeFile(join(app, 'app.mjs'), source);
    const { same, types } = JSON.parse(await run(app, process.execPath, 'app.mjs'));
    expect(same).toBe(true);
    expect(types).toContain('AWS::Lambda::EventSourceMapping');
    expect(types.filter((type: string) => type === 'AWS::Lambda::Function').length).toBeGreaterThanOrEqual(4);
    const lambda = join(app, 'node_modules', 'onceward', 'build', 'lambda');
    const packed = await Promise.all((await readdir(lambda)).map((name) => read(lambda, name, 'index.mjs')));
    const assets = (await readdir(join(app, 'cdk.out'))).filter((name) => name.startsWith('asset.'));
    expect(assets).toHaveLength(4);
    for (const asset of assets) expect(packed).toContain(await read(app, 'cdk.out', asset, 'index.mjs'));
  });

  it('has types: a setting that does not exist is seen before it is run', { timeout: 60_000 }, async () => {
    const source = `
      import { App, Stack } from 'aws-cdk-lib';
      import { Onceward, type OncewardProps } from 'onceward';
      const props: OncewardProps = { transport: 'sqs' };
      const made = new Onceward(new Stack(new App(), 'Mine'), 'Onceward', props);
      export const url: string = made.urls.intake;
      // @ts-expect-error there is no such transport
      new Onceward(new Stack(new App(), 'Other'), 'Onceward', { transport: 'kafka' });`;
    await writeFile(join(app, 'app.ts'), source);
    const options = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, types: [], skipLibCheck: true };
    await writeFile(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['app.ts'] }));
    expect(await run(app, join(ROOT, 'node_modules', '.bin', 'tsc'), '--project', '.')).toBe('');
  });
});
