import { describe, expect, it } from 'vitest';
import { append, carriesWrite, causeOf, emptyJournal, readLine, verifyChain } from '../../functions/core/journal.ts';
import { JOURNAL_ENTRIES_MAX, JOURNAL_ENTRY_BYTES_MAX } from '../../functions/core/limits.ts';
import type { Entry, Journal } from '../../functions/core/model.ts';
import { destinationIdOf, eventIdOf, START_MS, writeIdOf } from '../support/machine.ts';

const REF = { event: eventIdOf('order-17'), destination: destinationIdOf('partner') };
const HASH = 'payload-hash';
const EMPTY = emptyJournal(REF, HASH);
const ACCEPTED: Entry = { kind: 'accepted', atMs: START_MS, writeId: writeIdOf('w1'), cause: 'i:r-1' };
const CLAIMED: Entry = { kind: 'claimed', atMs: START_MS + 1, writeId: writeIdOf('w2'), cause: 'p:m-1', attempt: 1 };
const OUTCOME: Entry = {
  kind: 'outcome',
  atMs: START_MS + 2,
  writeId: writeIdOf('w3'),
  cause: 'p:m-1',
  attempt: 1,
  class: 'failed',
  status: 500,
  durationMs: 120,
  nextAtMs: START_MS + 5_002,
};
const THREE = append(EMPTY, ACCEPTED, CLAIMED, OUTCOME);
const verified = (journal: Journal): boolean => verifyChain(REF, HASH, journal);

describe('a journal', () => {
  it('grows at its end only, and says the same whether entries come together or one by one [M17]', () => {
    const onebyone = append(append(append(EMPTY, ACCEPTED), CLAIMED), OUTCOME);
    expect(onebyone).toEqual(THREE);
    expect(append(THREE, CLAIMED).lines.slice(0, 3)).toEqual(THREE.lines);
    expect(THREE.lines.map((line) => line.entry)).toEqual([ACCEPTED, CLAIMED, OUTCOME]);
    expect(EMPTY.lines).toEqual([]);
  });

  it('stores short names, and nothing for what is not there', () => {
    expect(THREE.lines.map((line) => line.text)).toEqual([
      `{"k":"a","t":${START_MS},"w":"w1_________","c":"i:r-1"}`,
      `{"k":"c","t":${START_MS + 1},"w":"w2_________","c":"p:m-1","a":1}`,
      `{"k":"o","t":${START_MS + 2},"w":"w3_________","c":"p:m-1","a":1,"o":"fa","s":500,"d":120,"n":${START_MS + 5_002}}`,
    ]);
  });

  it('reads what it has written, in every kind of entry', () => {
    const base = { atMs: START_MS, writeId: writeIdOf('w'), cause: 'a:r-1' };
    const entries: readonly Entry[] = [
      { kind: 'redriven', ...base, grant: 3 },
      { kind: 'redriven', ...base },
      { kind: 'redriven', ...base, secondEffect: true },
      { kind: 'decision', ...base, decision: 'cancel' },
      { kind: 'decision', ...base, decision: 'resolve-delivered' },
      { kind: 'decision', ...base, decision: 'resolve-not-delivered' },
      { kind: 'decision', ...base, decision: 'refuse', detail: 'no-destination' },
      { kind: 'late-outcome', ...base, attempt: 50, class: 'delivered', status: 204, durationMs: 20_000 },
      { kind: 'outcome', ...base, attempt: 2, class: 'not-sent', detail: 'connect-timeout' },
      ...(['rate', 'closed', 'concurrency', 'paused'] as const).map(
        (reason): Entry => ({ kind: 'claimed', ...base, attempt: 7, waits: { count: 12, sinceMs: START_MS, reason } }),
      ),
      ...(['throttled', 'rejected', 'gone', 'in-doubt', 'withheld', 'abandoned'] as const).map(
        (outcomeClass): Entry => ({ kind: 'outcome', ...base, attempt: 3, class: outcomeClass, detail: 'x' }),
      ),
    ];
    for (const entry of entries) expect(append(EMPTY, entry).lines[0]?.entry).toEqual(entry);
  });

  it('keeps a line as it was stored, and carries what newer code has added to it', () => {
    const text = `{"k":"o","t":1,"w":"w","c":"p:1","a":1,"o":"fa","zz":{"new":true}}`;
    const line = readLine(text);
    expect(line.text).toBe(text);
    expect(line.entry).toEqual({ kind: 'outcome', atMs: 1, writeId: 'w', cause: 'p:1', attempt: 1, class: 'failed' });
  });

  it.each([
    ['no JSON', 'not json'],
    ['no object', '[]'],
    ['an unknown kind', '{"k":"z","t":1,"w":"w","c":"c"}'],
    ['an unknown class', '{"k":"o","t":1,"w":"w","c":"c","o":"zz"}'],
    ['an unknown decision', '{"k":"d","t":1,"w":"w","c":"c","v":"z"}'],
    ['an unknown wait', '{"k":"c","t":1,"w":"w","c":"c","q":[1,2,"z"]}'],
    ['a name of the prototype for a kind', '{"k":"constructor","t":1,"w":"w","c":"c"}'],
    ['a fraction for a time', '{"k":"a","t":1.5,"w":"w","c":"c"}'],
    ['a time before 1970', '{"k":"a","t":-1,"w":"w","c":"c"}'],
    ['a time as text', '{"k":"a","t":"1","w":"w","c":"c"}'],
    ['no write id', '{"k":"a","t":1,"c":"c"}'],
  ])('refuses to read %s', (_name, text) => {
    expect(() => readLine(text)).toThrow();
  });
});

