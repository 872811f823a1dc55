/**
 * One world that is killed again and again, and at last left alone.
 *
 *   round: start -> clients ask, the partner misbehaves -> SIGKILL -> the next round, on the same data
 *   quiet: start, three hours later by the clock -> every destination open, every partner well -> nothing open is left
 *          -> SIGTERM -> the table is read
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createLedgerClient } from '../../../functions/adapters/ledger/client.ts';
import { createDynamoLedger } from '../../../functions/adapters/ledger/dynamodb.ts';
import { TABLE_NAME } from '../../../functions/adapters/ledger/schema.ts';
import { systemClock } from '../../../functions/adapters/system.ts';
import type { EventId } from '../../../functions/core/ids.ts';
import type { Delivery } from '../../../functions/core/model.ts';
import { Stage } from '../../../infra/local/demo/stage.ts';
import { openEmbeddedDynamo } from '../../../infra/local/dynamodb/embedded-dynamodb.ts';
import type { ReceivedRequest } from '../../../infra/local/partner/mailbox.ts';
import { type RunningPartner, startPartner } from '../../../infra/local/partner/start.ts';
import { disagreements } from '../../support/dynamodb-agreement.ts';
import type { ChildOptions } from './child.ts';
import { Clients } from './clients.ts';
import type { Evidence } from './judge.ts';
import { linesOf } from './order.ts';
import { partiesOf, type Round, roundOf } from './plan.ts';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
const TOKEN = 'kills-admin-token-0123456789';
/** A round that should have killed itself, and has not come so far. */
const ALIVE_MS_MAX = 1_800;
/** Longer than any lease, any step of a sweep, any hour of a parked row. */
const QUIET_AHEAD_MS = 3 * 3_600_000;
const QUIET_MS_MAX = 30_000;
const QUIET_LIVES_MAX = 3;
const LOOK_MS = 200;

interface Started {
  readonly child: ChildProcess;
  /** Its address, or undefined if it died before it was up. */
  readonly url: Promise<string | undefined>;
  readonly gone: Promise<void>;
}

const start = (options: ChildOptions): Started => {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Beside the data: the first life fills it when it ends, and all others start in half of the time.
    env: { ...process.env, NODE_COMPILE_CACHE: `${options.dataDir}-compiled` },
  });
  const gone = once(child, 'close').then(() => {});
  const up = async (): Promise<string | undefined> => {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('http://')) return line;
    }
    return undefined;
  };
  return { child, url: up(), gone };
};

class Killed {
  readonly received: ReceivedRequest[] = [];
  kills = 0;
  #aheadMs = 0;
  readonly #seed: number;
  readonly #room: string;
  readonly #partner: RunningPartner;
  readonly #stage: Stage;
  readonly clients: Clients;

