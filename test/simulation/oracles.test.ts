/** Each oracle has a good log that it lets pass and a bad one, made by hand out of it, that it must reject. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Item } from '../../functions/core/items.ts';
import type { Claimed, Delivery, Entry, Journal } from '../../functions/core/model.ts';
import { destinationIdOf, destinationItem, eventIdOf, eventItem } from '../support/rows.ts';
import { historySeedOf } from './draws.ts';
import type { FaultName } from './fault-classes.ts';
import { type Ended, runHistory } from './history.ts';
import type { LogEntry } from './log.ts';
import { judge, ORACLE_NAMES, type OracleName } from './oracles.ts';
import { type Plan, planOf } from './plan.ts';

// ---- a good log ---------------------------------------------------------------------------------------------------

const planWith = (history: number, over: Partial<Plan>): Plan => ({
  ...planOf(historySeedOf('good logs', history)),
  shares: new Map<FaultName, number>([['answer-5xx', 0.3]]),
  destinations: [
    {
      id: 'd1',
      keys: 'replays-2xx',
      forgetsAfterHours: 24,
      repeatSafe: true,
      scheduleSec: [5, 30],
      timeoutMs: 20_000,
      rejectOn: [],
      mode: 'live',
    },
  ],
  events: [{ id: 'e1', atMs: 0, destinations: ['d1'], payload: '{"n": 1}', by: 'api' }],
  acts: [],
  strangers: [],
  outages: [],
  processes: [{ name: 'A', skewMs: 0, code: 'current' }],
  sweeps: 'on',
  faultsMs: 120_000,
  opens: false,
  store: 'raw',
  ...over,
});

const lastRow = ({ items }: Pick<Ended, 'items'>): Delivery | undefined =>
  items.find((item) => item.item === 'delivery');

/** Failed once, then delivered: two attempts by two workers. */
const retried = async (): Promise<Ended> => {
  for (let history = 0; history < 100; history += 1) {
    const ended = await runHistory(planWith(history, {}));
    if (lastRow(ended)?.attempts === 2 && lastRow(ended)?.status === 'delivered') return ended;
  }
  throw new Error('no history fails once');
};

let good: Ended;
beforeAll(async () => {
  good = await retried();
});

// ---- making it bad ------------------------------------------------------------------------------------------------

const numbered = (ended: Ended, log: readonly LogEntry[]): Ended => ({
  ...ended,
  log: log.map((entry, at) => ({ ...entry, at })),
});

const changed = (ended: Ended, change: (entry: LogEntry) => LogEntry | readonly LogEntry[]): Ended =>
  numbered(ended, ended.log.flatMap(change));

const withRows = (ended: Ended, change: (row: Delivery) => Delivery): Ended => {
  const item = <I extends Item | undefined>(one: I): I | Delivery => (one?.item === 'delivery' ? change(one) : one);
  const log = ended.log.map((entry): LogEntry => {
    if (entry.kind === 'read') return { ...entry, row: change(entry.row) };
    return entry.kind === 'write' ? { ...entry, before: item(entry.before), item: item(entry.item) } : entry;
  });
  return numbered({ ...ended, items: ended.items.map((one) => item(one)) }, log);
};

const withEntries = (ended: Ended, change: (entry: Entry) => Entry): Ended =>
  withRows(ended, (row) => {
    const lines = row.journal.lines.map((line) => ({ ...line, entry: change(line.entry) }));
    return { ...row, journal: { ...row.journal, lines } satisfies Journal };
  });

const withClaims = (ended: Ended, claim: Partial<Claimed['claim']>): Ended =>
  withRows(ended, (row) => (row.status === 'claimed' ? { ...row, claim: { ...row.claim, ...claim } } : row));

const isWriteOf = (entry: LogEntry, status: Delivery['status']): boolean =>
  entry.kind === 'write' && entry.item.item === 'delivery' && entry.item.status === status;

/** The rows of the log in the order in which they were written. */
const rowsOf = ({ log }: Ended): readonly Delivery[] =>
  log.flatMap((entry) => (entry.kind === 'write' && entry.item.item === 'delivery' ? [entry.item] : []));

const rowOf = (ended: Ended, status: Delivery['status']): Delivery => {
  const row = rowsOf(ended).find((one) => one.status === status);
  if (row === undefined) throw new Error(`no row is ${status}`);
  return row;
};

const endedRow = (ended: Ended): Delivery => rowsOf(ended).at(-1) ?? rowOf(ended, 'delivered');

