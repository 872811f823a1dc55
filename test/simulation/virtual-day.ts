/**
 * npm run virtual-day -- [--events 100000] [--hours 24]
 *
 * A day of a busy sender in virtual time: events come evenly to fifty destinations, ten of which are bad all day, each in
 * a way of its own. Then they are well again. Nothing may be lost, and the forty healthy ones must not notice.
 */
import { parseArgs } from 'node:util';
import { argumentsOf, wholeOption } from '../../infra/local/arguments.ts';
import { runDay } from './day.ts';

/** The bound of a healthy destination, from the 202 to the recorded success. */
const BOUND_MS = 5_000;

const { events, hours } = argumentsOf('npm run virtual-day -- [--events 100000] [--hours 24]', () => {
  const { values } = parseArgs({
    options: { events: { type: 'string', default: '100000' }, hours: { type: 'string', default: '24' } },
  });
  return { events: wholeOption('events', values.events, 1), hours: wholeOption('hours', values.hours, 1) };
});
const began = performance.now();
const day = await runDay(events, hours, (text) => console.info(text));
const at = (share: number): number => day.latenciesMs[Math.floor(share * (day.latenciesMs.length - 1))] ?? 0;
const { latenciesMs: _all, ...said } = day;
console.info(JSON.stringify(said, undefined, 2));
console.info(`healthy destinations, from the 202 to the recorded success: ${day.latenciesMs.length} deliveries,`);
console.info(`  median ${at(0.5)} ms, 99 of 100 within ${at(0.99)} ms, the slowest ${at(1)} ms (bound ${BOUND_MS} ms)`);
console.info(`${((performance.now() - began) / 1_000).toFixed(0)} s of real time`);
const isGood =
  day.lost + day.secondSuccesses + day.secondEffects + day.overdueAtDusk + day.bugs.length === 0 && at(1) <= BOUND_MS;
process.exitCode = isGood ? 0 : 1;
