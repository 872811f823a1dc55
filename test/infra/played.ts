/**
 * All four functions at work, with a note of each request that they make of the table: the action, and the kind of
 * partition or the index. The play goes through everything that makes a function reach for another kind of item.
 *
 * The notes are taken between the ledger and its record store, whose five requests are one command of DynamoDB each; the
 * sixth, the update of the pace, has an adapter of its own.
 */
import { createLedger } from '../../functions/adapters/ledger/ledger.ts';
import { createPages } from '../../functions/adapters/ledger/lists.ts';
import { createMemoryStore } from '../../functions/adapters/ledger/memory-store.ts';
import type { RecordStore } from '../../functions/adapters/ledger/record-store.ts';
import { createLedgerNotices } from '../../functions/adapters/notices.ts';
import { createLedgerSecrets } from '../../functions/adapters/secrets.ts';
import type { Right, Token } from '../../functions/core/items.ts';
import { RIGHTS, tokenHash } from '../../functions/http/auth.ts';
import { reconcile } from '../../functions/reconciler/watch.ts';
import { type Answered, deliverMessage, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';

export type Player = 'Intake' | 'Receiver' | 'Reconciler' | 'Operator';
export type Notes = Readonly<Record<Player, readonly string[]>>;

let played: Promise<Notes> | undefined;

/** Played once, however many ask. */
export const playedRequests = (): Promise<Notes> => {
  played ??= play();
  return played;
};

const kindOf = (partition: string): string => partition.slice(0, partition.indexOf('#'));

const noting = (store: RecordStore, note: (request: string) => void): RecordStore => ({
  get: (key) => {
    note(`GetItem ${kindOf(key.pk)}`);
    return store.get(key);
  },
  put: (record, condition) => {
    note(`PutItem ${kindOf(String(record['pk']?.S))}`);
    return store.put(record, condition);
  },
  partition: (query) => {
    note(`Query ${kindOf(query.pk)}`);
    return store.partition(query);
  },
  index: (query) => {
    note(`Query index/${query.index}`);
    return store.index(query);
  },
  count: (query) => {
    note(`Query index/${query.index}`);
    return store.count(query);
  },
});

interface Stage {
  readonly world: TestWorld;
  as<T>(player: Player, work: () => Promise<T>): Promise<T>;
  /** A request of a person; throws where it is refused. */
  operate(method: string, path: string, right: Right, body?: unknown): Promise<Answered>;
  submit(id: string, ...destinations: readonly string[]): Promise<unknown>;
  /** Everything that the queue holds, and what comes of it. */
  work(ms?: number): Promise<void>;
  tick(): Promise<void>;
  notes(): Notes;
}

const openStage = async (): Promise<Stage> => {
  const notes: Record<Player, Set<string>> = {
    Intake: new Set(),
    Receiver: new Set(),
    Reconciler: new Set(),
    Operator: new Set(),
  };
  let player: Player | undefined;
  const note = (request: string): void => {
    if (player !== undefined) notes[player].add(`dynamodb:${request}`);
  };
  const store = noting(createMemoryStore(), note);
  const ledger = createLedger(store);
  const world = openTestWorld({
    reshape: (ports) => ({
      ...ports,
      ledger,
      pages: createPages(store, ports.clock),
      pace: {
        take: (destination, ...slot) => {
          note('UpdateItem destination');
          return ports.pace.take(destination, ...slot);
        },
      },
      secrets: createLedgerSecrets(ledger, ports.clock),
      notices: createLedgerNotices(ledger, ports.clock),
    }),
  });
  for (const right of RIGHTS) {
    const named = { hash: tokenHash(world.token(right)), name: right, rights: [right], createdAtMs: 0, carried: {} };
    await ledger.create<Token>({ item: 'token', version: 1, ...named });
  }
  const as = async <T>(who: Player, work: () => Promise<T>): Promise<T> => {
    player = who;
    return work().finally(() => {
      player = undefined;
    });
  };
  let requests = 0;
  return {
    world,
    as,
    operate: async (method, path, right, body) => {
      requests += 1;
      const options = { token: world.token(right), headers: { 'idempotency-key': `request-${requests}` } };
      const answer = await as('Operator', () =>
        world.call('operator', method, path, { ...options, ...(body === undefined ? {} : { body }) }),
      );
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer;
    },
    submit: (id, ...destinations) => as('Intake', () => world.submit({ id, payload: { n: 1 }, destinations })),
    work: (ms = 1_000) => as('Receiver', () => world.run(ms)),
    tick: async () => void (await as('Reconciler', () => reconcile(world.ports, 60_000))),
    notes: () => ({
      Intake: [...notes.Intake],
      Receiver: [...notes.Receiver],
      Reconciler: [...notes.Reconciler],
      Operator: [...notes.Operator],
    }),
  };
};

const play = async (): Promise<Notes> => {
  const stage = await openStage();
  await deliveries(stage);
  await gates(stage);
  await decisions(stage);
  await redrives(stage);
  await strangers(stage);
  await keys(stage);
  await notices(stage);
  await looks(stage);
  return stage.notes();
};

const SETTINGS = { url: 'https://partner.example/hook', repeatSafe: true };

const deliveries = async ({ operate, submit, work, world, tick }: Stage): Promise<void> => {
  await operate('PUT', '/v1/destinations/partner', 'admin', SETTINGS);
  await operate('PUT', '/v1/destinations/strict', 'admin', { ...SETTINGS, repeatSafe: false, schedule: [] });
  await operate('PUT', '/v1/destinations/narrow', 'admin', { ...SETTINGS, concurrency: 1, ratePerSecond: 1 });
  await submit('e1', 'partner', 'narrow');
  await submit('e1', 'partner', 'narrow');
  await submit('e1', 'partner');
  world.sender.script(answered(500), answered(429, { retryAfter: ['60'] }));
  await submit('e2', 'partner', 'narrow');
  await work(120_000);
  // Their messages get lost: the sweep is to find them.
  await submit('e3', 'partner');
  world.queue.loseAll();
  await work(120_000);
  await tick();
  await work(60_000);
};

const gates = async ({ operate, submit, work, world, tick }: Stage): Promise<void> => {
  await operate('POST', '/v1/destinations/partner/pause', 'pause', { reason: 'they asked' });
  for (const id of ['p1', 'p2', 'p3']) await submit(id, 'partner');
  await work();
  await world.clock.advance(3_700_000);
  await tick();
  await work();
  await operate('POST', '/v1/destinations/partner/resume', 'pause', { reason: 'they are back' });
  await work(60_000);
  await operate('POST', '/v1/destinations/partner/test', 'pause', { reason: 'to be sure' });
  await operate('POST', '/v1/destinations/partner/prove', 'pause', { reason: 'is a repeat harmless?' });
  await work();
};

/** Five that may have arrived where a repeat is not safe: each is held for a person. */
const decisions = async ({ operate, submit, work, world }: Stage): Promise<void> => {
  for (const id of ['d1', 'd2', 'd3', 'd4', 'd5']) {
    world.sender.script(unanswered('timeout'));
    await submit(id, 'strict');
    await work();
  }
  const reason = { reason: 'they said so' };
  const found = { ...reason, evidence: 'their log' };
  await operate('POST', '/v1/events/d1/deliveries/strict/resolve', 'decide', { ...found, as: 'delivered' });
  await operate('POST', '/v1/events/d2/deliveries/strict/cancel', 'decide', reason);
  const again = { ...reason, acceptSecondEffect: true, grant: 1 };
  await operate('POST', '/v1/events/d3/deliveries/strict/redrive', 'resend', again);
  await work();
  await operate('POST', '/v1/events/d1/replay', 'resend', reason);
  await work();
};

const redrives = async ({ operate, submit, work, world }: Stage): Promise<void> => {
  await submit('dead', 'partner');
  world.queue.loseAll();
  const body = Buffer.from(JSON.stringify(deliverMessage('dead', 'partner')));
  world.deadLetters.add({ messageId: 'm-dead', body });
  world.deadLetters.add({ messageId: 'm-senseless', body: Buffer.from('?') });
  const orphan = { id: 'orphan', payload: { n: 1 }, destinations: ['partner'] };
  world.deadLetters.add({
    messageId: 'm-orphan',
    body: Buffer.from(JSON.stringify({ kind: 'event', format: 1, event: orphan })),
  });
  for (const source of ['quarantine', 'dead-letters']) {
    const wish = { source, limit: 10, why: 'they are back', acceptSecondEffect: true };
    const plan = await operate('POST', '/v1/redrives', 'resend', wish);
    const { operation } = JSON.parse(plan.text) as { operation: string };
    await operate('POST', `/v1/redrives/${operation}/run`, 'resend', { reason: 'the plan is right' });
    await work(300_000);
    await operate('GET', `/v1/redrives/${operation}`, 'view');
  }
};

const strangers = async ({ as, world, operate, work, submit }: Stage): Promise<void> => {
  await as('Receiver', () => world.push({ kind: 'deliver', format: 1 }));
  await operate('PUT', '/v1/destinations/open', 'admin', { ...SETTINGS, acceptFromQueue: true });
  const event = { id: 'from-queue', payload: { n: 1 }, destinations: ['open'] };
  await as('Receiver', () => world.push({ kind: 'event', format: 1, event }));
  await as('Receiver', () => world.push({ kind: 'event', format: 1, event: { ...event, payload: { n: 2 } } }));
  await submit('from-app', 'open');
  await work();
  await operate('DELETE', '/v1/destinations/open', 'admin', { reason: 'no longer wanted' });
  // A repeat of what was accepted is answered from the event itself: its destination can no longer be asked.
  await submit('from-app', 'open');
};

/** Each function that has something to tell, and the one that tells it. */
const notices = async ({ operate, submit, work, world, tick }: Stage): Promise<void> => {
  await operate('PUT', '/v1/destinations/ops', 'admin', { ...SETTINGS, notices: true });
  world.sender.script(answered(422));
  await submit('n1', 'partner');
  await work(60_000);
  if (world.sender.sends.every(({ body }) => !Buffer.from(body).includes('delivery-quarantined'))) {
    throw new Error('nobody was told');
  }
  await world.clock.advance(600_000);
  await tick();
  await work();
  await operate('PUT', '/v1/destinations/ops', 'admin', SETTINGS);
};

const keys = async ({ operate }: Stage): Promise<void> => {
  const reason = { reason: 'a new colleague' };
  await operate('POST', '/v1/tokens', 'admin', { ...reason, name: 'colleague', rights: ['view'] });
  await operate('GET', '/v1/tokens', 'admin');
  await operate('DELETE', '/v1/tokens/colleague', 'admin', reason);
  await operate('POST', '/v1/destinations/partner/rotate-secret', 'admin', reason);
};

const looks = async ({ operate }: Stage): Promise<void> => {
  const paths = [
    '/v1/events/e1',
    '/v1/events/e1/deliveries/partner',
    '/v1/events/e1/deliveries/partner/explain',
    ...['open', 'parked', 'quarantined'].map((name) => `/v1/deliveries?list=${name}`),
    '/v1/deliveries?list=recent&destination=partner',
    '/v1/destinations',
    '/v1/destinations/partner',
    '/v1/redrives',
    '/v1/stats',
  ];
  for (const path of paths) await operate('GET', path, 'view');
};
