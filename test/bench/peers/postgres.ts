import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, install, outputOf, type Server, startServer } from './server.ts';

export interface PostgresOptions {
  /** A commit waits for the disk (the default), as the ledger's do. */
  readonly sync?: boolean;
}

/** User `postgres` of database `postgres`, without a password. */
export const startPostgres = async ({ sync = true }: PostgresOptions = {}): Promise<Server> => {
  const bin = (await binaries()) ?? (await install('postgresql').then(binaries));
  if (bin === undefined) throw new Error('postgresql is installed and its initdb is not where Debian puts it');
  const port = await freePort();
  const dataDir = await mkdtemp(join(tmpdir(), 'onceward-postgres-'));
  const as = await otherUser();
  if (as !== undefined) await chown(dataDir, as.uid, as.gid);
  const init = ['-D', join(dataDir, 'data'), '-A', 'trust', '-U', 'postgres', '--no-sync'];
  await promisify(execFile)(join(bin, 'initdb'), init, { cwd: dataDir, ...as });
  const settings = [`unix_socket_directories=${dataDir}`, 'listen_addresses=127.0.0.1', `fsync=${sync ? 'on' : 'off'}`];
  return startServer({
    command: join(bin, 'postgres'),
    args: ['-D', join(dataDir, 'data'), '-p', `${port}`, ...settings.flatMap((setting) => ['-c', setting])],
    dataDir,
    port,
    version: /([\d.]+)/.exec((await outputOf(join(bin, 'postgres'), '--version')) ?? '')?.[1] ?? 'unknown',
    readyAt: /ready to accept connections/,
    // At once, without waiting for clients to leave.
    stopBy: 'SIGINT',
    // Its immediate shutdown gives shared memory back, which outlives a killed server.
    endBy: 'SIGQUIT',
    ...(as === undefined ? {} : { as }),
  });
};

const DEBIAN = '/usr/lib/postgresql';

/** The newest that is installed. */
const binaries = async (): Promise<string | undefined> => {
  const versions = await readdir(DEBIAN).catch(() => []);
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? undefined : join(DEBIAN, newest, 'bin');
};

/** Postgres refuses to run as root. */
const otherUser = async (): Promise<{ uid: number; gid: number } | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all([outputOf('id', '-u', 'postgres'), outputOf('id', '-g', 'postgres')]);
  if (uid === undefined || gid === undefined) throw new Error('there is no user postgres to run it as');
  return { uid: Number(uid), gid: Number(gid) };
};
