/**
 * What a user would pick instead, beside this project and never a dependency of it: packages in a folder of the user's cache
 * (or the one given), Redis and Postgres of the system on free ports of 127.0.0.1 with their data in a folder that goes with
 * them.
 *
 *   packages() ── there, same versions ──► loaded from there         redis(), postgres() ── on the path ──► child ──► close()
 *        └── else npm install ── fails ──► missing, with the reason        └── else apt-get, as root ── fails ──► missing
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type PeerPackages, peerPackages } from './packages.ts';
import { type PostgresOptions, startPostgres } from './postgres.ts';
import { type RedisOptions, startRedis } from './redis.ts';
import type { Server } from './server.ts';

/** Where something cannot be had, the row of the benchmark says why. */
export type Had<T> = { readonly kind: 'had'; readonly it: T } | { readonly kind: 'missing'; readonly why: string };

export interface Peers {
  packages(): Promise<Had<PeerPackages>>;
  /** A new one each time, empty. The benchmark may stop it; the end of the run does. */
  redis(options?: RedisOptions): Promise<Had<Server>>;
  postgres(options?: PostgresOptions): Promise<Had<Server>>;
  close(): Promise<void>;
}

export const openPeers = (
  folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'onceward-peers'),
): Peers => {
  const started: Server[] = [];
  let packages: Promise<Had<PeerPackages>> | undefined;
  const kept = async (server: Promise<Server>): Promise<Server> => {
    const one = await server;
    started.push(one);
    return one;
  };
  const wanted = async <T>(get: () => Promise<T>): Promise<Had<T>> => {
    if (folder === 'none') return { kind: 'missing', why: 'left out by --peers none' };
    try {
      return { kind: 'had', it: await get() };
    } catch (error) {
      return { kind: 'missing', why: error instanceof Error ? error.message : String(error) };
    }
  };
  return {
    packages: () => {
      packages ??= wanted(() => peerPackages(folder));
      return packages;
    },
    redis: (options) => wanted(() => kept(startRedis(options))),
    postgres: (options) => wanted(() => kept(startPostgres(options))),
    close: async () => void (await Promise.all(started.map((server) => server.stop()))),
  };
};
