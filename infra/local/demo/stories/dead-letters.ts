/**
 * A dead-letter queue in which all kinds lie side by side: a plan that says what they are and changes nothing, a run
 * that acts on each by its kind, and a second run that finds nothing to do. The ticker stands still meanwhile, so that
 * whatever moves is moved by the run.
 */
import { systemClock } from '../../../../functions/adapters/system.ts';
import type { Receiver } from '../../../../functions/receiver/run.ts';
import type { LocalQueue } from '../../transport.ts';
import type { Stage } from '../stage.ts';
import { check, type Story, told } from '../story.ts';

export interface Mix {
  readonly delivered: number;
  readonly overBudget: number;
  readonly lost: number;
  readonly events: number;
  readonly poison: number;
  readonly foreign: number;
}

const GOOD = 'dead-good';
const BAD = 'dead-bad';
const SUBMITS_AT_ONCE = 20;

/** The queue takes no first message of the events that the story wants to lose. */
export const losingPublishes = (world: Receiver): Receiver => ({
  ...world,
  queue: {
    limits: world.queue.limits,
    publish: (publication) =>
      publication.body.includes('"lost-') && publication.body.includes('"deliver"') && !recovering.on
        ? Promise.resolve({ kind: 'failed', code: 'unavailable', detail: 'the demo said so' })
        : world.queue.publish(publication),
  },
});

/** Once the dead letters lie there, messages of lost deliveries get through again. */
const recovering = { on: false };

const ids = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

const deliver = (event: string, destination: string): string =>
  JSON.stringify({ kind: 'deliver', format: 1, event, destination });

const submitAll = async (stage: Stage, all: readonly string[], destination: string): Promise<void> => {
  const left = [...all];
  const worker = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) await stage.submit(id, destination);
  };
  await Promise.all(Array.from({ length: SUBMITS_AT_ONCE }, worker));
};

/** The name keeps the events of two such stories in one world apart: a delivery that ended once is dropped, always. */
const fill = async (stage: Stage, queue: LocalQueue, name: string, mix: Mix): Promise<void> => {
  await stage.destination(GOOD, { repeatSafe: true, acceptFromQueue: true, timeoutMs: 10_000 });
  await stage.destination(BAD, { repeatSafe: true, schedule: [], timeoutMs: 10_000 });
  stage.partner.script(BAD, [{ status: 500 }]);
  const done = ids(`done-${name}`, mix.delivered);
  const spent = ids(`spent-${name}`, mix.overBudget);
  const lost = ids(`lost-${name}`, mix.lost);
  await submitAll(stage, done, GOOD);
  await submitAll(stage, spent, BAD);
  await Promise.all(done.map((id) => stage.ended(id, GOOD)));
  await Promise.all(spent.map((id) => stage.ended(id, BAD)));
  await submitAll(stage, lost, GOOD);
  recovering.on = true;
  for (const id of done) await queue.deadLetter(deliver(id, GOOD));
  for (const id of spent) await queue.deadLetter(deliver(id, BAD));
  for (const id of lost) await queue.deadLetter(deliver(id, GOOD));
  for (const id of ids(`whole-${name}`, mix.events)) {
    const event = { id, payload: { whole: id }, destinations: [GOOD] };
    await queue.deadLetter(JSON.stringify({ kind: 'event', format: 1, event }));
  }
  for (let n = 0; n < mix.poison; n += 1) await queue.deadLetter(`{"kind":"deliver","format":1,"event":${n}}`);
  for (let n = 0; n < mix.foreign; n += 1) await queue.deadLetter(JSON.stringify({ hello: n }));
};

interface Shown {
  readonly operation: string;
  readonly state: string;
  readonly found: Readonly<Record<string, number>>;
  readonly progress: Readonly<Record<string, number>>;
  readonly mismatch?: unknown;
}

const ended = async (stage: Stage, operation: string): Promise<Shown> => {
  for (;;) {
    const { body } = await stage.call('GET', `/v1/redrives/${operation}`);
    const shown = body as Shown;
    if (shown.state !== 'running' && shown.state !== 'planned') return shown;
    await systemClock.sleep(100);
  }
};

const plan = async (stage: Stage, limit: number): Promise<Shown> =>
  (await stage.decide('/v1/redrives', {
    source: 'dead-letters',
    limit,
    why: 'the demo clears its dead letters',
  })) as Shown;

export const deadLetters = (title: string, name: string, mix: Mix, queue: () => LocalQueue): Story => ({
  title,
  async play(stage) {
    recovering.on = false;
    await fill(stage, queue(), name, mix);
    const mailbox = stage.partner.mailbox(GOOD);
    const before = mailbox.requestCount;
    const total = Object.values(mix).reduce((sum, count) => sum + count, 0);
    const planned = await plan(stage, total);
    const afterPlan = mailbox.requestCount;
    await stage.decide(`/v1/redrives/${planned.operation}/run`, { reason: 'the plan is as expected' });
    const run = await ended(stage, planned.operation);
    const sent = mailbox.requestCount - before;
    const again = await stage.call(
      'POST',
      `/v1/redrives/${planned.operation}/run`,
      { reason: 'once more' },
      {
        'idempotency-key': `demo-second-run-${name}`,
      },
    );
    const { found, progress } = run;
    return told(
      mailbox,
      `found ${Object.entries(planned.found)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', ')}`,
      check('the plan says what lies there', matches(planned.found, mix)),
      check('the plan changed nothing', afterPlan === before),
      check('the run found what the plan had found', JSON.stringify(found) === JSON.stringify(planned.found)),
      check('the run ends by itself', run.state === 'done'),
      check('its counts agree with those of the queue', run.mismatch === undefined),
      check('it reports what was delivered', progress['delivered'] === mix.lost),
      check("the partner's log agrees", sent === mix.lost + mix.events && mailbox.effectCount === mailbox.requestCount),
      check('a second run does nothing', again.status === 200 && mailbox.requestCount === before + sent),
    );
  },
});

const matches = (found: Readonly<Record<string, number>>, mix: Mix): boolean =>
  (found['drop'] ?? 0) === mix.delivered &&
  (found['over-budget'] ?? 0) === mix.overBudget &&
  (found['redrive'] ?? 0) === mix.lost &&
  (found['accept'] ?? 0) === mix.events &&
  (found['poison'] ?? 0) === mix.poison &&
  (found['foreign'] ?? 0) === mix.foreign;
