/** Real rows in the embedded table are altered behind the back of the product, and the audit finds each of them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packed, unpacked } from '../../functions/adapters/ledger/codec/packing.ts';
import { storedOf } from '../../functions/adapters/ledger/codec/stored.ts';
import type { Ref } from '../../functions/ports.ts';
import { type AuditWorld, openAuditWorld, type Record } from '../support/audit-world.ts';
import { ran } from '../support/cli.ts';
import { destinationId, eventId } from '../support/world.ts';
import { answered, type Reaction, unanswered } from '../support/world-ports.ts';

const PARTNER = 'partner';
const ref = (event: string): Extract<Ref, { item: 'delivery' }> => ({
  item: 'delivery',
  event: eventId(event),
  destination: destinationId(PARTNER),
});

/** Lives of all kinds, each at its own event. */
const LIVES: readonly (readonly [event: string, ...reactions: Reaction[]])[] = [
  ['delivered', answered(204)],
  ['retried', answered(500), unanswered('timeout'), answered(200)],
  ['waiting', answered(500)],
  ['rejected', answered(422)],
  ['gone-once', answered(500), answered(422)],
];

const fill = async ({ world }: AuditWorld): Promise<void> => {
  await world.destination(PARTNER);
  for (const [event, ...reactions] of LIVES) {
    await world.accepted(event, PARTNER);
    for (const reaction of reactions) {
      world.sender.script(reaction);
      await world.deliver(event, PARTNER);
      await world.clock.advance(3_600_000);
    }
  }
  const decide = (verb: string, right: 'resend' | 'decide', body: object) =>
    world.call('operator', 'POST', `/v1/events/rejected/deliveries/${PARTNER}/${verb}`, {
      token: world.token(right),
      headers: { 'idempotency-key': `${verb}-1` },
      body: { reason: 'mended there', ...body },
    });
  await decide('redrive', 'resend', { grant: 2 });
  await decide('cancel', 'decide', {});
};

let audited: AuditWorld;

beforeAll(async () => {
  audited = await openAuditWorld();
  await fill(audited);
});

afterAll(() => audited.close());

const verify = (...args: readonly string[]) => ran(audited.world, ['audit', 'verify', ...args], { right: 'view' });
const faultsIn = (out: string): readonly string[] =>
  out
    .trim()
    .split('\n')
    .flatMap((line) => (JSON.parse(line) as { faults?: { kind: string }[] }).faults ?? [])
    .map(({ kind }) => kind);

/** Alters one row, looks, and puts it back: what is found is found because of it. */
const found = async (
  event: string,
  change: (record: Record) => Record,
  ...args: string[]
): Promise<readonly string[]> => {
  let before: Record = {};
  await audited.alter(ref(event), (record) => {
    before = record;
    return change(record);
  });
  const { out, exit } = await verify(...args, '--json');
  expect(exit).toBe(faultsIn(out).length > 0 ? 1 : 0);
  await audited.alter(ref(event), () => before);
  return faultsIn(out);
};

/** Whoever can write to the table can also unpack what stands there, and pack it again. */
const textsIn = ({ j, x1, x2, z }: Record) =>
  unpacked({ j: j?.L?.map(({ S = '' }) => S), x1: x1?.S, x2: x2?.S, z: z?.B });
const lines = (record: Record): { S: string }[] => textsIn(record).j.map((text) => ({ S: text }));
const withLines = (record: Record, changed: readonly { S: string }[]): Record => {
  const { j: _j, x1: _x1, x2: _x2, z: _z, ...others } = record;
  return { ...others, ...storedOf({ ...packed({ ...textsIn(record), j: changed.map(({ S }) => S) }) }) };
};

const ALTERED: readonly (readonly [what: string, event: string, change: (record: Record) => Record, kind: string])[] = [
  [
    'a line that was altered',
    'retried',
    (record) =>
      withLines(
        record,
        lines(record).map(({ S }) => ({ S: S.replace('"s":500', '"s":200') })),
      ),
    'chain',
  ],
  ['a line that was removed', 'retried', (record) => withLines(record, lines(record).slice(0, -1)), 'chain'],
  ['a first line that was removed', 'retried', (record) => withLines(record, lines(record).slice(1)), 'chain'],
  ['two lines that changed places', 'retried', (record) => withLines(record, lines(record).toReversed()), 'chain'],
  [
    'a line that was put in twice',
    'retried',
    (record) => withLines(record, [...lines(record), ...lines(record).slice(-1)]),
    'chain',
  ],
  ['a head that was altered', 'delivered', (record) => ({ ...record, jh: { B: new Uint8Array(32) } }), 'chain'],
  [
    'a status that says delivered',
    'gone-once',
    ({ why: _why, ...record }) => ({ ...record, st: { S: 'delivered' }, by: { S: 'attempt' } }),
    'status',
  ],
  ['a reason that is another', 'gone-once', (record) => ({ ...record, why: { S: 'gone' } }), 'status'],
  ['a proof that is another', 'delivered', (record) => ({ ...record, by: { S: 'late-outcome' } }), 'status'],
  ['a budget that grew', 'waiting', (record) => ({ ...record, bud: { N: '40' } }), 'budget'],
  ['a budget that shrank', 'rejected', (record) => ({ ...record, bud: { N: '8' } }), 'budget'],
  ['attempts that were set back', 'retried', (record) => ({ ...record, att: { N: '1' } }), 'count'],
  ['redrives that were set back', 'rejected', (record) => ({ ...record, red: { N: '0' } }), 'count'],
];

