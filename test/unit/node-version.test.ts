import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

/** Goal: the README's commands work on a machine with an older Node, because npm finds the project's own one first. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const brought: Record<string, string> = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')).optionalDependencies;
const packageHere = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
/** A platform for which no package is brought along (a Mac, say) uses the Node of the machine. */
const isBrought = packageHere in brought && existsSync(`${root}/node_modules/${packageHere}`);

/** The version that a script started by npm sees, with no trace of the present script on the path. */
async function versionSeenByNpm(): Promise<string> {
  const outside = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const { stdout } = await promisify(execFile)('npm', ['exec', '--offline', '--call', 'node --version'], {
    cwd: root,
    env: { ...process.env, PATH: outside.join(delimiter) },
    shell: process.platform === 'win32',
  });
  return stdout.trim();
}

describe('the Node that runs the project', () => {
  it('is the one that the project brings along', () => {
    if (isBrought) {
      expect(process.version).toBe(`v${brought[packageHere]}`);
      expect(process.execPath).toContain(`node_modules${sep}${packageHere}${sep}`);
    }
    expect(Number(process.versions.node.split('.')[0])).toBeGreaterThanOrEqual(24);
  });

  it('is found by every npm script, whatever Node started npm', async () => {
    const expected = isBrought ? `v${brought[packageHere]}` : process.version;
    expect(await versionSeenByNpm()).toBe(expected);
  });

  it('is the same version on every platform', () => {
    expect([...new Set(Object.values(brought))]).toHaveLength(1);
  });
});
