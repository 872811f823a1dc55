import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { whatIsMissing } from './dynamodb-local.ts';

/**
 * `npm run test:conformance`: the contract tests against the official DynamoDB Local. It installs nothing; where
 * something is missing it says what, and how to get it. Further arguments go to vitest.
 */
const missing = await whatIsMissing();
if (missing === undefined) {
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
  const config = fileURLToPath(new URL('../vitest.ci.config.ts', import.meta.url));
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', '--config', config, 'test/contract', ...process.argv.slice(2)],
    { stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
} else {
  console.error(missing);
  process.exitCode = 1;
}
