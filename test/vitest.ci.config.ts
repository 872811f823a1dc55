import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** What measures time, or takes both cores by itself, runs after all others and one file after another. */
const ALONE = [
  'test/e2e/console-load.ci.test.ts',
  'test/e2e/demo.ci.test.ts',
  'test/e2e/hanging-destination.ci.test.ts',
  'test/exhaustive/two-workers.ci.test.ts',
  'test/infra/cold.ci.test.ts',
  'test/infra/synth.ci.test.ts',
  'test/simulation/mistakes/mistakes.ci.test.ts',
  'test/simulation/simulate.ci.test.ts',
];

/** The slow tier, run by .ci/run: the official DynamoDB Local (Java 17) and long simulations. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    testTimeout: 300_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'side by side',
          include: ['test/**/*.ci.test.ts'],
          exclude: ['test/tidy/fixtures/**', ...ALONE],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
