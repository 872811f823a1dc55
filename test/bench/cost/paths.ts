/** Each path through the product, counted by itself in a world of its own destinations. */
import { randomBytes } from 'node:crypto';
import type { Answer } from '../../../functions/core/outcome.ts';
import { answered, type Reaction } from '../../support/world-ports.ts';
import { type Spent, together } from './meter.ts';
import { type CountedWorld, destinationNamed, eventNamed } from './ours.ts';

export interface Path {
  readonly name: string;
  readonly spent: Spent;
  /** Of how many deliveries. */
  readonly deliveries: number;
}

const ATTEMPTS = 8;
/** What a web server says by itself, the same each time. */
export const FAILED: Answer = answered(500, {
  excerpt:
    '<html>\r\n<head><title>500 Internal Server Error</title></head>\r\n<body>\r\n<center><h1>500 Internal Server Error' +
    '</h1></center>\r\n<hr><center>nginx/1.24.0</center>\r\n</body>\r\n</html>\r\n',
});
/** As much as is kept of an answer, of letters by chance, others each time: nothing of it can be packed. */
const failedAtLength = async (): Promise<Answer> => answered(500, { excerpt: randomBytes(384).toString('base64') });
const OK = answered(200);

/** With a destination of its own, whose settings cost nothing here. */
const within = async (
  { world, meter }: CountedWorld,
  name: string,
  settings: Readonly<Record<string, unknown>>,
  answer: Reaction,
): Promise<void> => {
  const made = await world.destination(destinationNamed(name), settings);
  if (made.status >= 300) throw new Error(`destination ${name}: ${made.text}`);
  world.sender.always(answer);
  meter.take();
};

/** Accepted and delivered at the first attempt: the accept, then the push. */
export const firstAttempt = async (
  counted: CountedWorld,
  name: string,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly accept: Spent; readonly deliver: Spent }> => {
  await within(counted, name, settings, OK);
  // The signing secret is read once a process and destination, and the first delivery would have to bear it.
  await counted.accept(`${name}-before`, name);
  await counted.pushNext();
  counted.meter.take();
  await counted.accept(name, name);
  const accept = counted.meter.take();
  await counted.pushNext();
  const deliver = counted.meter.take();
  await expectStatus(counted, name, 'delivered');
  return { accept, deliver };
};

const expectStatus = async (counted: CountedWorld, name: string, status: string, to = name): Promise<void> => {
  const row = await counted.row(name, to);
  counted.meter.take();
  if (row.status !== status) throw new Error(`the delivery ${name} is ${row.status}, and should be ${status}`);
};

/** Behind a first attempt of that name. */
export const duplicatePush = async ({ world, meter }: CountedWorld, name: string): Promise<Spent> => {
  meter.take();
  await world.deliver(eventNamed(name), destinationNamed(name));
  return meter.take();
};

/** Its whole life, from the accept to the quarantine, the sweeps of its long waits included. */
export const eightFailures = async (counted: CountedWorld, name: string, answer: Reaction): Promise<Spent> => {
  await within(counted, name, {}, answer);
  await counted.accept(name, name);
  const row = await counted.live(name, name);
  const spent = counted.meter.take();
  if (row.status !== 'quarantined' || row.attempts !== ATTEMPTS)
    throw new Error(`${row.attempts} attempts, ${row.status}`);
  return spent;
};

/** What one failed attempt adds to a delivery that succeeds with the next one. */
const oneFailure = async (counted: CountedWorld): Promise<Spent> => {
  await within(counted, 'one-failure', {}, OK);
  counted.world.sender.script(FAILED);
  await counted.accept('one-failure', 'one-failure');
  counted.meter.take();
  await counted.pushNext();
  const failed = counted.meter.take();
  await counted.pushNext();
  await expectStatus(counted, 'one-failure', 'delivered');
  return failed;
};

const quarantine = async (counted: CountedWorld): Promise<Spent> => {
  await within(counted, 'quarantine', {}, answered(422));
  await counted.accept('quarantine', 'quarantine');
  counted.meter.take();
  await counted.pushNext();
  const spent = counted.meter.take();
  await expectStatus(counted, 'quarantine', 'quarantined');
  return spent;
};

