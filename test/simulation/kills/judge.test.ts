/** The judge of the kills is content with a sound world, and each of its invariants rejects a world made to break it. */
import { describe, expect, it } from 'vitest';
import { append, emptyJournal } from '../../../functions/core/journal.ts';
import { outgoingKey } from '../../../functions/core/keys.ts';
import type { Delivery, Entry } from '../../../functions/core/model.ts';
import { drawOf } from '../../../infra/local/queue/chance.ts';
import {
  acceptedEntry,
  claimedEntry,
  deliveredRow,
  outcomeEntry,
  pendingRow,
  quarantinedRow,
} from '../../support/rows.ts';
import { type Evidence, INVARIANTS, type InvariantName, judgeKills } from './judge.ts';
import type { Happened } from './order.ts';
import { partiesOf, roundOf } from './plan.ts';

const ROW = deliveredRow();
const REF = { event: ROW.event, destination: ROW.destination };
const KEY = outgoingKey(ROW.event, ROW.destination);
const REQUEST = { key: KEY, sha256: 'body', played: 'status 200', acted: true };

const withEntries = (...entries: readonly Entry[]): Delivery => ({
  ...ROW,
  attempts: entries.filter(({ kind }) => kind === 'claimed').length,
  journal: append(emptyJournal(REF, ROW.payloadHash), ...entries),
});

const wrote = (kind: 'claimed' | 'outcome'): Happened => ({
  kind: 'wrote',
  push: 3,
  ...REF,
  entries: [kind === 'claimed' ? { kind, attempt: 1 } : { kind, attempt: 1, class: 'delivered' }],
});
const sends: Happened = { kind: 'sends', push: 3, key: KEY };
const answered: Happened = { kind: 'answered', push: 3, key: KEY, status: 200 };
const acknowledged: Happened = { kind: 'acknowledged', push: 3, path: '/push/infrai', status: 200 };
const up: Happened = { kind: 'up' };

const SHOWN = {
  ...REF,
  status: 'delivered',
  journal: ROW.journal.lines.map(({ entry }) => ({
    kind: entry.kind,
    at: new Date(entry.atMs).toISOString(),
    requestId: entry.writeId,
  })),
};

const SOUND: Evidence = {
  promised: [{ event: ROW.event, destinations: [ROW.destination] }],
  asked: [],
  shown: [SHOWN],
  received: [REQUEST],
  rows: [ROW],
  apart: [],
  order: [up, wrote('claimed'), sends, answered, wrote('outcome'), acknowledged],
  unsafe: [],
  kills: 1,
};

const brokenIn = (change: Partial<Evidence>): readonly string[] =>
  judgeKills({ ...SOUND, ...change }).map((complaint) => complaint.slice(0, complaint.indexOf(':')));

const second = { attempt: 2, atMs: claimedEntry().atMs + 5_000 };
const twice = withEntries(
  acceptedEntry(),
  claimedEntry(),
  outcomeEntry({ class: 'failed', status: 500 }),
  claimedEntry(second),
  outcomeEntry(second),
);

const BAD: Readonly<Record<InvariantName, readonly Partial<Evidence>[]>> = {
  'I1 at most one recorded success': [
    {
      rows: [withEntries(acceptedEntry(), claimedEntry(), outcomeEntry(), claimedEntry(second), outcomeEntry(second))],
    },
  ],
  'I2 at most one effect': [
    { rows: [twice], received: [REQUEST, REQUEST] },
    { rows: [twice], received: [REQUEST, REQUEST], unsafe: [ROW.destination] },
  ],
  'I3 delivered means that a 2xx was sent': [
    { received: [{ ...REQUEST, played: 'status 500' }] },
    { received: [{ ...REQUEST, played: 'reset before the answer' }] },
    { received: [] },
  ],
  'I3 a success that was recorded is kept': [
    { rows: [quarantinedRow()], shown: [] },
    { rows: [withEntries(acceptedEntry(), claimedEntry(), outcomeEntry({ class: 'failed', status: 500 }))] },
  ],
  'I4 requests within the budget': [
    { received: [REQUEST, { ...REQUEST, acted: false }] },
    { rows: [{ ...ROW, budget: 9 }] },
    { rows: [{ ...twice, budget: 1 }], received: [REQUEST, { ...REQUEST, acted: false }] },
  ],
  'I5 recorded before it is sent, and before it is acknowledged': [
    { order: [up, sends, wrote('claimed'), answered, wrote('outcome'), acknowledged] },
    { order: [up, wrote('claimed'), up, sends, answered, wrote('outcome'), acknowledged] },
    { order: [up, { ...wrote('claimed'), push: 4 } as Happened, sends] },
    { order: [up, wrote('claimed'), sends, answered, acknowledged, wrote('outcome')] },
  ],
  'I6 nothing promised is lost': [
    { promised: [...SOUND.promised, { event: 'e-lost', destinations: ['partner'] }] },
    { rows: [pendingRow()], shown: [], received: [] },
  ],
  'I7 final is final': [{ shown: [{ ...SHOWN, status: 'cancelled' }] }],
  'I8 the journal only grows': [
    { rows: [{ ...ROW, journal: { ...ROW.journal, head: 'another' } }] },
    { rows: [withEntries(acceptedEntry(), claimedEntry({ attempt: 2 }), outcomeEntry({ attempt: 2 }))] },
    { rows: [withEntries(acceptedEntry(), claimedEntry())] },
    { rows: [withEntries(acceptedEntry(), claimedEntry(), outcomeEntry(), { ...acceptedEntry(), kind: 'redriven' })] },
    { shown: [{ ...SHOWN, journal: SHOWN.journal.map((entry) => ({ ...entry, requestId: 'w-other' })) }] },
    { apart: ['due lacks a row'] },
  ],
  'I9 the same request each time': [
    {
      rows: [twice],
      received: [
        { ...REQUEST, acted: false },
        { ...REQUEST, sha256: 'another' },
      ],
    },
    { received: [REQUEST, { ...REQUEST, key: 'nobody' }] },
  ],
};

describe('the judge of the kills', () => {
  it('has nothing to say of a sound world', () => {
    expect(brokenIn({})).toEqual([]);
    const inDoubt = { ...REQUEST, played: 'reset before the answer' };
    const accepted = { ...REF, wish: 'redrive', acceptsSecondEffect: true } as const;
    expect(
      brokenIn({
        rows: [twice],
        shown: [],
        received: [inDoubt, REQUEST],
        unsafe: [ROW.destination],
        asked: [accepted],
      }),
    ).toEqual([]);
  });

  it.each(Object.keys(BAD) as InvariantName[])('breaks %s where it is broken', (name) => {
    for (const change of BAD[name]) expect(brokenIn(change)).toContain(name);
  });

  it('has a broken world for each of its invariants', () => {
    expect(Object.keys(BAD)).toEqual(Object.keys(INVARIANTS));
  });
});

describe('the plan of a killed world', () => {
  it('is the same for the same seed, and has every kind of moment and every person', () => {
    const rounds = Array.from({ length: 200 }, (_, nth) => roundOf(1, nth));
    expect(rounds).toEqual(Array.from({ length: 200 }, (_, nth) => roundOf(1, nth)));
    expect(new Set(rounds.map(({ moment }) => moment.kind)).size).toBe(3);
    expect(new Set(rounds.map(({ person }) => person)).size).toBe(6);
    expect(partiesOf(1)).not.toEqual(partiesOf(2));
    expect(drawOf(1, 'a')).not.toBe(drawOf(2, 'a'));
  });
});