describe('the chain', () => {
  it('leads to the head, for an empty journal as well', () => {
    expect(verified(EMPTY)).toBe(true);
    expect(verified(THREE)).toBe(true);
  });

  it('belongs to its event, its destination and its payload', () => {
    expect(verifyChain({ ...REF, event: eventIdOf('order-18') }, HASH, THREE)).toBe(false);
    expect(verifyChain({ ...REF, destination: destinationIdOf('other') }, HASH, THREE)).toBe(false);
    expect(verifyChain(REF, 'other-hash', THREE)).toBe(false);
    expect(emptyJournal(REF, HASH).head).not.toBe(emptyJournal(REF, 'other-hash').head);
  });

  it('keeps the parts of its root apart: order#1 + 7 is not order# + 17', () => {
    const head = (event: string, destination: string) =>
      emptyJournal({ event: eventIdOf(event), destination: destinationIdOf(destination) }, HASH).head;
    expect(head('ab', 'c')).not.toBe(head('a', 'bc'));
    expect(head('3:a', 'b')).not.toBe(head('3', ':ab'));
  });

  it('breaks when a line is changed, removed, added, repeated or moved [M17]', () => {
    const [one, two, three] = THREE.lines;
    if (!one || !two || !three) throw new RangeError('three lines');
    const changed = { ...two, text: two.text.replace('"a":1', '"a":2') };
    const broken = [
      [one, changed, three],
      [one, three],
      [one, two],
      [one, two, three, three],
      [two, one, three],
      [one, two, { ...three, text: `${three.text} ` }],
    ];
    for (const lines of broken) expect(verified({ lines, head: THREE.head })).toBe(false);
    expect(verified({ ...THREE, head: EMPTY.head })).toBe(false);
    expect(verified({ lines: [one, two, three], head: THREE.head })).toBe(true);
  });
});

