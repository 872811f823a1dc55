/** A world in which one destination is marked for notices, and what it is told there. */
import { createLedgerNotices } from '../../functions/adapters/notices.ts';
import type { Item } from '../../functions/core/items.ts';
import { isNoticeEvent } from '../../functions/core/notice.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import { openTestWorld, type TestWorld } from './world.ts';
import { answered } from './world-ports.ts';

export const OPS_URL = 'https://ops.example/hook';
export const MINUTE_MS = 60_000;

export const withNotices = (ports: Receiver): Receiver => ({
  ...ports,
  notices: createLedgerNotices(ports.ledger, ports.clock),
});

/** `partner` has one attempt in a life; `ops` is told what a person should know. */
export const noticeWorld = async (reshape: (ports: Receiver) => Receiver = withNotices): Promise<TestWorld> => {
  const world = openTestWorld({ reshape });
  await world.destination('partner', { schedule: [], headers: { authorization: 'a-secret-of-the-partner' } });
  await world.destination('ops', { url: OPS_URL, notices: true });
  return world;
};

interface Told {
  readonly notice: string;
  readonly destination?: string;
  readonly event?: string;
  readonly look: string;
}

/** What has arrived at the other side of a marked destination. */
export const toldAt = (world: TestWorld, url = OPS_URL): readonly Told[] =>
  world.sender.sends.filter((send) => send.url === url).map(({ body }) => JSON.parse(Buffer.from(body).toString()));

export const kindsAt = (world: TestWorld, url = OPS_URL): readonly string[] =>
  toldAt(world, url).map(({ notice }) => notice);

export const written = <K extends Item['item']>(world: TestWorld, kind: K): number =>
  world.store.writes.filter(({ ref, before }) => ref?.item === kind && before === undefined).length;

export const noticeEvents = (world: TestWorld): readonly string[] =>
  world.store.writes.flatMap(({ ref, before }) =>
    ref?.item === 'event' && before === undefined && isNoticeEvent(ref.event) ? [ref.event] : [],
  );

/** A delivery that is refused for good. */
export const refused = async (world: TestWorld, id: string, status = 422): Promise<void> => {
  world.sender.script(answered(status, { excerpt: 'what the partner has said' }));
  await world.accepted(id, 'partner');
  await world.deliver(id, 'partner');
};
