import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, install, outputOf, type Server, startServer } from './server.ts';

export interface RedisOptions {
  /**
   * When a write is on the disk: `always` before it is answered, as a ledger does it; `everysec` is what Redis advises;
   * `none` keeps all in memory (the default), which a kill of the server loses.
   */
  readonly fsync?: 'always' | 'everysec' | 'none';
}

export const startRedis = async ({ fsync = 'none' }: RedisOptions = {}): Promise<Server> => {
  const version = (await versionOf()) ?? (await install('redis-server').then(versionOf));
  if (version === undefined) throw new Error('redis-server is installed and cannot be run');
  const port = await freePort();
  const dataDir = await mkdtemp(join(tmpdir(), 'onceward-redis-'));
  const disk = fsync === 'none' ? ['--appendonly', 'no'] : ['--appendonly', 'yes', '--appendfsync', fsync];
  const args = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', dataDir, '--save', '', ...disk];
  return startServer({
    command: 'redis-server',
    args,
    dataDir,
    port,
    version,
    readyAt: /ready to accept connections/i,
    stopBy: 'SIGTERM',
  });
};

const versionOf = async (): Promise<string | undefined> =>
  /v=([\d.]+)/.exec((await outputOf('redis-server', '--version')) ?? '')?.[1];
