/** LevelDB as the store sees it, and the messages for a person whose data directory does not open. */
import { createLevel } from './engine-parts.ts';
import { isJson } from './shapes.ts';

export type Change =
  | { readonly type: 'put'; readonly key: string; readonly value: unknown }
  | { readonly type: 'del'; readonly key: string };

export interface KeyRange {
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly reverse?: boolean;
  /** -1 stands for no limit. */
  readonly limit?: number;
}

/** Reads forward from where it stands; sees the data as they were when it was made, whatever is written meanwhile. */
export interface LevelIterator {
  /** The next entries, up to `size`; an empty list at the end. */
  nextv(size: number): Promise<[key: string, value: unknown][]>;
  close(): Promise<void>;
}

/** Keys are text in byte order, values are JSON. */
export interface Level {
  close(): Promise<void>;
  /** `undefined` when the key is absent. */
  get(key: string): Promise<unknown>;
  /** All of the changes or none. With `sync` they are on the disk when it resolves, else with the operating system. */
  batch(changes: readonly Change[], options: { readonly sync: boolean }): Promise<void>;
  iterator(range: KeyRange): LevelIterator;
}

type Unopened = Level & { open(): Promise<void> };

/** Opens the data directory `path` (made if it is missing), or an empty store in memory. Throws for a person to read. */
export async function openLevel(path?: string): Promise<Level> {
  const level = createLevel(path);
  if (!isLevel(level)) throw new Error('LevelDB does not have the functions that the embedded DynamoDB needs');
  try {
    await level.open();
  } catch (error) {
    throw new Error(whyNotOpened(path ?? 'in memory', error), { cause: error });
  }
  return level;
}

/** All entries of a range. For small ranges: it holds them in memory. */
export async function readAll(level: Level, range: KeyRange): Promise<[key: string, value: unknown][]> {
  const iterator = level.iterator(range);
  try {
    const entries: [string, unknown][] = [];
    for (;;) {
      const page = await iterator.nextv(1000);
      if (page.length === 0) return entries;
      entries.push(...page);
    }
  } finally {
    await iterator.close();
  }
}

function isLevel(value: unknown): value is Unopened {
  const names = ['open', 'close', 'get', 'batch', 'iterator'];
  return (
    typeof value === 'object' && value !== null && names.every((name) => typeof Reflect.get(value, name) === 'function')
  );
}

function whyNotOpened(path: string, error: unknown): string {
  const cause = error instanceof Error && isJson(error.cause) ? error.cause : error;
  const code = isJson(cause) ? cause['code'] : undefined;
  const said = cause instanceof Error ? cause.message : String(cause);
  switch (code) {
    case 'LEVEL_LOCKED':
      return `data directory ${path} is in use by another process: stop that process, or choose another directory`;
    case 'LEVEL_CORRUPTION':
      return `data directory ${path} is damaged (${said}): put back a copy, or start with an empty directory`;
    case 'EEXIST':
    case 'ENOTDIR':
      return `data directory ${path} is not a directory (${said}): choose another path`;
    default:
      return `data directory ${path} does not open (${said}): check that this user may write there`;
  }
}
