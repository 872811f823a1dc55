/** What the command line gets from its process: terminal, files, environment, clock, and a way to the API. */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { buffer } from 'node:stream/consumers';
import { callOnce } from '../../adapters/http-caller.ts';
import { OPERATION_RETRIES, withRetries } from '../../adapters/queue/transport-retries.ts';
import { systemClock, systemDice } from '../../adapters/system.ts';
import { environment, readCliConfig, wantsColour } from '../../config.ts';
import { createClient, type Wire } from './client.ts';
import { createQueueDesk } from './infrai.ts';
import type { Shell } from './shell.ts';

const COLUMNS_DEFAULT = 100;

const WIRE: Wire = {
  callOnce,
  retries: (once) => {
    const endsAtMs = systemClock.nowMs() + OPERATION_RETRIES.totalMs;
    return withRetries({ clock: systemClock, dice: systemDice }, OPERATION_RETRIES, endsAtMs, once);
  },
  tryMs: OPERATION_RETRIES.tryMs,
};

export const composeShell = (): Shell => {
  const { stdin, stdout, stderr } = process;
  const env = environment();
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    colour: stdout.isTTY === true && wantsColour(env),
    cuts: stdout.isTTY === true,
    live: stderr.isTTY === true,
    columns: stdout.isTTY ? stdout.columns : COLUMNS_DEFAULT,
    ...(stdin.isTTY && stderr.isTTY ? { ask } : {}),
    read: async (path) => new Uint8Array(path === '-' ? await buffer(stdin) : await readFile(path)),
    client: () => createClient(readCliConfig(env), WIRE),
    queue: createQueueDesk(env, WIRE),
    callOnce,
    clock: systemClock,
    dice: systemDice,
  };
};

/** On standard error: standard output is for the answer. */
const ask = async (question: string): Promise<boolean> => {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(question)).trim());
  } finally {
    lines.close();
  }
};
