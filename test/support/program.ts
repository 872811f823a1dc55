/** Runs a program of the project in a process of its own, and only ever ends what it has started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

export interface Program {
  readonly child: ChildProcess;
  /** Resolves with the output so far as soon as it holds the text; rejects when the program ends before. */
  says(text: string): Promise<string>;
  ended(): Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
}

export const runProgram = (file: string, args: readonly string[], env: Record<string, string> = {}): Program => {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  let output = '';
  const watchers = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const look of watchers) look();
    });
  }
  const over = once(child, 'close');
  return {
    child,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!output.includes(text)) return;
          watchers.delete(look);
          resolve(output);
        };
        watchers.add(look);
        over.then(() => reject(new Error(`ended before it said "${text}": ${output}`)), reject);
        look();
      }),
    ended: async () => {
      await over;
      return { code: child.exitCode, signal: child.signalCode, output };
    },
    kill: (signal) => {
      child.kill(signal);
    },
  };
};
