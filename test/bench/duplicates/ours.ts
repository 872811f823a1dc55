/**
 * Ours under fire: intake and engine in this process, receivers in others. A repeat is not safe at this destination, and its
 * settings say so.
 */
import { createLedgerClient } from '../../../functions/adapters/ledger/client.ts';
import { createDynamoLedger } from '../../../functions/adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../../../functions/adapters/ledger/pace.ts';
import { createDynamoPages } from '../../../functions/adapters/ledger/pages.ts';
import { createInfraiPush } from '../../../functions/adapters/queue/infrai/push.ts';
import { INFRAI_LIMITS } from '../../../functions/adapters/queue/transport-facts.ts';
import { createLedgerSecrets } from '../../../functions/adapters/secrets.ts';
import { systemClock, systemDice } from '../../../functions/adapters/system.ts';
import { silentTelemetry } from '../../../functions/adapters/telemetry.ts';
import type { Token } from '../../../functions/core/items.ts';
import { createIntakeApp } from '../../../functions/intake/app.ts';
import { createOperatorApp } from '../../../functions/operator/api/app.ts';
import type { Ledger, Publication } from '../../../functions/ports.ts';
import type { Receiver } from '../../../functions/receiver/run.ts';
import { ensureTable } from '../../../infra/local/ledger-table.ts';
import { startTicker } from '../../../infra/local/ticker.ts';
import { openDynamoHttp } from '../../support/dynamo-http.ts';
import { destinationId, eventId, signed, tokenItems, tokenOf } from '../../support/world.ts';
import { heldDeadLetters } from '../../support/world-ports.ts';
import { bodyOf, type Destination } from './destination.ts';
import { countsOf, type Fire, killAt, type Tally } from './fire.ts';
import { openLoopback } from './loopback.ts';
import { SCHEME, TABLE, TICK_MS } from './ours-settings.ts';
import { openPool } from './pool.ts';
import { type Message, openPushQueue, type PushQueue, untilRoom } from './push-queue.ts';

const DESTINATION = 'fire';
/** The lease of a dead worker's attempt is this and ten seconds. */
const TIMEOUT_MS = 5_000;
const EVENTS_PER_REQUEST = 50;
const WAIT_MS_MAX = 300_000;

export const underFire = async (
  fire: Fire,
  destination: Destination,
  workers: number,
  atOnce: number,
): Promise<Tally> => {
  const from = performance.now();
  const dynamo = await openDynamoHttp();
  const client = createLedgerClient({ requestHandler: dynamo.dynamo.requestHandler });
  await ensureTable(client, TABLE);
  let queue: PushQueue | undefined;
  const publishing = await openLoopback((body, response) =>
    response.end(published(queue, JSON.parse(body) as Publication)),
  );
  const pool = await openPool('./ours-worker.ts', [dynamo.url, TABLE, publishing.url], workers);
  queue = openPushQueue({ fire, pool, path: '/push/infrai', atOnce, wrap: wrapped });
  const world = worldOver(client, (publication) => published(queue, publication));
  try {
    await prepare(world, destination);
    killAt(fire, destination, pool);
    const ticker = startTicker(world, systemClock, world.tickMs);
    const ends = await acceptAll(world, fire.events, queue)
      .then(() => untilSettled(world, fire.events))
      .finally(() => ticker.stop());
    const { held, heldHappened } = heldIn(ends, destination);
    return {
      ...countsOf(fire, destination),
      lost: fire.events.filter((event) => destination.effectsOf(event) === 0 && ends.get(event) !== 'quarantined')
        .length,
      held,
      heldHappened,
      kills: pool.kills,
      pushes: queue.pushes,
      seconds: Math.round((performance.now() - from) / 1_000),
    };
  } finally {
    await queue.close();
    await pool.close();
    await publishing.close();
    await dynamo.close();
  }
};

