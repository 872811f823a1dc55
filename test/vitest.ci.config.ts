import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The slow tier, run by .ci/run: the official DynamoDB Local (Java 17) and long simulations. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.ci.test.ts'],
    exclude: ['test/tidy/fixtures/**'],
    testTimeout: 300_000,
    hookTimeout: 60_000,
    // One after another: some measure time, and the others take both cores by themselves.
    fileParallelism: false,
  },
});
