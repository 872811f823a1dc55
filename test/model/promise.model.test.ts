/** Any thirty steps of clients, queue, partner, people and crashes: the product keeps what the model promises. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../functions/ports.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import { BREAKAGES } from '../../infra/local/demo/breakages.ts';
import { anySteps, Broken, untilRest } from './commands.ts';
import { nothingYet } from './promise.ts';
import { Real } from './real.ts';

const SEED = 20_261_129;

const promise = (reshape?: (ports: Receiver) => Receiver) =>
  fc.asyncProperty(anySteps, async (steps) => {
    const model = nothingYet();
    const real = new Real(reshape);
    await real.open();
    await fc.asyncModelRun(() => ({ model, real }), steps);
    const left = await untilRest(model, real);
    if (left.length > 0) throw new Broken(left.join('; '));
  });

const lastWriteWins = (ports: Receiver): Receiver => {
  const replace: Ledger['replace'] = async (read, next) => {
    const written = await ports.ledger.replace(read, next);
    const { present } = written.kind === 'refused' ? written : { present: undefined };
    if (present?.kind !== 'found') return written;
    const version = present.item.version;
    return ports.ledger.replace(present.item as unknown as typeof read, { ...next, version: version + 1 });
  };
  return { ...ports, ledger: { ...ports.ledger, replace } };
};

/** Whatever is paused stays open for the receiver. */
const blindToPauses = (ports: Receiver): Receiver => ({
  ...ports,
  ledger: {
    ...ports.ledger,
    loadDestination: async (id) => ({ ...(await ports.ledger.loadDestination(id)), gate: { kind: 'absent' } }),
  },
});

/** The index shows nothing: no sweep finds anything. */
const blindSweeps = (ports: Receiver): Receiver => ({ ...ports, pages: { ...ports.pages, due: async () => [] } });

describe('the promise', () => {
  it('is kept, whatever happens in whatever order', { timeout: 60_000 }, async () => {
    await fc.assert(promise(), { seed: SEED, numRuns: 40 });
  });

  it.each([
    ['under a key of its own for every attempt', BREAKAGES['fresh-keys'], 'another key or body'],
    ['when a lost answer counts as not sent', BREAKAGES['doubt-forgotten'], 'may have arrived, and is sent again'],
    ['when the gate is not looked at', blindToPauses, 'its destination is paused'],
    ['when no sweep finds anything', blindSweeps, 'for ever'],
  ])('is broken %s', { timeout: 60_000 }, async (_how, reshape, says) => {
    const { failed, errorInstance } = await fc.check(promise(reshape), {
      seed: SEED,
      numRuns: 200,
      endOnFailure: true,
    });
    expect(failed).toBe(true);
    expect(String(errorInstance)).toContain(says);
  });
});

describe('rivals', () => {
  /** Three pushes of one delivery and a decision about it, every request to ledger and partner in an order of its own. */
  const race = (reshape: (ports: Receiver) => Receiver = (ports) => ports) =>
    fc.asyncProperty(fc.scheduler(), fc.constantFrom('cancel', 'pause', 'none'), async (scheduler, person) => {
      let racing = false;
      const inTurn =
        <Args extends readonly unknown[], Result>(name: string, call: (...args: Args) => Promise<Result>) =>
        async (...args: Args): Promise<Result> => {
          if (racing) await scheduler.schedule(Promise.resolve(), name);
          return call(...args);
        };
      const real = new Real((plain) => {
        const ports = reshape(plain);
        const { ledger, sender } = ports;
        return {
          ...ports,
          ledger: {
            ...ledger,
            load: inTurn('load', (ref) => ledger.load(ref)) as Ledger['load'],
            loadDestination: inTurn('load destination', (id) => ledger.loadDestination(id)),
            replace: inTurn('replace', (read, next) => ledger.replace(read, next)) as Ledger['replace'],
          },
          sender: { ...sender, send: inTurn('send', (request) => sender.send(request)) },
        };
      });
      const { world } = real;
      await real.open();
      await world.submit({ id: 'e1', payload: { id: 'e1' }, destinations: ['unsafe'] });
      racing = true;
      const pushes = [1, 2, 3].map(() => world.deliver('e1', 'unsafe'));
      const path = person === 'pause' ? '/v1/destinations/unsafe/pause' : '/v1/events/e1/deliveries/unsafe/cancel';
      const decided =
        person === 'none'
          ? undefined
          : world.call('operator', 'POST', path, {
              token: world.token(person === 'pause' ? 'pause' : 'decide'),
              headers: { 'idempotency-key': 'r1' },
              body: { reason: 'so' },
            });
      const all = Promise.all([...pushes, ...(decided ? [decided] : [])]);
      await scheduler.waitFor(all);
      const row = await world.row('e1', 'unsafe');
      const sends = world.sender.sends.length;
      const ends = new Set((await all).map(({ status }) => status));
      if (sends > 1) throw new Broken(`sent ${sends} times`);
      if ([...ends].some((status) => status >= 500)) throw new Broken(`answered ${[...ends]}`);
      if (sends === 1 && row.status !== 'delivered') throw new Broken(`sent, and ${row.status}`);
      if (sends === 0 && row.status === 'delivered') throw new Broken('delivered, and not sent');
    });

  it('send once at most, and the row says what happened', { timeout: 60_000 }, async () => {
    await fc.assert(race(), { seed: SEED, numRuns: 120 });
  });

  it('send twice where the last write wins', { timeout: 60_000 }, async () => {
    const { failed, errorInstance } = await fc.check(race(lastWriteWins), {
      seed: SEED,
      numRuns: 400,
      endOnFailure: true,
    });
    expect(failed).toBe(true);
    expect(String(errorInstance)).toMatch(/sent 2 times|sent 3 times|sent, and/);
  });
});
