/** The judges themselves: each is shown a run that is well, and the same run with one thing in its log made wrong. */
import { describe, expect, it } from 'vitest';
import type { WriteId } from '../../functions/core/ids.ts';
import type { Claimed, Delivery, Entry } from '../../functions/core/model.ts';
import { explore } from './explorer.ts';
import type { LogEntry, LogOf } from './log.ts';
import { judge, ORACLE_NAMES, type OracleName } from './oracles.ts';
import type { Ended } from './run.ts';
import type { Scene } from './scene.ts';
import { CALM } from './scenes.ts';

/** The plainest run: one worker, one attempt where a repeat is not safe, a 2xx. */
const SCENE: Scene = { ...CALM, name: 'plain', repeatSafe: false, answer: '200', cast: ['worker'] };

const plainRun = async (): Promise<Ended> => {
  const runs: Ended[] = [];
  await explore(SCENE, { schedulesMax: 1, seen: (ended) => runs.push(ended) });
  const [run] = runs;
  if (!run) throw new Error('no run');
  return run;
};

type Wrong = (good: Ended) => Ended;

const withLog = (good: Ended, log: readonly LogEntry[]): Ended => ({ ...good, log });
const each =
  (change: (entry: LogEntry) => LogEntry | readonly LogEntry[]): Wrong =>
  (good) =>
    withLog(good, good.log.flatMap(change));
const last = <K extends LogEntry['kind']>(good: Ended, kind: K): LogOf<K> => {
  const isKind = (entry: LogEntry): entry is LogOf<K> => entry.kind === kind;
  const found = good.log.findLast(isKind);
  if (!found) throw new Error(`no ${kind}`);
  return found;
};
const also =
  (make: (good: Ended) => LogEntry): Wrong =>
  (good) =>
    withLog(good, [...good.log, make(good)]);

const claimOf = (good: Ended): LogOf<'write'> & { row: Claimed } => {
  for (const entry of good.log)
    if (entry.kind === 'write' && entry.row.status === 'claimed') return { ...entry, row: entry.row };
  throw new Error('no claim');
};
const rival = (good: Ended, startedAtMs: number): LogEntry => {
  const { row } = claimOf(good);
  const claim = { ...row.claim, id: 'B---0000001' as Claimed['claim']['id'], startedAtMs };
  return { kind: 'write', by: 'B', atMs: startedAtMs, before: row, row: { ...row, version: row.version + 1, claim } };
};
const withLine = (row: Delivery, entry: Partial<Entry>): Delivery => {
  const line = row.journal.lines.at(-1);
  if (!line) throw new Error('no line');
  return {
    ...row,
    journal: { ...row.journal, lines: [...row.journal.lines, { ...line, entry: { ...line.entry, ...entry } }] },
  };
};
const onLook = (good: Ended, lookAfterMs: number, by: string): LogEntry => {
  const { row } = claimOf(good);
  return {
    kind: 'write',
    by,
    atMs: row.lookAfterMs,
    before: row,
    row: { ...row, version: row.version + 1, lookAfterMs },
  };
};

const WRONG: Readonly<Record<OracleName, Wrong>> = {
  'no-bug': (good) => ({ ...good, bugs: ['TypeError'] }),
  'one-success': also((good) => ({ ...last(good, 'write'), by: 'B' })),
  'success-is-true': each((entry) => (entry.kind === 'answer' ? { ...entry, status: 500 } : entry)),
  'success-is-kept': each((entry) => (entry.kind === 'write' && entry.row.status === 'delivered' ? [] : entry)),
  'one-effect': also((good) => last(good, 'arrive')),
  'budget-holds': (good) => ({ ...good, row: { ...good.row, budget: good.row.budget + 1 } }),
  'same-request': also((good) => ({ ...last(good, 'send'), body: 'another' })),
  'claim-before-send': (good) =>
    withLog(
      good,
      good.log.filter((entry) => entry.kind !== 'write'),
    ),
  'mark-before-send': each((entry) => {
    if (entry.kind !== 'write' || entry.row.status !== 'claimed') return entry;
    const { sendingAtMs: _never, ...claim } = entry.row.claim;
    return { ...entry, row: { ...entry.row, claim } };
  }),
  'owner-sends': each((entry) =>
    entry.kind === 'read' && entry.row.status === 'claimed' ? { ...entry, row: entry.row, by: 'B' } : entry,
  ),
  'pause-obeyed': each((entry) => (entry.kind === 'gate' ? { ...entry, paused: true } : entry)),
  'places-hold': also((good) => {
    const { row } = claimOf(good);
    const free = {
      item: 'slot',
      version: 2,
      destination: row.destination,
      n: 0,
      leaseEndsAtMs: 0,
      carried: {},
    } as const;
    const held = { ...free, version: 1, holder: row.claim.id, leaseEndsAtMs: row.claim.leaseEndsAtMs };
    return { kind: 'other-write', by: 'B', atMs: 0, before: held, item: free };
  }),
  'record-before-ack': (good) => {
    const settled = last(good, 'write');
    return withLog(good, [...good.log.filter((entry) => entry !== settled), settled]);
  },
  'claim-in-time': also((good) => rival(good, claimOf(good).row.claim.leaseEndsAtMs + 5_000)),
  'lease-respected': also((good) => rival(good, claimOf(good).row.claim.leaseEndsAtMs)),
  'final-stays': also((good) => ({
    ...last(good, 'write'),
    before: good.row,
    row: { ...claimOf(good).row, version: good.row.version + 1 },
  })),
  'journal-grows': each((entry) =>
    entry.kind === 'write' ? { ...entry, row: { ...entry.row, version: entry.row.version + 1 } } : entry,
  ),
  'attempts-add-up': (good) => ({ ...good, row: { ...good.row, attempts: 2 } }),
  'certainty-is-true': (good) => ({ ...good, row: withLine(good.row, { class: 'withheld' }) }),
  'once-decided': (good) => {
    const entry = { kind: 'decision', cause: 'a:request', writeId: 'O' as WriteId } as const;
    return { ...good, row: withLine(withLine(good.row, entry), entry) };
  },
  'looks-planned': also((good) => onLook(good, claimOf(good).row.lookAfterMs + 86_400_000, 'A')),
  'looks-move': (good) => {
    const look = onLook(good, claimOf(good).row.lookAfterMs, 's1');
    return withLog(good, [...good.log, { kind: 'read', by: 's1', atMs: look.atMs, row: claimOf(good).row }, look]);
  },
  'prompt-when-well': (good) => {
    if (good.row.status !== 'delivered') throw new Error('not delivered');
    return { ...good, row: { ...good.row, endedAtMs: good.row.endedAtMs + 3_600_000 } };
  },
  'nothing-stranded': (good) => ({ ...good, atRest: false }),
};

describe('the judges of a run', () => {
  it('are content with a run that is well', async () => {
    expect(judge(await plainRun())).toEqual([]);
  });

  for (const oracle of ORACLE_NAMES) {
    it(`see a run that breaks ${oracle}`, async () => {
      const broken = judge(WRONG[oracle](await plainRun())).map((verdict) => verdict.oracle);
      expect(broken).toContain(oracle);
    });
  }
});
