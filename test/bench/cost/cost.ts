/** Units and money, path by path, unit by unit; holds itself to 7 for a first attempt, 0 for a duplicate, 70 for eight failures. */
import { INFRAI_LIMITS, SQS_LIMITS } from '../../../functions/adapters/queue/transport-facts.ts';
import { type Engine, openEngine } from '../engine.ts';
import type { PeerPackages } from '../peers/packages.ts';
import type { Had } from '../peers/peers.ts';
import type { Bench, Table } from '../report.ts';
import { ratio } from '../rounds.ts';
import { type Spent, together, writesOf } from './meter.ts';
import { type Compared, floorCost, powertoolsCost, transactionalCost } from './others.ts';
import { openCountedWorld } from './ours.ts';
import { duplicatePush, eightFailures, FAILED, firstAttempt, ourPaths, type Path } from './paths.ts';
import { PRICES, usdOfMillion } from './prices.ts';

const BOUNDS = { first: 7, duplicate: 0, failing: 70 } as const;

const PLACES = ['event', 'delivery', 'due', 'recent', 'attention', 'gate', 'pace', 'decision'] as const;

type Rival = { readonly name: string; readonly cost: Had<Compared> };

export const costBench: Bench = async ({ peers }) => {
  const engine = await openEngine(peers);
  try {
    const packages = await peers.packages();
    const overSqs = openCountedWorld(engine.client(), 'over-sqs', SQS_LIMITS);
    const paths = await ourPaths(await overSqs);
    const infrai = await oursOverInfrai(engine);
    const rivals = await rivalsOn(engine, packages);
    const ours = oursIn(paths);
    return {
      title: 'write and read units, unit by unit',
      method: methodOf(engine),
      versions: versionsOf(engine, packages),
      tables: [pathTable(paths), rivalTable(ours, infrai, rivals)],
      notes: notesOf(),
      missed: [...missedBy('over SQS', ours), ...missedBy('over Infrai', infrai)],
    };
  } finally {
    await engine.stop();
  }
};

const oursOverInfrai = async (engine: Engine): Promise<Compared> => {
  const counted = await openCountedWorld(engine.client(), 'over-infrai', INFRAI_LIMITS);
  const { accept, deliver } = await firstAttempt(counted, 'first');
  const duplicate = await duplicatePush(counted, 'first');
  return { first: together([accept, deliver]), duplicate, failing: await eightFailures(counted, 'failing', FAILED) };
};

const oursIn = (paths: readonly Path[]): Compared => {
  const spent = (name: string): Spent => {
    const path = paths.find((one) => one.name === name);
    if (path === undefined) throw new Error(`no path "${name}"`);
    return path.spent;
  };
  return {
    first: spent('accept and first attempt'),
    duplicate: spent('duplicate push'),
    failing: spent('eight failing attempts, a whole life'),
  };
};

const rivalsOn = async (engine: Engine, packages: Had<PeerPackages>): Promise<readonly Rival[]> => {
  const had = async (cost: Promise<Compared>): Promise<Had<Compared>> =>
    cost.then(
      (it) => ({ kind: 'had', it }),
      (error: unknown) => ({ kind: 'missing', why: error instanceof Error ? error.message : String(error) }),
    );
  return [
    {
      name: 'Powertools idempotency around a send',
      cost: packages.kind === 'missing' ? packages : await had(powertoolsCost(packages.it, engine.client())),
    },
    {
      name: 'two items in a transaction',
      cost:
        engine.kind === 'embedded'
          ? { kind: 'missing', why: 'the embedded engine has no transactions' }
          : await had(transactionalCost(engine.client())),
    },
    { name: 'the floor: one item, three writes', cost: await had(floorCost(engine.client())) },
  ];
};

// ---- the report ---------------------------------------------------------------------------------------------------

