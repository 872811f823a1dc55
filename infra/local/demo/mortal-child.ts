/** The process behind `MortalWorld`: a local world with one deadly point, chosen by its arguments. */
import { silentTelemetry } from '../../../functions/adapters/telemetry.ts';
import type { Item } from '../../../functions/core/items.ts';
import type { Ledger } from '../../../functions/ports.ts';
import type { Receiver } from '../../../functions/receiver/run.ts';
import { openWorld } from '../world.ts';
import { demoWorldOptions } from './options.ts';

const [dataDir = '', token = '', transport = 'infrai', point = '-', destination = '-'] = process.argv.slice(2);

/** Nothing runs after this: no handler, no flush. */
const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
};

const deadly = (world: Receiver): Receiver => {
  if (point === 'after-answer') {
    const send: Receiver['sender']['send'] = async (request) => {
      const answer = await world.sender.send(request);
      return request.url.endsWith(`/partner/${destination}`) ? die() : answer;
    };
    return { ...world, sender: { ...world.sender, send } };
  }
  const isMark = (next: Item): boolean =>
    next.item === 'delivery' &&
    next.destination === destination &&
    next.status === 'claimed' &&
    next.claim.sendingAtMs !== undefined;
  const replace: Ledger['replace'] = (read, next) => (isMark(next as Item) ? die() : world.ledger.replace(read, next));
  return { ...world, ledger: { ...world.ledger, replace } };
};

const world = await openWorld({
  ...demoWorldOptions(token, silentTelemetry, transport === 'sqs' ? 'sqs' : 'infrai'),
  dataDir,
  ...(point === '-' ? {} : { reshape: deadly }),
});
console.log(world.url);
process.once('SIGTERM', () => {
  void world.close().then(() => process.exit(0));
});
