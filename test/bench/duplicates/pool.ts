/**
 * Workers as processes of their own, that are killed with SIGKILL and started again.
 *
 *   fork ──► says its port ──► works ──► SIGKILL, wherever it is ──► fork
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Pool {
  /** Of one that is up. Waits where none is. */
  port(): Promise<number>;
  /** Kills one, chosen by a draw from 0 to 1, and starts another in its place. */
  kill(draw: number): void;
  readonly kills: number;
  close(): Promise<void>;
}

interface Place {
  child: ChildProcess;
  up: Promise<number>;
  port: number | undefined;
}

/** `program`: a file beside this one. It tells its parent its port, or 0 where it takes nothing, once it is ready. */
export const openPool = async (program: string, args: readonly string[], size: number): Promise<Pool> => {
  let [kills, turn, isClosed] = [0, 0, false];
  const start = (): Place => {
    const file = fileURLToPath(new URL(program, import.meta.url));
    const child = fork(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const place: Place = { child, up: portOf(child), port: undefined };
    place.up.then(
      (port) => {
        place.port = port;
      },
      () => {},
    );
    return place;
  };
  const places = Array.from({ length: size }, start);
  const endWithUs = (): void => {
    for (const { child } of places) child.kill('SIGKILL');
  };
  process.once('exit', endWithUs);
  await Promise.all(places.map(({ up }) => up));
  return {
    port: async () => {
      for (let tried = 0; tried < size; tried += 1) {
        turn += 1;
        const { port } = places[turn % size] as Place;
        if (port !== undefined) return port;
      }
      return Promise.any(places.map(({ up }) => up));
    },
    kill: (draw) => {
      if (isClosed) return;
      const at = Math.floor(draw * size);
      kills += 1;
      (places[at] as Place).child.kill('SIGKILL');
      places[at] = start();
    },
    get kills() {
      return kills;
    },
    close: async () => {
      isClosed = true;
      await Promise.all(
        places.map(async ({ child }) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = once(child, 'exit');
          child.kill('SIGKILL');
          await ended;
        }),
      );
      process.off('exit', endWithUs);
    },
  };
};

const portOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('message', (port) => resolve(Number(port)));
    child.once('exit', (code, signal) => reject(new Error(`a worker ended (${code ?? signal}) before it was up`)));
  });