/** By a person, from the quarantine to the success of the next attempt. */
const redrive = async (counted: CountedWorld): Promise<Spent> => {
  const { world, meter } = counted;
  world.sender.always(OK);
  const path = `/v1/events/${eventNamed('quarantine')}/deliveries/${destinationNamed('quarantine')}/redrive`;
  const headers = { 'idempotency-key': 'd'.repeat(36) };
  meter.take();
  const body = { reason: 'they have mended it' };
  const answer = await world.call('operator', 'POST', path, { token: world.token('resend'), body, headers });
  if (answer.status >= 300) throw new Error(`redrive: ${answer.text}`);
  await counted.pushNext();
  const spent = meter.take();
  await expectStatus(counted, 'quarantine', 'delivered');
  return spent;
};

/** What a rate adds: a slot of its own, once, for a delivery that comes when the second is full. */
const deferral = async (counted: CountedWorld): Promise<Spent> => {
  const before = ['rate-1', 'rate-2', 'rate-3'];
  await within(counted, 'rate', { ratePerSecond: 1 }, OK);
  for (const event of before) await counted.accept(event, 'rate');
  await counted.accept('rate', 'rate');
  for (const _ of before) await counted.pushNext();
  counted.meter.take();
  await counted.pushNext();
  const spent = counted.meter.take();
  await expectStatus(counted, 'rate', 'pending');
  while (await counted.pushNext());
  await expectStatus(counted, 'rate', 'delivered');
  return spent;
};

/** What a pause adds: parked by the push, brought out by the drain. */
const parking = async (counted: CountedWorld): Promise<Spent> => {
  const { world, meter } = counted;
  await within(counted, 'pause', {}, OK);
  await counted.accept('pause', 'pause');
  const decide = async (verb: 'pause' | 'resume'): Promise<void> => {
    const headers = { 'idempotency-key': `${verb}-of-the-bench` };
    const options = { token: world.token('pause'), body: { reason: 'a bench' }, headers };
    const answer = await world.call(
      'operator',
      'POST',
      `/v1/destinations/${destinationNamed('pause')}/${verb}`,
      options,
    );
    if (answer.status >= 300) throw new Error(`${verb}: ${answer.text}`);
  };
  await decide('pause');
  meter.take();
  await counted.pushNext();
  const parked = meter.take();
  await decide('resume');
  meter.take();
  while (await counted.pushNext());
  const drained = meter.take();
  await expectStatus(counted, 'pause', 'delivered');
  return together([parked, drained]);
};

const fanOut = async (counted: CountedWorld): Promise<Spent> => {
  const names = Array.from({ length: 10 }, (_, n) => `fan-${n}`);
  for (const name of names) await within(counted, name, {}, OK);
  await counted.accept('fan-out', ...names);
  while (await counted.pushNext());
  const spent = counted.meter.take();
  for (const name of names) await expectStatus(counted, 'fan-out', 'delivered', name);
  return spent;
};

export const ourPaths = async (counted: CountedWorld): Promise<readonly Path[]> => {
  const { accept, deliver } = await firstAttempt(counted, 'first');
  const duplicate = await duplicatePush(counted, 'first');
  const unsafe = await firstAttempt(counted, 'unsafe', { repeatSafe: false });
  const one = (name: string, spent: Spent): Path => ({ name, spent, deliveries: 1 });
  return [
    one('accept', accept),
    one('first attempt, delivered', deliver),
    one('accept and first attempt', together([accept, deliver])),
    one('the same where a repeat is not safe', together([unsafe.accept, unsafe.deliver])),
    one('duplicate push', duplicate),
    one('one failed attempt more', await oneFailure(counted)),
    one('eight failing attempts, a whole life', await eightFailures(counted, 'failing', FAILED)),
    one('the same, 512 bytes by chance in each answer', await eightFailures(counted, 'failing-long', failedAtLength)),
    one('rejected at the first attempt (push alone)', await quarantine(counted)),
    one('redriven by a person and delivered', await redrive(counted)),
    one('deferral by a rate (added)', await deferral(counted)),
    one('parked and drained (with its attempt)', await parking(counted)),
    { name: 'event for ten destinations, delivered', spent: await fanOut(counted), deliveries: 10 },
  ];
};
