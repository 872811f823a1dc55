/** A local world in a process of its own, that kills itself with SIGKILL at a named point, and can be started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LocalTransportName } from '../world.ts';

export type KillPoint = 'after-answer' | 'before-mark';

export interface Kill {
  readonly point: KillPoint;
  readonly destination: string;
}

const PROGRAM = fileURLToPath(new URL('./mortal-child.ts', import.meta.url));

export class MortalWorld {
  readonly #dataDir: string;
  readonly #token: string;
  readonly #transport: LocalTransportName;
  #child: ChildProcess | undefined;

  constructor(dataDir: string, token: string, transport: LocalTransportName) {
    this.#dataDir = dataDir;
    this.#transport = transport;
    this.#token = token;
  }

  /** Starts it on its data, and gives its address. */
  async start(kill?: Kill): Promise<string> {
    const args = [PROGRAM, this.#dataDir, this.#token, this.#transport, kill?.point ?? '-', kill?.destination ?? '-'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('http://')) return line;
    }
    throw new Error('a world of the demo ended before it was up');
  }

  /** kill -9, now, wherever it is. */
  async killNow(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.killed();
  }

  /** Resolves when it has killed itself. */
  async killed(): Promise<void> {
    const child = this.#child;
    if (child === undefined) throw new Error('no world was started');
    if (child.signalCode === null && child.exitCode === null) await once(child, 'exit');
    if (child.signalCode !== 'SIGKILL') throw new Error(`the world ended with ${child.signalCode ?? child.exitCode}`);
  }

  async end(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
}
