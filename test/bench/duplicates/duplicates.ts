/** Duplicates under fire: effects, losses and what is held, of ours and of two others, under the same faults. */
import type { Had } from '../peers/peers.ts';
import type { Bench, BenchContext, BenchReport } from '../report.ts';
import { bullmqUnderFire } from './bullmq.ts';
import { type Destination, openDestination } from './destination.ts';
import { type Fire, fireOf, type Tally } from './fire.ts';
import { underFire } from './ours.ts';
import { powertoolsUnderFire } from './powertools.ts';

const SEED = 7;
const FULL = { deliveries: 20_000, kills: 20 } as const;
const SHORT = { deliveries: 500, kills: 3 } as const;
const WORKERS = 2;
const AT_ONCE = 32;

type Rival = (fire: Fire, destination: Destination, workers: number, atOnce: number) => Promise<Tally>;

export const duplicatesBench: Bench = async (context) => {
  const { deliveries, kills } = context.short ? SHORT : FULL;
  const fire = fireOf(SEED, deliveries, kills);
  const packages = await context.peers.packages();
  const redis = packages.kind === 'had' ? await context.peers.redis() : packages;
  const ours = await tallied(context, 'ours', fire, underFire);
  const powertools: Had<Tally> =
    packages.kind === 'missing'
      ? packages
      : {
          kind: 'had',
          it: await tallied(context, 'Powertools', fire, (...at) => powertoolsUnderFire(packages.it, ...at)),
        };
  const bullmq: Had<Tally> =
    packages.kind === 'missing'
      ? packages
      : redis.kind === 'missing'
        ? redis
        : {
            kind: 'had',
            it: await tallied(context, 'BullMQ', fire, (...at) => bullmqUnderFire(packages.it, redis.it, ...at)),
          };
  if (redis.kind === 'had') await redis.it.stop();
  return {
    ...reportOf(fire, ours, powertools, bullmq),
    versions: {
      ...(packages.kind === 'had'
        ? {
            Powertools: packages.it.versions['@aws-lambda-powertools/idempotency'],
            BullMQ: packages.it.versions.bullmq,
          }
        : {}),
      ...(redis.kind === 'had' ? { Redis: redis.it.version } : {}),
    },
  };
};

/** At a destination of its own. */
const tallied = async ({ say }: BenchContext, name: string, fire: Fire, rival: Rival): Promise<Tally> => {
  const destination = await openDestination();
  const telling = setInterval(() => say(`${name}: ${destination.effects} of ${fire.events.length}`), TELL_MS);
  try {
    const tally = await rival(fire, destination, WORKERS, AT_ONCE);
    say(`${name}: ${JSON.stringify(tally)}`);
    return tally;
  } finally {
    clearInterval(telling);
    await destination.close();
  }
};

const TELL_MS = 20_000;

// ---- the report ---------------------------------------------------------------------------------------------------

const COLUMNS = [
  'what',
  'events',
  'effects',
  'second effects',
  'lost',
  'held for a person',
  'of those, had happened',
  'messages',
  'kills',
  's',
];

export const reportOf = (
  fire: Fire,
  ours: Tally,
  powertools: Had<Tally>,
  bullmq: Had<Tally>,
): Omit<BenchReport, 'versions'> => {
  const events = fire.events.length;
  const row = (name: string, tally: Had<Tally>): readonly (string | number)[] => {
    if (tally.kind === 'missing') return [name, tally.why];
    const { effects, duplicates, lost, held, heldHappened, pushes, kills, seconds } = tally.it;
    return [name, events, effects, duplicates, lost, held, heldHappened, pushes, kills, seconds];
  };
  return {
    title: 'second effects and losses under the same faults',
    method: [
      `${events} events for one destination that ignores keys: it acts on every request, and answers 5 ms later.`,
      'The same faults by the same seed: 30 % of the messages come twice (half of the copies at once, half within 2 s), 5 % of the acknowledgements get lost so that the message comes again.',
      `${WORKERS} worker processes with up to ${AT_ONCE} deliveries at once; ${fire.kills.length} times one of them is killed with SIGKILL wherever it is, and started again.`,
      'Effects are counted at the destination. Lost: no effect, and nobody says so. One run.',
      'Ours: repeatSafe false, time-out 5 s, a tick of 2 s. Powertools: its idempotency around the send, an invocation of 5 s, over the same engine and behind the same queue, which brings a refused message again for ever.',
      'BullMQ: each event under its own jobId, the effect noted in the data of the job before its end, workers as they come (lock 30 s), 10 attempts; a lost acknowledgement is a run whose end does not reach Redis.',
    ],
    tables: [
      {
        title: 'What happened at the destination',
        columns: COLUMNS,
        rows: [
          row('Onceward', { kind: 'had', it: ours }),
          row('Powertools idempotency', powertools),
          row('BullMQ, idempotent jobs', bullmq),
        ],
      },
    ],
    notes: [
      'Held: a worker was killed with a request on its way, and nobody can know whether it has arrived. Ours asks a person (quarantined as in-doubt); the others send again, and where the first had arrived that is the second effect. What is held is work for somebody, and the price of the zero.',
      'Where the destination honours keys, all of them may simply send again (repeatSafe true), and nothing has to be held.',
      'The seconds hold waits that were chosen: what a killed worker had is looked at again when a lease (ours, 20 s), an invocation (Powertools, 5 s) or a lock (BullMQ, 30 s and a look each 30 s) has run out.',
    ],
    missed: [
      ...(ours.duplicates > 0 ? [`ours made ${ours.duplicates} second effects, at most 0`] : []),
      ...(ours.lost > 0 ? [`ours lost ${ours.lost} events, at most 0`] : []),
    ],
  };
};