  constructor(seed: number, room: string, partner: RunningPartner) {
    this.#seed = seed;
    this.#room = room;
    this.#partner = partner;
    this.#stage = new Stage('http://127.0.0.1:1', TOKEN, partner, `http://127.0.0.1:${partner.port}`);
    this.clients = new Clients(this.#stage);
    partner.onRequest((request) => void this.received.push(request));
  }

  get dataDir(): string {
    return join(this.#room, 'data');
  }
  get orderFile(): string {
    return join(this.#room, 'order');
  }

  #start(dieAtCall: number, dieBefore: boolean, chaos: boolean): Started {
    const { dataDir, orderFile } = this;
    const seed = this.#seed + this.kills;
    return start({ dataDir, orderFile, token: TOKEN, seed, dieAtCall, dieBefore, aheadMs: this.#aheadMs, chaos });
  }

  /** The destinations, in a life without a kill: without them there is nothing to promise. */
  async prepare(): Promise<void> {
    const world = this.#start(0, false, false);
    this.#stage.url = (await world.url) ?? '';
    for (const { name, settings, keys, steps } of partiesOf(this.#seed)) {
      await this.#stage.destination(name, settings);
      this.#partner.script(name, steps, { keys });
    }
    await this.#end(world);
  }

  async round(round: Round): Promise<void> {
    const { moment } = round;
    this.#aheadMs += round.aheadMs;
    const atCall = moment.kind === 'at-call';
    const world = this.#start(atCall ? moment.call : 0, atCall && moment.before, true);
    if (moment.kind === 'starting') await systemClock.sleep(moment.afterMs);
    else await this.#live(world, round, atCall ? ALIVE_MS_MAX : moment.afterMs);
    world.child.kill('SIGKILL');
    await world.gone;
    if (world.child.signalCode !== 'SIGKILL') throw new Error(`a world ended by itself: ${world.child.exitCode}`);
    this.kills += 1;
  }

  async #live(world: Started, round: Round, aliveMs: number): Promise<void> {
    const url = await world.url;
    if (url === undefined) return;
    this.#stage.url = url;
    this.clients.begin(round);
    await Promise.race([world.gone, systemClock.sleep(aliveMs)]);
  }

  /**
   * Faults are over, but for a machine that is slow: a message that it loses by a time-out waits for a sweep like any
   * other, so there is more than one such life. What is still open behind the last is open for ever.
   */
  async quiet(): Promise<void> {
    for (const { name } of partiesOf(this.#seed)) this.#partner.script(name, [{ status: 200 }]);
    for (let life = 1; life <= QUIET_LIVES_MAX; life += 1) {
      this.#aheadMs += QUIET_AHEAD_MS;
      const world = this.#start(0, false, false);
      this.#stage.url = (await world.url) ?? '';
      await this.clients.settled();
      // By a name of its own: on a slow machine time-outs may have paused it since the life before.
      const reason = { reason: 'all is well' };
      await this.clients.untilAnswered('POST', '/v1/destinations/gated/resume', reason, `all-is-well-${life}`);
      const isOver = await this.#untilNothingIsOpen();
      if (!isOver) await this.#tellWhy(life);
      if (isOver || life === QUIET_LIVES_MAX) await this.clients.stop();
      await this.#end(world);
      if (isOver) return;
    }
  }

  /** What a person would look at: the gates, and what is open. */
  async #tellWhy(life: number): Promise<void> {
    for (const path of ['/v1/destinations', '/v1/deliveries?list=open&limit=3']) {
      const { body } = (await this.clients.untilAnswered('GET', path)) ?? {};
      console.error(`seed ${this.#seed}, quiet life ${life}, open behind ${path}: ${JSON.stringify(body)}`);
    }
  }

  /** False if for long nothing has happened, and something is open still. */
  async #untilNothingIsOpen(): Promise<boolean> {
    let seen = '';
    for (let lastMs = 0; ; ) {
      const { body } = (await this.clients.untilAnswered('GET', '/v1/stats')) ?? {};
      const { open } = (body ?? {}) as { open?: number };
      if (open === 0) return true;
      const now = `${open} ${this.received.length}`;
      if (now !== seen) lastMs = systemClock.nowMs() + QUIET_MS_MAX;
      seen = now;
      if (systemClock.nowMs() > lastMs) return false;
      await systemClock.sleep(LOOK_MS);
    }
  }

  async #end(world: Started): Promise<void> {
    world.child.kill('SIGTERM');
    await world.gone;
    if (world.child.exitCode !== 0) throw new Error(`a world did not end cleanly: ${world.child.exitCode}`);
  }
}

const readTable = async (dataDir: string, events: readonly string[]) => {
  const engine = await openEmbeddedDynamo({ path: dataDir });
  const client = createLedgerClient({ requestHandler: engine.requestHandler });
  try {
    const ledger = createDynamoLedger({ client, table: TABLE_NAME });
    const rows: Delivery[] = [];
    for (const event of new Set(events)) {
      const items = await ledger.loadEvent(event as EventId);
      rows.push(...items.filter((item) => item.item === 'delivery'));
    }
    return { rows, apart: await disagreements(engine.client(), TABLE_NAME) };
  } finally {
    client.destroy();
    await engine.close();
  }
};

/** Everything that was seen of one world from outside, for the judge. */
export const playKills = async (seed: number, kills: number): Promise<Evidence> => {
  const room = await mkdtemp(join(tmpdir(), 'onceward-kills-'));
  const partner = await startPartner({ clock: systemClock });
  try {
    const killed = new Killed(seed, room, partner);
    await writeFile(killed.orderFile, '');
    await killed.prepare();
    const rounds = Array.from({ length: kills }, (_, nth) => roundOf(seed, nth));
    for (const round of rounds) await killed.round(round);
    await killed.quiet();
    const { promised, asked, shown } = killed.clients;
    const submitted = rounds.flatMap(({ events }) => events.map(({ id }) => id));
    const { rows, apart } = await readTable(killed.dataDir, submitted);
    const order = linesOf(await readFile(killed.orderFile, 'utf8'));
    const unsafe = partiesOf(seed).flatMap(({ name, settings }) => (settings.repeatSafe ? [] : [name]));
    return { promised, asked, shown, received: killed.received, rows, apart, order, unsafe, kills: killed.kills };
  } finally {
    await partner.close();
    await rm(room, { recursive: true, force: true });
  }
};
