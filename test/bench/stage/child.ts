/**
 * What is measured runs in a process of its own, so that its processor time is its own. Parent and child speak over the
 * channel of `fork`:
 *
 *   parent: open ──► child: { ready } ──► prepare, cpu, ... ──► answered one by one ──► end: the channel is closed
 *
 * A child whose channel closes ends by itself, so that a parent which is killed leaves nothing behind.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { systemClock } from '../../../functions/adapters/system.ts';
import type { Spread } from './messages.ts';

export interface Subject {
  /** Where pushes go, or requests, over real HTTP on loopback. */
  readonly url: string;
  /** Makes ready what a round needs, and is not part of it. */
  prepare?(round: Round): Promise<void>;
  close(): Promise<void>;
}

export interface Round {
  /** Of the first event; the next ones follow. */
  readonly first: number;
  readonly count: number;
  readonly payloadBytes: number;
  readonly destinationUrl: string;
  /** `one` unless given. */
  readonly spread?: Spread;
}

type Ask =
  | { readonly kind: 'prepare'; readonly round: Round }
  | { readonly kind: 'cpu' }
  /** The profiler is on from the first of these to the second, which writes the file. */
  | { readonly kind: 'profile'; readonly file?: string }
  | { readonly kind: 'heap' };
interface Wire {
  readonly id: number;
  readonly ask: Ask;
}

const CLOSE_MS = 2_000;

/** The child's side: serves until the parent lets go. */
export const serve = async (open: () => Promise<Subject>): Promise<void> => {
  const subject = await open();
  process.on('message', ({ id, ask }: Wire) => {
    answerOf(subject, ask).then(
      (value) => process.send?.({ id, value }),
      (error: unknown) => process.send?.({ id, error: error instanceof Error ? error.stack : String(error) }),
    );
  });
  process.on('disconnect', () => {
    // Its server may be gone before it, and some clients wait for theirs to come back.
    const closed = Promise.race([subject.close(), systemClock.sleep(CLOSE_MS)]);
    closed.then(
      () => process.exit(),
      () => process.exit(),
    );
  });
  process.send?.({ ready: { url: subject.url } });
};

const answerOf = async (subject: Subject, ask: Ask): Promise<number> => {
  switch (ask.kind) {
    case 'prepare':
      await subject.prepare?.(ask.round);
      return 0;
    case 'cpu': {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    }
    case 'profile':
      await profile(ask.file);
      return 0;
    case 'heap':
      globalThis.gc?.();
      return process.memoryUsage().heapUsed;
  }
};

let profiler: Session | undefined;

const profile = async (file: string | undefined): Promise<void> => {
  if (file === undefined) {
    profiler = new Session();
    profiler.connect();
    await profiler.post('Profiler.enable');
    await profiler.post('Profiler.start');
    return;
  }
  const stopped = await profiler?.post('Profiler.stop');
  profiler?.disconnect();
  await writeFile(file, JSON.stringify(stopped?.profile));
};

export interface Child {
  readonly url: string;
  prepare(round: Round): Promise<void>;
  /** Of the process itself, in milliseconds of a processor, since its start. */
  cpuMs(): Promise<number>;
  startProfile(): Promise<void>;
  /** Writes what Chrome's developer tools open. */
  stopProfile(file: string): Promise<void>;
  /** After a collection, where the child was started with `--expose-gc`. */
  heapBytes(): Promise<number>;
  end(): Promise<void>;
}

const SUBJECTS = join(import.meta.dirname, '..', 'subjects');

export interface ChildOptions {
  readonly args?: readonly string[];
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `file`: a module of the folder `subjects` that calls `serve`. Rejects where the child ends before it is ready. */
export const openChild = async (
  file: string,
  { args = [], execArgv = [], env = {} }: ChildOptions = {},
): Promise<Child> => {
  const child = fork(join(SUBJECTS, file), args, {
    execArgv: [...execArgv],
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const gone = ended.then(([code]) => {
    throw new Error(`${file} ${args.join(' ')} ended with ${code}`);
  });
  gone.catch(() => {});
  const [{ ready }] = (await Promise.race([once(child, 'message'), gone])) as [{ ready: Pick<Child, 'url'> }];
  const waiting = new Map<number, PromiseWithResolvers<number>>();
  child.on('message', ({ id, value, error }: { id: number; value: number; error?: string }) => {
    if (error === undefined) waiting.get(id)?.resolve(value);
    else waiting.get(id)?.reject(new Error(error));
    waiting.delete(id);
  });
  let asked = 0;
  const ask = (what: Ask): Promise<number> => {
    const answer = Promise.withResolvers<number>();
    asked += 1;
    waiting.set(asked, answer);
    child.send({ id: asked, ask: what } satisfies Wire);
    return Promise.race([answer.promise, gone]);
  };
  return {
    ...ready,
    prepare: async (round) => void (await ask({ kind: 'prepare', round })),
    cpuMs: () => ask({ kind: 'cpu' }),
    startProfile: async () => void (await ask({ kind: 'profile' })),
    stopProfile: async (file) => void (await ask({ kind: 'profile', file })),
    heapBytes: () => ask({ kind: 'heap' }),
    end: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
};