/** One more write of the row, by somebody, behind everything else or in front of an entry. */
const withWrite = (
  ended: Ended,
  before: Item | undefined,
  item: Item,
  over: Partial<LogEntry> = {},
  place = ended.log.length,
): Ended => {
  const some = ended.log.find(({ kind }) => kind === 'write');
  if (some === undefined) throw new Error('nothing was written');
  const entry = {
    ...some,
    kind: 'write',
    by: 'p99',
    about: undefined,
    atMs: ended.log[place]?.atMs ?? ended.restedAtMs,
    name: 'x',
    before,
    item,
    ...over,
  } as LogEntry;
  return numbered(ended, ended.log.toSpliced(place, 0, entry));
};

const again = (row: Delivery, over: object): Delivery => ({ ...row, version: row.version + 1, ...over }) as Delivery;

const placeOf = (ended: Ended, fits: (entry: LogEntry) => boolean): number => {
  const place = ended.log.findIndex(fits);
  if (place < 0) throw new Error('no such entry');
  return place;
};

const moved = (ended: Ended, from: number, to: number): Ended => {
  const entry = ended.log[from];
  if (entry === undefined) throw new Error('no such entry');
  return numbered(ended, ended.log.toSpliced(from, 1).toSpliced(to, 0, entry));
};

const dropped = (ended: Ended, drop: (entry: LogEntry) => boolean): Ended =>
  numbered(
    ended,
    ended.log.filter((entry) => !drop(entry)),
  );

const planned = (ended: Ended, destination: Partial<Plan['destinations'][number]>): Ended => ({
  ...ended,
  plan: { ...ended.plan, destinations: ended.plan.destinations.map((one) => ({ ...one, ...destination })) },
});

const redriven = (cause: string): Entry => ({ kind: 'redriven', atMs: 0, writeId: 'w' as Entry['writeId'], cause });

const withLines = (row: Delivery, ...entries: readonly Entry[]): Delivery =>
  again(row, {
    journal: { ...row.journal, lines: [...row.journal.lines, ...entries.map((entry) => ({ text: '', entry }))] },
  });

const GATE: Extract<Item, { item: 'gate' }> = { item: 'gate', version: 1, destination: 'd1' as never, carried: {} };
const PAUSED = { ...GATE, pause: { by: 'ann', reason: 'theirs', sinceMs: 0 } };
const RESUME = { do: 'resume', destination: 'd1' } as const;
const withoutFaults = (ended: Ended): Ended => dropped(ended, ({ kind }) => kind === 'fault');
const SLOT: Extract<Item, { item: 'slot' }> = {
  item: 'slot',
  version: 1,
  destination: 'd1' as never,
  n: 0,
  leaseEndsAtMs: 9e15,
  carried: {},
};
const OPERATION = {
  item: 'operation',
  operation: 'rd_1',
  limit: 5,
  messages: 1,
  state: 'done',
  turn: 2,
  version: 3,
} as unknown as Item;
const PLANNED = { ...OPERATION, state: 'planned', version: 2 } as unknown as Item;
const MESSAGE = { item: 'operation-message', operation: 'rd_1', position: 0, version: 1 } as unknown as Item;

const noticeOf = (what: object) =>
  eventItem({
    event: eventIdOf(`notice~delivery-quarantined~20261129T1200Z~${'A'.repeat(22)}`),
    destinations: [destinationIdOf('d2')],
    payload: Buffer.from(JSON.stringify({ notice: 'delivery-quarantined', at: '2026-11-29T12:00:00.000Z', ...what })),
  });
const NOTICE = noticeOf({ destination: 'd1', event: 'e1', reason: 'budget' });

const swept = (ended: Ended): Ended =>
  changed(ended, (entry) => (entry.kind === 'push' ? { ...entry, body: '{"kind":"sweep","format":1}' } : entry));

