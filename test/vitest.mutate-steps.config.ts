import { defineConfig } from 'vitest/config';

/** The tests that `npm run mutate -- test/mutation/steps.json` runs against each mutant of the steps: all in one process. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: [
      'test/unit/{decide*,places,redrive,redrive-crash,rescue}.test.ts',
      'test/e2e/{push,push-recheck,gates,sweep,drain,breaker,decisions,redrives}.test.ts',
    ],
    testTimeout: 60_000,
    maxWorkers: 1,
  },
});
