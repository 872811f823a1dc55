/**
 * A server of the system as a child of this process.
 *
 *   find ──► spawn ──► its own line says that it is ready ──► stop(), or the end of this process ──► its data are removed
 *     └── not there: apt-get install, as root      └── it ends first, or is silent for 30 s: thrown, with what it said
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { promisify } from 'node:util';

export interface Server {
  readonly host: '127.0.0.1';
  readonly port: number;
  readonly version: string;
  readonly pid: number;
  /** May be called again. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Goes with the server. */
  readonly dataDir: string;
  readonly port: number;
  readonly version: string;
  readonly readyAt: RegExp;
  readonly stopBy: NodeJS.Signals;
  /** Where this process ends first; SIGKILL unless the server would leave something of the system behind. */
  readonly endBy?: NodeJS.Signals;
  /** Another user, where a server refuses to run as root. */
  readonly as?: { readonly uid: number; readonly gid: number };
}

const START_MS = 30_000;
const END_MS = 500;
const INSTALL_MS = 240_000;

export const startServer = async (options: ServerOptions): Promise<Server> => {
  const { command, args, dataDir, port, version, stopBy } = options;
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: dataDir, ...options.as });
  const clear = (): void => rmSync(dataDir, { recursive: true, force: true });
  const endWithUs = (): void => {
    child.kill(options.endBy ?? 'SIGKILL');
    // Nothing can be awaited any more, and a server that shuts down writes once more.
    if (options.endBy !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, END_MS);
    clear();
  };
  process.once('exit', endWithUs);
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const ended = once(child, 'exit');
      child.kill(stopBy);
      await ended;
    }
    process.off('exit', endWithUs);
    clear();
  };
  try {
    await untilReady(child, options);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { host: '127.0.0.1', port, version, pid: child.pid ?? 0, stop };
};

const untilReady = (child: ChildProcess, { command, readyAt }: ServerOptions): Promise<void> =>
  new Promise((ready, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`${command} was not ready in ${START_MS} ms: ${said}`)), START_MS); // wait-ok: an end to the wait for its line
    const hear = (chunk: Buffer): void => {
      said = `${said}${chunk}`.slice(-4_000);
      if (!readyAt.test(said)) return;
      clearTimeout(timer);
      ready();
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`${command} ended (${code ?? signal}): ${said}`)));
  });

/** Debian's package, where the command is not there and we may install. Rejects with what a person can do. */
export const install = async (debianPackage: string): Promise<void> => {
  if (process.getuid?.() !== 0) throw new Error(`not installed here: apt-get install ${debianPackage}`);
  try {
    const run = (...args: string[]) =>
      promisify(execFile)('apt-get', args, {
        timeout: INSTALL_MS,
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
      });
    await run('update', '-qq');
    await run('install', '-y', '-qq', '--no-install-recommends', debianPackage);
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new Error(`apt-get could not install ${debianPackage}: ${said.trim().split('\n')[0]}`, { cause: error });
  }
};

/** What a command prints, or undefined where there is none. */
export const outputOf = async (command: string, ...args: string[]): Promise<string | undefined> => {
  try {
    return (await promisify(execFile)(command, args)).stdout.trim();
  } catch {
    return undefined;
  }
};

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the system gave no port on 127.0.0.1');
  return address.port;
};