const BAD: Readonly<Record<OracleName, (ended: Ended) => Ended>> = {
  'no-bug': (ended) =>
    changed(ended, (entry) => (entry.kind === 'quiet' ? [entry, { ...entry, kind: 'bug', text: 'TypeError' }] : entry)),
  'one-success': (ended) => withWrite(ended, rowOf(ended, 'pending'), again(endedRow(ended), {})),
  'one-effect': (ended) =>
    changed(ended, (entry) =>
      entry.kind === 'arrive'
        ? [
            { ...entry, effect: true },
            { ...entry, effect: true },
          ]
        : entry,
    ),
  'doubt-is-held': (ended) =>
    withEntries(withClaims(ended, { repeatSafe: false }), (entry) =>
      entry.class === 'failed' ? { ...entry, class: 'in-doubt' } : entry,
    ),
  'doubt-stays': (ended) => withRows(ended, (row) => (row.status === 'claimed' ? { ...row, doubt: 'unsafe' } : row)),
  'key-life-stays': (ended) =>
    withRows(ended, (row) => (row.status === 'pending' ? { ...row, keyFromMs: row.version } : row)),
  'key-is-known': (ended) =>
    planned(
      withRows(ended, (row) => ({ ...row, keyFromMs: 0 })),
      { keys: 'forgets-after', forgetsAfterHours: 1 },
    ),
  'key-in-time': (ended) => planned(ended, { keys: 'forgets-after', forgetsAfterHours: 0.001 }),
  'success-is-true': (ended) =>
    changed(ended, (entry) => (entry.kind === 'answer' ? { ...entry, status: 500 } : entry)),
  'success-is-kept': (ended) => dropped(ended, (entry) => isWriteOf(entry, 'delivered')),
  'budget-holds': (ended) => changed(ended, (entry) => (entry.kind === 'arrive' ? [entry, entry, entry] : entry)),
  'refunds-fair': (ended) =>
    withRows(ended, (row) => (row.status === 'pending' && row.attempts > 0 ? { ...row, refunds: 1 } : row)),
  'claim-before-send': (ended) =>
    moved(
      ended,
      placeOf(ended, ({ kind }) => kind === 'send'),
      placeOf(ended, (entry) => isWriteOf(entry, 'claimed')),
    ),
  'mark-before-send': (ended) => withClaims(ended, { repeatSafe: false }),
  'record-before-ack': (ended) =>
    moved(
      ended,
      ended.log.findLastIndex((entry) => isWriteOf(entry, 'delivered')),
      ended.log.length - 1,
    ),
  'accepted-stands': (ended) => dropped(ended, (entry) => entry.kind === 'write' && entry.item.item === 'delivery'),
  'rest-in-time': (ended) => ({ ...ended, ended: false }),
  'looks-planned': (ended) =>
    withRows(ended, (row) => ('lookAfterMs' in row ? { ...row, lookAfterMs: row.lookAfterMs + 86_400_000 } : row)),
  'publish-key-new': (ended) =>
    changed(ended, (entry) => (entry.kind === 'publish' ? { ...entry, key: 'always the same' } : entry)),
  'final-stays': (ended) =>
    withWrite(ended, endedRow(ended), again(rowOf(ended, 'pending'), { version: endedRow(ended).version + 1 })),
  'journal-grows': (ended) =>
    withWrite(ended, endedRow(ended), again(endedRow(ended), { journal: { ...endedRow(ended).journal, lines: [] } })),
  'attempts-add-up': (ended) => withRows(ended, (row) => ({ ...row, attempts: row.attempts + 1 })),
  'writes-are-signed': (ended) =>
    withEntries(ended, (entry) => {
      const { cause: _none, ...rest } = entry;
      return entry.kind === 'claimed' ? rest : entry;
    }),
  'records-are-whole': (ended) => ({ ...ended, torn: ['e1 to d1 is not stored as it was written: att'] }),
  'same-request': (ended) =>
    changed(ended, (entry) => (entry.kind === 'arrive' ? { ...entry, key: `${entry.key} ${entry.at}` } : entry)),
  'conflicts-kept': (ended) =>
    changed(ended, (entry) =>
      entry.kind === 'told' ? [entry, { ...entry, sense: 'conflict', what: 'conflict' }] : entry,
    ),
  'certainty-is-true': (ended) =>
    withEntries(ended, (entry) => (entry.class === 'failed' ? { ...entry, class: 'not-sent' } : entry)),
  'class-is-true': (ended) =>
    changed(ended, (entry) => (entry.kind === 'answer' && entry.status !== 200 ? { ...entry, status: 410 } : entry)),
  'late-is-late': (ended) =>
    withEntries(ended, (entry) => (entry.kind === 'outcome' ? { ...entry, kind: 'late-outcome' } : entry)),
  'reason-is-true': (ended) =>
    withWrite(
      ended,
      rowOf(ended, 'pending'),
      again(rowOf(ended, 'pending'), { status: 'quarantined', reason: 'budget', endedAtMs: 1 }),
    ),
  'claim-in-time': (ended) => withClaims(ended, { startedAtMs: 0 }),
  'lease-respected': (ended) => {
    const first = rowOf(ended, 'claimed') as Claimed;
    const live = { ...first, claim: { ...first.claim, leaseEndsAtMs: 9e15 } };
    let nth = 0;
    return changed(ended, (entry) => {
      if (entry.kind !== 'write' || !isWriteOf(entry, 'claimed')) return entry;
      nth += 1;
      return nth === 2 ? { ...entry, before: live } : entry;
    });
  },
  'owner-writes': (ended) => {
    const live = rowOf(ended, 'claimed');
    return withWrite(
      ended,
      live,
      again(live, { status: 'pending', dueAtMs: 0 }),
      {},
      placeOf(ended, (entry) => isWriteOf(entry, 'claimed')) + 1,
    );
  },
  'owner-sends': (ended) => dropped(ended, (entry) => entry.kind === 'read'),
  'retry-in-time': (ended) =>
    withRows(ended, (row) => (row.status === 'pending' && row.attempts > 0 ? { ...row, dueAtMs: 0 } : row)),
  'pause-obeyed': (ended) =>
    withWrite(
      ended,
      undefined,
      { ...GATE, pause: { by: 'ann', reason: 'theirs', sinceMs: 0 } },
      { by: 'o1' } as Partial<LogEntry>,
      0,
    ),
  'waiting-is-free': (ended) =>
    withWrite(ended, rowOf(ended, 'pending'), again(rowOf(ended, 'pending'), { attempts: 3 })),
  'claim-at-open-gate': (ended) => withWrite(ended, undefined, PAUSED, { by: 'o1' } as Partial<LogEntry>, 0),
  'probe-opens': (ended) => {
    const { by } = ended.log.find((entry) => isWriteOf(entry, 'delivered')) ?? { by: '' };
    const pause = { by: 'system', reason: '20 failures', sinceMs: 0, probeAtMs: 9e15 };
    const shut = dropped(ended, (entry) => entry.kind === 'write' && entry.item.item === 'gate');
    const place = placeOf(shut, (entry) => entry.kind === 'look' && entry.by === by);
    return withWrite(shut, undefined, { ...GATE, pause }, { by } as Partial<LogEntry>, place);
  },
  'probe-tries': (ended) => {
    const calm = withoutFaults(ended);
    const answered = placeOf(calm, (entry) => entry.kind === 'verdict' && entry.status === 200);
    const { by = '', about } = calm.log[answered] ?? {};
    const pause = { by: 'system', reason: '20 failures', sinceMs: 0, probeAtMs: 1 };
    const gate = { ...GATE, pause };
    const turned = { ...GATE, version: 2, pause: { ...pause, probeAtMs: 2 } };
    return withWrite(calm, gate, turned, { by, about }, answered);
  },
  'gone-is-paused': (ended) =>
    withEntries(ended, (entry) => (entry.class === 'failed' ? { ...entry, class: 'gone' } : entry)),
  'wish-is-kept': (ended) =>
    changed(ended, (entry) => (entry.kind === 'answer' ? { ...entry, status: 503, retryAfter: ['60'] } : entry)),
  'closings-grow': (ended) =>
    withWrite(ended, { ...GATE, closedUntilMs: 5_000 }, { ...GATE, version: 2, closedUntilMs: 4_000 }),
  'resume-opens': (ended) =>
    withWrite(
      changed(ended, (entry) =>
        entry.kind === 'quiet'
          ? [entry, { ...entry, kind: 'asked', by: 'o9', request: 'r9', deed: { do: 'resume', destination: 'd1' } }]
          : entry,
      ),
      { ...PAUSED, closedUntilMs: 5_000 },
      { ...GATE, version: 2, closedUntilMs: 5_000 },
      { by: 'o9' } as Partial<LogEntry>,
    ),
  'parked-looks-again': (ended) =>
    changed(withoutFaults(ended), (entry) => {
      if (entry.kind !== 'write' || !isWriteOf(entry, 'pending') || (entry.item as Delivery).attempts === 0)
        return entry;
      return { ...entry, item: { ...entry.item, parking: { reason: 'paused', sinceMs: 0 } } as Delivery };
    }),
  'resume-drains': (ended) =>
    changed(withWrite(ended, PAUSED, { ...GATE, version: 2 }, { by: 'o9' } as Partial<LogEntry>, 1), (entry) => {
      if (entry.at === 0) return [entry, { ...entry, kind: 'asked', by: 'o9', request: 'r9', deed: RESUME }];
      return entry.at === 1 ? [entry, { ...entry, kind: 'decided', by: 'o9', request: 'r9', what: 'done' }] : entry;
    }),
  'slots-kept': (ended) => planned(ended, { ratePerSecond: 1 }),
  'settings-current': (ended) =>
    withWrite(
      ended,
      undefined,
      destinationItem({ destination: 'd1' as never, version: 2, timeoutMs: 1_234 }),
      {},
      placeOf(ended, (entry) => isWriteOf(entry, 'claimed')) + 1,
    ),
  'places-hold': (ended) => withWrite(ended, { ...SLOT, holder: 'p1----00001' as never }, { ...SLOT, version: 2 }),
  'places-returned': (ended) => {
    const calm = withoutFaults(ended);
    const answered = placeOf(calm, (entry) => entry.kind === 'verdict' && entry.status === 200);
    const by = calm.log[answered]?.by ?? '';
    return withWrite(calm, undefined, { ...SLOT, holder: 'p1----00001' as never }, { by }, answered);
  },
  'in-flight-bounded': (ended) => dropped(planned(ended, { concurrency: 1 }), ({ kind }) => kind === 'answer'),
  'crowd-bounded': (ended) =>
    changed(
      withWrite(ended, undefined, { ...GATE, crowdedUntilMs: 9e15 }, { by: 'o1' } as Partial<LogEntry>, 0),
      (entry) => {
        if (entry.kind !== 'send') return entry;
        return ['q1', 'q2', 'q3', 'q4', 'q5', 'q6'].flatMap((by): LogEntry[] => [
          { ...entry, kind: 'look', destination: 'd1', by },
          { ...entry, by },
        ]);
      },
    ),
  'right-address': (ended) =>
    changed(ended, (entry) => (entry.kind === 'connect' ? { ...entry, address: '10.0.0.7' } : entry)),
  'sweeps-only-look': swept,
  'sweep-waits': swept,
  'sweep-publishes': swept,
  'sweep-steps-back': (ended) => {
    const pending = rowOf(ended, 'pending') as Extract<Delivery, { status: 'pending' }>;
    const { by } = ended.log.find((entry) => entry.kind === 'push') ?? { by: '' };
    const soon = again(pending, { sweeps: pending.sweeps + 1, lookAfterMs: 0 });
    return withWrite(swept(ended), pending, soon, { by } as Partial<LogEntry>);
  },
  'operations-add-up': (ended) =>
    withWrite(
      withWrite({ ...ended, items: [...ended.items, OPERATION, MESSAGE] }, undefined, MESSAGE),
      undefined,
      PLANNED,
    ),
  'decided-once': (ended) =>
    withWrite(ended, endedRow(ended), withLines(endedRow(ended), redriven('a:r1'), redriven('a:r1'))),
  'decisions-first': (ended) => withWrite(ended, endedRow(ended), withLines(endedRow(ended), redriven('a:nobody'))),
  'durable-before-ack': (ended) =>
    changed(ended, (entry) => (entry.kind === 'push' ? { ...entry, authentic: false } : entry)),
  'notices-are-true': (ended) => withWrite(ended, undefined, NOTICE),
  'notices-are-few': (ended) =>
    withWrite(withWrite(ended, undefined, NOTICE), undefined, {
      ...NOTICE,
      event: eventIdOf(NOTICE.event.replace('~AAAA', '~BBBB')),
    }),
  'no-notice-of-notices': (ended) =>
    withWrite(ended, undefined, noticeOf({ destination: 'd1', event: NOTICE.event, reason: 'budget' })),
};