const worldOver = (
  client: ReturnType<typeof createLedgerClient>,
  publish: (publication: Publication) => string,
): Receiver => {
  const at = { client, table: TABLE };
  const ledger = createDynamoLedger(at);
  return {
    ledger,
    pages: createDynamoPages(at, systemClock),
    pace: createDynamoPace(at),
    queue: {
      limits: INFRAI_LIMITS,
      publish: async (publication) => ({ kind: 'published', messageId: publish(publication) }),
    },
    deadLetters: heldDeadLetters(),
    push: createInfraiPush(SCHEME),
    // This process accepts and ticks, and sends nothing.
    sender: { send: () => Promise.reject(new Error('the parent sends nothing')), close: async () => {} },
    secrets: createLedgerSecrets(ledger, systemClock),
    telemetry: silentTelemetry,
    clock: systemClock,
    dice: systemDice,
    tickMs: TICK_MS,
  };
};

const published = (queue: PushQueue | undefined, { body, delaySec }: Publication): string => {
  if (queue === undefined) throw new Error('there is no queue yet');
  const message = JSON.parse(body) as { readonly kind: string; readonly event?: string };
  const event = message.kind === 'deliver' ? message.event : undefined;
  return queue.publish({ body, ...(event === undefined ? {} : { event }) }, delaySec * 1_000);
};

const wrapped = ({ id, body }: Message) => {
  const bytes = Buffer.from(`{"message_id":${JSON.stringify(id)},"payload":${body}}`);
  return { body: bytes, headers: signed(bytes, SCHEME, systemClock.nowMs()) };
};

const prepare = async (world: Receiver, { url }: Destination): Promise<void> => {
  for (const token of tokenItems(world.clock.nowMs())) await world.ledger.create<Token>(token);
  const app = createOperatorApp(world, { allowLocal: true });
  const body = JSON.stringify({ url, repeatSafe: false, timeoutMs: TIMEOUT_MS });
  const headers = { authorization: `Bearer ${tokenOf('admin')}` };
  const answer = await app.request(`/v1/destinations/${DESTINATION}`, { method: 'PUT', body, headers });
  if (!answer.ok) throw new Error(`the destination was not taken: ${await answer.text()}`);
};

const acceptAll = async (world: Receiver, events: readonly string[], queue: PushQueue): Promise<void> => {
  const app = createIntakeApp(world);
  const headers = { authorization: `Bearer ${tokenOf('send')}` };
  for (let at = 0; at < events.length; at += EVENTS_PER_REQUEST) {
    await untilRoom(queue);
    const batch = events.slice(at, at + EVENTS_PER_REQUEST).map(
      // The payload as it stands in the request is what is sent.
      (event) => `{"id":"${event}","destinations":["${DESTINATION}"],"payload":${bodyOf(event)}}`,
    );
    const answer = await app.request('/v1/events', { method: 'POST', body: `[${batch.join(',')}]`, headers });
    if (answer.status !== 202) throw new Error(`not accepted: ${await answer.text()}`);
  }
};

type End = 'delivered' | 'quarantined' | 'open';

/** Until every delivery is over or held; those that are not, after all that time, are lost. */
const untilSettled = async (world: Receiver, events: readonly string[]): Promise<ReadonlyMap<string, End>> => {
  const ends = new Map<string, End>();
  let open = events;
  for (let waitedMs = 0; open.length > 0 && waitedMs < WAIT_MS_MAX; waitedMs += world.tickMs) {
    for (const event of open) ends.set(event, await endOf(world.ledger, event));
    open = open.filter((event) => ends.get(event) === 'open');
    if (open.length > 0) await world.clock.sleep(world.tickMs);
  }
  return ends;
};

const endOf = async (ledger: Ledger, event: string): Promise<End> => {
  const found = await ledger.load({ item: 'delivery', event: eventId(event), destination: destinationId(DESTINATION) });
  if (found.kind !== 'found') throw new Error(`the delivery of ${event} is ${found.kind}`);
  const { status } = found.item;
  return status === 'delivered' || status === 'quarantined' ? status : 'open';
};

const heldIn = (ends: ReadonlyMap<string, End>, destination: Destination) => {
  const held = [...ends].filter(([, end]) => end === 'quarantined').map(([event]) => event);
  return { held: held.length, heldHappened: held.filter((event) => destination.effectsOf(event) > 0).length };
};
