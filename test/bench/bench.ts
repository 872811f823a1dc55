/**
 * `npm run bench -- NAME`: measures one thing and prints it. A benchmark says what it measured, on what, and how; it
 * exits with 1 where it holds itself to a bound and misses it.
 */
import { coldBench } from './cold.ts';

/** Prints its own report. False where a bound that it states is missed. */
type Bench = (options: readonly string[]) => Promise<boolean>;

const BENCHES: Readonly<Record<string, Bench>> = {
  cold: coldBench,
};

const [name = '', ...options] = process.argv.slice(2);
const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
if (bench === undefined) {
  console.error(`there is no benchmark "${name}": npm run bench -- ${Object.keys(BENCHES).join(' | ')}`);
  process.exitCode = 2;
} else {
  process.exitCode = (await bench(options)) ? 0 : 1;
}
