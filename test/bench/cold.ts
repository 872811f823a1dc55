/**
 * Cold starts: how large each function's bundle is, how much of it is read at a start, and how long a fresh process takes
 * to import it, beside a bare Hono + DynamoDB handler. The functions take turns, so that a busy moment of the machine hits
 * all of them alike.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Metafile } from 'esbuild';
import { bundle } from '../../infra/aws/bundle.ts';

const STARTS = 20;
/** What a receiver may cost against the bare handler. */
const BOUND = 1.6;

const queueUrl = (name: string): string => `https://sqs.eu-central-1.amazonaws.com/123456789012/${name}`;

const COMMON = {
  ONCEWARD_TABLE: 'onceward-bench',
  ONCEWARD_DEPLOYMENT: 'bench',
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
};
const SQS = {
  ...COMMON,
  ONCEWARD_TRANSPORT: 'sqs',
  ONCEWARD_SQS_QUEUE_URL: queueUrl('onceward'),
  ONCEWARD_SQS_DEAD_LETTER_URL: queueUrl('onceward-dead'),
  ONCEWARD_SEALING_KEY: 'arn:aws:kms:eu-central-1:123456789012:key/bench',
};
const INFRAI = {
  ...COMMON,
  ONCEWARD_TRANSPORT: 'infrai',
  ONCEWARD_INFRAI_KEY: 'a-key-of-the-queue',
  ONCEWARD_QUEUE: 'orders',
  ONCEWARD_PUSH_SECRET: 'a-secret-of-the-push-side',
};

interface Subject {
  readonly name: string;
  readonly entry: string;
  readonly settings: Readonly<Record<string, string>>;
}

const BARE = 'bare';
const BOUND_FOR: readonly string[] = ['receiver (sqs)', 'receiver (push)'];

export const SUBJECTS: readonly Subject[] = [
  { name: BARE, entry: 'test/bench/bare-handler.ts', settings: COMMON },
  { name: 'intake', entry: 'functions/intake/handler.ts', settings: SQS },
  { name: 'receiver (sqs)', entry: 'functions/receiver/sqs-handler.ts', settings: SQS },
  { name: 'receiver (push)', entry: 'functions/receiver/handler.ts', settings: INFRAI },
  // Loaded by a receiver with its first message, while it waits for the ledger.
  { name: 'the sender', entry: 'functions/adapters/sender/sender.ts', settings: SQS },
  { name: 'reconciler', entry: 'functions/reconciler/handler.ts', settings: SQS },
  { name: 'operator', entry: 'functions/operator/handler.ts', settings: SQS },
];

export interface Measured {
  readonly name: string;
  readonly bundleKb: number;
  readonly readKb: number;
  readonly importMs: number;
  readonly cpuMs: number;
  readonly largest: readonly string[];
}

export const measureCold = async (starts: number, subjects = SUBJECTS): Promise<readonly Measured[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'onceward-cold-'));
  try {
    const made = subjects.map((subject, index) => {
      const outdir = join(folder, String(index));
      return { ...subject, outdir, metafile: bundle(subject.entry, outdir).metafile, starts: [] as Start[] };
    });
    for (let start = 0; start < starts; start += 1) {
      for (const one of made) one.starts.push(await startOf(join(one.outdir, 'index.mjs'), one.settings));
    }
    return await Promise.all(
      made.map(async ({ name, outdir, settings, metafile, starts: all }) => ({
        name,
        bundleKb: await kbOf(outdir),
        readKb: await readKb(join(outdir, 'index.mjs'), settings),
        importMs: median(all.map(({ wallMs }) => wallMs)),
        cpuMs: median(all.map(({ cpuMs }) => cpuMs)),
        largest: largestPackages(metafile),
      })),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const run = async (source: string, settings: Readonly<Record<string, string>>): Promise<string> => {
  const args = ['--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...settings }, timeout: 30_000 });
  return stdout;
};

interface Start {
  /** On the clock. */
  readonly wallMs: number;
  /** Of all threads of the process: says the same on a machine that has other work to do. */
  readonly cpuMs: number;
}

const startOf = async (file: string, settings: Readonly<Record<string, string>>): Promise<Start> => {
  const source = `
    const [before, from] = [process.cpuUsage(), performance.now()];
    await import(${JSON.stringify(file)});
    const [wallMs, { user, system }] = [performance.now() - from, process.cpuUsage(before)];
    console.log(JSON.stringify({ wallMs, cpuMs: (user + system) / 1_000 }));`;
  return JSON.parse(await run(source, settings)) as Start;
};

/** In a process of its own, since looking costs time: what the import really opens. */
const readKb = async (file: string, settings: Readonly<Record<string, string>>): Promise<number> => {
  const source = `
    import { registerHooks } from 'node:module';
    let bytes = 0;
    registerHooks({ load: (url, context, next) => {
      const loaded = next(url, context);
      if (url.startsWith('file:') && loaded.source) bytes += loaded.source.length;
      return loaded;
    } });
    await import(${JSON.stringify(file)});
    console.log(bytes / 1024);`;
  return Number(await run(source, settings));
};

const kbOf = async (outdir: string): Promise<number> => {
  const sizes = await Promise.all((await readdir(outdir)).map(async (file) => (await stat(join(outdir, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0) / 1_024;
};

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1 + (sorted.length % 2)], sorted[middle]];
  return (low + high) / 2;
};

/** The packages that make most of what every start reads: the entry, and the parts that it imports at once. */
const largestPackages = ({ outputs }: Metafile): readonly string[] => {
  const sizes = new Map<string, number>();
  for (const output of atOnce(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(outputs[output]?.inputs ?? {})) {
      const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(path)?.[1] ?? 'functions';
      sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput);
    }
  }
  return [...sizes]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 5)
    .map(([name, bytes]) => `${name} ${Math.round(bytes / 1_024)}`);
};

const atOnce = (outputs: Metafile['outputs']): ReadonlySet<string> => {
  const found = new Set<string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const { kind, path: next } of outputs[path]?.imports ?? []) if (kind === 'import-statement') visit(next);
  };
  for (const path of Object.keys(outputs)) if (path.endsWith('index.mjs')) visit(path);
  return found;
};

/** False where the receiver misses its bound. */
export const coldBench = async (options: readonly string[]): Promise<boolean> => {
  const starts = Number(options[0] ?? STARTS);
  console.log(
    `${starts} cold starts of each, in turn; Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`,
  );
  const measured = await measureCold(starts);
  const bare = measured.find(({ name }) => name === BARE);
  if (bare === undefined) throw new Error('the bare handler was not measured');
  console.log(
    'function          bundle KB  read KB  import ms  cpu ms  x bare (cpu)  largest packages read at a start, KB',
  );
  for (const one of measured) {
    const cells = [
      one.bundleKb.toFixed(0).padStart(9),
      one.readKb.toFixed(0).padStart(8),
      one.importMs.toFixed(0).padStart(10),
      one.cpuMs.toFixed(0).padStart(7),
      (one.cpuMs / bare.cpuMs).toFixed(2).padStart(13),
    ];
    console.log(`${one.name.padEnd(17)} ${cells.join(' ')}  ${one.largest.join(', ')}`);
  }
  console.log('the sender: what a receiver reads with its first message, while the ledger is asked');
  const over = measured.filter(({ name, cpuMs }) => BOUND_FOR.includes(name) && cpuMs > BOUND * bare.cpuMs);
  for (const { name, largest } of over) {
    console.log(
      `${name} takes more than ${BOUND} times the processor time of the bare handler; it reads ${largest.join(', ')}`,
    );
  }
  return over.length === 0;
};
