import { defineConfig } from 'vitest/config';

const unit = (...names: readonly string[]): string[] => names.map((name) => `test/unit/${name}.test.ts`);

/**
 * The tests that `npm run mutate -- test/mutation/core.json` runs against each mutant of the core: those of one unit,
 * without any that measures time. What lives through them may still die in the properties, the simulator, the slow tier.
 */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: unit(
      '{machine,decide}*',
      '{acceptance,breaker,estimate,finding,fingerprint,gate,headers,ids,instant,journal}',
      '{doubt,judge,keys,keys-table,limits,look-after,message,outcome,phase,push-signature,retry-after}',
      '{schedule,signature,submission,target,trace,destination-input}',
    ),
    // The zone of a process cannot be changed in a thread, which is where the mutants run.
    testNamePattern: /^(?!.*would fail with the parsers at hand|.*zone of the machine)/,
    testTimeout: 60_000,
    maxWorkers: 1,
  },
});