const pathTable = (paths: readonly Path[]): Table => ({
  title: 'Ours over SQS: write units by what is written, an index by its name',
  columns: ['path', ...PLACES, 'write units', 'read units', 'USD a million'],
  rows: paths.map(({ name, spent, deliveries }) => [
    deliveries === 1 ? name : `${name} (${deliveries})`,
    ...PLACES.map((place) => spent.writes[place] ?? ''),
    writesOf(spent),
    spent.reads,
    usdOf(spent),
  ]),
});

const rivalTable = (ours: Compared, infrai: Compared, rivals: readonly Rival[]): Table => {
  const row = (name: string, cost: Compared): readonly (string | number)[] => [
    name,
    ...[cost.first, cost.duplicate, cost.failing].flatMap((spent) => [writesOf(spent), spent.reads]),
    ratio(writesOf(ours.first), writesOf(cost.first)),
    ratio(writesOf(ours.failing), writesOf(cost.failing)),
    usdOf(cost.first),
  ];
  return {
    title: 'Beside others: write units / read units, and ours over SQS divided by theirs',
    columns: [
      'design',
      'first attempt',
      'read',
      'duplicate',
      'read',
      'eight failures',
      'read',
      'ours to it, first',
      'ours to it, eight',
      'USD a million, first',
    ],
    rows: [
      row('Onceward over SQS', ours),
      row('Onceward over Infrai', infrai),
      ...rivals.map(({ name, cost }) => (cost.kind === 'had' ? row(name, cost.it) : [name, cost.why])),
    ],
  };
};

const usdOf = (spent: Spent): string => usdOfMillion({ writes: writesOf(spent), reads: spent.reads }).toFixed(2);

export const methodOf = (engine: Pick<Engine, 'kind' | 'why'>): readonly string[] => [
  engine.kind === 'official'
    ? 'Counted once, by the official DynamoDB Local (ReturnConsumedCapacity INDEXES): units are exact and do not vary.'
    : `Counted once, by the embedded engine, since ${engine.why}.`,
  'Ours are the real apps, receiver, sweep and decisions in virtual time, from the accept to the last write.',
  'Payload 512 bytes, event id 40, destination id 16, message id 36 characters; a failing destination answers 500 with the 177 bytes of a web server.',
  'A refused condition costs units that no engine reports: one for each KB of the larger item, by the developer guide.',
  `USD: on demand in ${PRICES.region}, ${PRICES.at}: ${PRICES.writes} a million write units, ${PRICES.reads} a million read units.`,
];

const versionsOf = (engine: Engine, packages: Had<PeerPackages>): Readonly<Record<string, string>> => ({
  [engine.kind === 'official' ? 'DynamoDB Local' : 'embedded engine']: engine.version,
  ...(packages.kind === 'had' ? { Powertools: packages.it.versions['@aws-lambda-powertools/idempotency'] } : {}),
});

const notesOf = (): readonly string[] => [
  'Powertools is cheaper at the first attempt: it keeps neither the event nor a journal, has no index that finds a lost message, no budget and no schedule, and deletes its record when a send fails.',
  'Its duplicate costs a write unit, ours none: it tries to write and is refused, where ours reads first.',
  'The four long waits of a failing life cost a sweep each: it is the sweep that publishes what is further off than SQS can delay, and that finds a lost message in time on Infrai.',
  'Not counted, for it does not depend on deliveries: ticks and heartbeats.',
];

const missedBy = (where: string, { first, duplicate, failing }: Compared): readonly string[] => {
  const checks: readonly (readonly [string, number, number])[] = [
    ['a first attempt', writesOf(first), BOUNDS.first],
    ['a duplicate push', writesOf(duplicate), BOUNDS.duplicate],
    ['eight failing attempts', writesOf(failing), BOUNDS.failing],
  ];
  return checks.flatMap(([what, units, bound]) =>
    units > bound ? [`${what} ${where}: ${units} write units, at most ${bound}`] : [],
  );
};
