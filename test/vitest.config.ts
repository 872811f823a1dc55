import { defineConfig } from 'vitest/config';

/** The quick tier: everything that `npm test` runs, with nothing but Node installed. */
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.ci.test.ts', 'test/tidy/fixtures/**'],
    testTimeout: 20_000,
    maxWorkers: 2,
  },
});
