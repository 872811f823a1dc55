/**
 * Cold starts: how large each function's bundle is, how much of it is read at a start, and how long a fresh process takes
 * to import it, beside a bare Hono + DynamoDB handler. The functions take turns, so that a busy moment of the machine hits
 * all of them alike.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Metafile } from 'esbuild';
import { bundle } from '../../infra/aws/bundle.ts';
import type { PeerPackages } from './peers/packages.ts';
import type { Had } from './peers/peers.ts';
import type { Bench, BenchReport } from './report.ts';
import { median, ratio } from './rounds.ts';

const STARTS = 20;
const STARTS_SHORT = 3;
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

/** Holds the receivers to their bound against the bare handler. */
export const coldBench: Bench = async ({ short, peers, say }) => {
  const starts = short ? STARTS_SHORT : STARTS;
  const packages = await peers.packages();
  const powertools = await powertoolsOf(packages);
  say(`${starts} cold starts of each, in turn`);
  const measured = await measureCold(starts, powertools === undefined ? SUBJECTS : [...SUBJECTS, powertools]);
  const report = reportOf(starts, measured, packages);
  return short ? { ...report, missed: [] } : report;
};

/** Its source is put beside its packages, where the bundler finds them. */
const powertoolsOf = async (packages: Had<PeerPackages>): Promise<Subject | undefined> => {
  if (packages.kind === 'missing') return undefined;
  const entry = join(packages.it.folder, 'powertools-handler.mjs');
  await copyFile(new URL('./powertools-handler.mjs', import.meta.url), entry);
  return { name: 'Powertools', entry, settings: COMMON };
};

const reportOf = (starts: number, measured: readonly Measured[], packages: Had<PeerPackages>): BenchReport => {
  const cpuOf = (name: string): number => measured.find((one) => one.name === name)?.cpuMs ?? Number.NaN;
  const bare = cpuOf(BARE);
  const over = measured.filter(({ name, cpuMs }) => BOUND_FOR.includes(name) && cpuMs > BOUND * bare);
  const rows = measured.map((one) => [
    one.name,
    Math.round(one.bundleKb),
    Math.round(one.readKb),
    Math.round(one.importMs),
    Math.round(one.cpuMs),
    ratio(one.cpuMs, bare),
    one.largest.join(', '),
  ]);
  const absent = packages.kind === 'missing' ? [['Powertools', '', '', '', '', '', packages.why]] : [];
  const columns = ['function', 'bundle KB', 'read KB', 'import ms', 'cpu ms', 'cpu to bare', 'largest read, KB'];
  return {
    title: 'cold starts beside a bare handler',
    method: [
      `Each function is bundled as it is deployed and imported by ${starts} fresh processes, taking turns; medians.`,
      '"cpu" is the processor time of all threads of such a process during the import. It measures the import alone, on this machine, and no start on Lambda.',
    ],
    versions: packages.kind === 'had' ? { Powertools: packages.it.versions['@aws-lambda-powertools/idempotency'] } : {},
    tables: [{ title: 'An import in a fresh process', columns, rows: [...rows, ...absent] }],
    notes: [
      `${BARE} is Hono, a DynamoDB client and one conditional write; Powertools is its idempotency handler over DynamoDB, without Hono.`,
      'the sender: what a receiver reads with its first message, while the ledger is asked.',
    ],
    missed: over.map(
      ({ name, cpuMs }) => `${name} takes ${ratio(cpuMs, bare)} the processor time of ${BARE}, bound ${BOUND}`,
    ),
  };
};