describe('the bounds of a journal', () => {
  it('throw at an entry over its bytes: that is a mistake in the code, never a journal that cannot be stored', () => {
    const long = { ...ACCEPTED, cause: 'p:'.padEnd(JOURNAL_ENTRY_BYTES_MAX, 'x') };
    expect(() => append(EMPTY, long)).toThrow(/over 140/);
  });

  it('count bytes, not characters', () => {
    const base = append(EMPTY, { ...ACCEPTED, cause: '' }).lines[0]?.text.length ?? 0;
    const room = JOURNAL_ENTRY_BYTES_MAX - base;
    expect(append(EMPTY, { ...ACCEPTED, cause: 'x'.repeat(room) }).lines).toHaveLength(1);
    expect(() => append(EMPTY, { ...ACCEPTED, cause: 'x'.repeat(room + 1) })).toThrow(RangeError);
    expect(() => append(EMPTY, { ...ACCEPTED, cause: 'é'.repeat(Math.floor(room / 2) + 1) })).toThrow(RangeError);
  });

  it('throw at one entry more than a life can hold', () => {
    const full = append(EMPTY, ...Array<Entry>(JOURNAL_ENTRIES_MAX).fill(ACCEPTED));
    expect(full.lines).toHaveLength(JOURNAL_ENTRIES_MAX);
    expect(() => append(full, ACCEPTED)).toThrow(`over ${JOURNAL_ENTRIES_MAX}`);
  });

  it('cut a detail to sixteen characters', () => {
    const [line] = append(EMPTY, { ...OUTCOME, detail: 'a-very-long-detail-code' }).lines;
    expect(line?.entry.detail).toBe('a-very-long-deta');
  });
});

describe('a cause', () => {
  it('names its kind and its id', () => {
    expect(causeOf('push', 'qmsg_epuwE6cY3RkbAUEa996UYaNz')).toBe('p:qmsg_epuwE6cY3RkbAUEa996UYaNz');
    expect(causeOf('sweep', '29405520')).toBe('s:29405520');
    const kinds = (['push', 'sweep', 'operation', 'actor', 'api', 'queue'] as const).map((kind) => causeOf(kind, '1'));
    expect(kinds).toEqual(['p:1', 's:1', 'o:1', 'a:1', 'i:1', 'q:1']);
  });

  it('holds a UUID whole, and turns what is longer or not plain into a hash that still tells two apart', () => {
    const uuid = '5e0b7bb2-6b9d-4a3f-8b6a-7c7d6c0f4f11';
    expect(causeOf('push', uuid)).toBe(`p:${uuid}`);
    const hashed = ['x'.repeat(39), 'é', 'a b', 'a"b', 'a\\b', 'line\nbreak', ''.padEnd(5_000, 'y')];
    for (const id of hashed) expect(causeOf('actor', id)).toMatch(/^a#[\w-]{22}$/);
    expect(new Set(hashed.map((id) => causeOf('actor', id))).size).toBe(hashed.length);
  });
});

describe('a write', () => {
  it('is found in any line that it made', () => {
    expect(carriesWrite(THREE, writeIdOf('w1'))).toBe(true);
    expect(carriesWrite(THREE, writeIdOf('w3'))).toBe(true);
    expect(carriesWrite(THREE, writeIdOf('w4'))).toBe(false);
    expect(carriesWrite(EMPTY, writeIdOf('w1'))).toBe(false);
  });
});

// Its cause is that of its claim, which names it in full: a line with both would be too long for a long message id.
describe('the entry of an attempt that is tried again', () => {
  const { cause: _claimed, ...own } = OUTCOME;
  const again: Entry = { ...own, attempt: 50, durationMs: 20_000 };
  const { status: _none, ...unanswered } = again;

  it('fits for an answer of 500 [M18]', () => {
    expect(append(EMPTY, again).lines).toHaveLength(1);
  });

  it('fits without an answer, whatever the reason [M18]', () => {
    for (const detail of ['dns', 'timeout', 'connect-timeout', 'header-overflow', 'settings-changed']) {
      for (const outcome of ['not-sent', 'in-doubt', 'withheld'] as const) {
        expect(append(EMPTY, { ...unanswered, class: outcome, detail }).lines).toHaveLength(1);
      }
    }
  });

  it('fits with the longest cause where a claim names it, waits included [M18]', () => {
    const cause = causeOf('push', 'm'.repeat(38));
    expect(cause).toHaveLength(40);
    const waits = { count: 999, sinceMs: START_MS, reason: 'concurrency' } as const;
    const claimed: Entry = { kind: 'claimed', atMs: START_MS, writeId: own.writeId, cause, attempt: 50, waits };
    expect(append(EMPTY, claimed).lines).toHaveLength(1);
  });
});