describe('an oracle', () => {
  it('lets a good log pass', () => {
    expect(judge(good)).toEqual([]);
  });

  it.each(ORACLE_NAMES)('%s rejects a bad one', (oracle) => {
    expect(judge(BAD[oracle](good)).map((violation) => violation.oracle)).toContain(oracle);
  });

  it('says nothing of a row that is late only because its destination is paused, and something of one that is not', () => {
    const pending = rowOf(good, 'pending');
    const parked = again(pending, { parking: { reason: 'paused', sinceMs: 0 } });
    const isHis = (entry: LogEntry): boolean => entry.kind === 'write' && entry.item.item === 'delivery';
    const accepted = placeOf(good, isHis);
    const waiting = dropped(good, (entry) => (isHis(entry) && entry.at > accepted) || entry.about !== undefined);
    const unpaused = withWrite(waiting, pending, parked, {}, accepted + 1);
    expect(judge(unpaused).map(({ oracle }) => oracle)).toContain('rest-in-time');
    const paused = withWrite(
      unpaused,
      undefined,
      { ...GATE, pause: { by: 'ann', reason: 'theirs', sinceMs: 0 } },
      {},
      0,
    );
    expect(judge(paused).map(({ oracle }) => oracle)).not.toContain('rest-in-time');
  });
});
