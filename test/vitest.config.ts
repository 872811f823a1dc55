import { defineConfig } from 'vitest/config';

/**
 * The quick tier: everything that `npm test` runs, with nothing but Node installed.
 *
 * Files share a worker and its loaded modules, one after another, which spares a third of the computing. A file that
 * replaces a module (`vi.mock`) therefore has a name of its own and a worker of its own.
 */
const OWN_WORKER = 'test/**/*.isolated.test.ts';
const NEVER = ['test/**/*.ci.test.ts', 'test/tidy/fixtures/**'];

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    testTimeout: 20_000,
    // One more than the cores that are counted on: a good part of the time is spent in waiting.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: [OWN_WORKER, ...NEVER], isolate: false },
      },
      { extends: true, test: { name: 'own worker', include: [OWN_WORKER], exclude: NEVER } },
    ],
  },
});