describe('an audit', () => {
  it('of what nobody has touched finds nothing: one event, a destination, everything', async () => {
    for (const args of [['retried'], ['retried', PARTNER], ['--destination', PARTNER], []]) {
      const { exit, out } = await verify(...args);
      expect([args, exit, out]).toEqual([args, 0, expect.stringContaining('nothing was altered')]);
    }
    expect((await verify()).out).toContain('5 deliveries');
  });

  it.each([
    [['--destination', 'nope'], 'there is no destination nope'],
    [['retried', 'nope'], 'there is no delivery of retried to nope'],
  ])('of a name that nobody has is not clean: %j', async (args, says) => {
    expect(await verify(...args)).toMatchObject({ exit: 1, out: '', err: expect.stringContaining(says) });
  });

  it.each(ALTERED)('finds %s, wherever it is looked for', async (_what, event, change, kind) => {
    expect(await found(event, change, event)).toContain(kind);
    expect(await found(event, change, '--since', '2026-01-01')).toContain(kind);
  });

  it('does not find what was put back: the table above fails by its alterations alone', async () => {
    for (const [, event] of ALTERED) expect(await found(event, (record) => record, event)).toEqual([]);
  });

  it('finds a payload that was altered, and an event that is gone', async () => {
    const event: Ref = { item: 'event', event: eventId('waiting') };
    let before: Record = {};
    await audited.alter(event, (record) => {
      before = record;
      return { ...record, pay: { B: Buffer.from('{"n":2}') } };
    });
    expect(faultsIn((await verify('waiting', '--json')).out)).toEqual(['payload']);
    expect(faultsIn((await verify('--json')).out)).toEqual(['payload']);
    await audited.alter(event, () => before);
  });

  it('finds an event that nobody can read any more, and the others beside it', async () => {
    const event: Ref = { item: 'event', event: eventId('waiting') };
    let before: Record = {};
    await audited.alter(event, (record) => {
      before = record;
      return { ...record, dst: { S: 'no list' } };
    });
    const { out, exit } = await verify('--json');
    expect([exit, faultsIn(out)]).toEqual([1, ['unreadable']]);
    expect(out).toContain('"deliveries":5');
    await audited.alter(event, () => before);
  });

  it('is no fault of the program where the file of heads is not there', async () => {
    const { exit, err } = await verify('--heads', 'nowhere');
    expect([exit, err]).toEqual([2, expect.stringContaining('cannot read nowhere')]);
  });

  it('finds a delivery that was removed: by its event, and by a head of the log', async () => {
    let before: Record = {};
    await audited.alter(ref('waiting'), (record) => {
      before = record;
      return record;
    });
    const head = logged('waiting');
    await audited.remove(ref('waiting'));
    expect(faultsIn((await verify('waiting', '--json')).out)).toEqual(['unreadable']);
    expect((await verify('--json')).exit).toBe(0);
    const options = { right: 'view', files: { heads: head } } as const;
    const { out, exit } = await ran(audited.world, ['audit', 'verify', '--heads', 'heads', '--json'], options);
    expect([exit, faultsIn(out)]).toEqual([1, ['unreadable']]);
    await putBack(before);
  });

  it('finds a journal that was rewritten whole, chain and row and all, by a head of the log alone', async () => {
    const honest = logged('delivered');
    await audited.world.accepted('forged', PARTNER);
    await audited.world.deliver('forged', PARTNER);
    const forged = honest.replaceAll('"event":"delivered"', '"event":"forged"');
    const args = ['audit', 'verify', 'forged', '--heads', 'heads', '--json'];
    expect((await verify('forged')).exit).toBe(0);
    const { out, exit } = await ran(audited.world, args, { right: 'view', files: { heads: forged } });
    expect([exit, faultsIn(out)]).toEqual([1, ['head']]);
    const true_ = await ran(audited.world, args, { right: 'view', files: { heads: logged('forged') } });
    expect(true_.exit).toBe(0);
  });

  it('goes day by day, as far as it is told', async () => {
    expect((await verify('--since', '2026-01-01', '--until', '2026-01-01')).out).toContain('6 deliveries');
    expect((await verify('--since', '2025-12-01', '--until', '2025-12-31')).out).toContain('0 deliveries');
    for (const args of [
      ['--since', 'monday'],
      ['--since', '2026-02-01', '--until', '2026-01-01'],
      ['x', '--since', '2026-01-01'],
    ]) {
      expect((await verify(...args)).exit).toBe(2);
    }
  });

  it('exports the raw material, a delivery a line', async () => {
    const { out, exit } = await ran(audited.world, ['audit', 'export'], { right: 'view' });
    const rows = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string; lines: string[]; head: string });
    expect(exit).toBe(0);
    expect(rows.map(({ event }) => event).toSorted()).toEqual([...LIVES.map(([event]) => event), 'forged'].toSorted());
    for (const { event, lines: texts, head } of rows) {
      const { journal } = await stored(event);
      expect([head, texts]).toEqual([journal.head, journal.lines.map(({ text }) => text)]);
    }
  });
});

/** What the log has of a delivery, as whoever collects logs has kept it. */
const logged = (event: string): string =>
  audited.world.telemetry.lines
    .filter(({ fields }) => fields['event'] === event && fields['head'] !== undefined)
    .map(({ fields }) => `2026-01-01T00:00:00Z ${JSON.stringify(fields)}`)
    .join('\n');

const stored = async (event: string) => {
  const found = await audited.world.ports.ledger.load(ref(event));
  if (found.kind !== 'found') throw new Error(`${event} is ${found.kind}`);
  return found.item;
};

/** Any row under the key, so that there is something to alter; then the one that was there. */
const putBack = async (record: Record): Promise<void> => {
  await audited.world.ports.ledger.create({ ...(await stored('delivered')), event: eventId('waiting'), version: 1 });
  await audited.alter(ref('waiting'), () => record);
};
