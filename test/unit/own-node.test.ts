import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** Goal: after an install by any npm, `node` in a script is the project's own one. Method: a made-up node_modules. */
const script = fileURLToPath(new URL('../../.ci/own-node.mjs', import.meta.url));
const name = `node-${process.platform}-${process.arch}`;
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'onceward-own-node-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const command = () => join(folder, 'node_modules/.bin/node');

function bring(packageName: string): void {
  mkdirSync(join(folder, `node_modules/${packageName}/bin`), { recursive: true });
  writeFileSync(join(folder, `node_modules/${packageName}/bin/node`), '#!/bin/sh\necho "own $*"\n');
}

function afterInstall(): void {
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

describe('after an install', () => {
  it('brings the command back that npm took away, ready to run', () => {
    bring(name);
    afterInstall();
    expect(spawnSync(command(), ['--version'], { encoding: 'utf8' }).stdout).toBe('own --version\n');
  });

  it('changes nothing when it runs again', () => {
    bring(name);
    afterInstall();
    afterInstall();
    expect(readlinkSync(command())).toBe(`../${name}/bin/node`);
  });

  it('leaves the command alone that npm has made', () => {
    bring(name);
    mkdirSync(join(folder, 'node_modules/.bin'));
    symlinkSync(script, command());
    afterInstall();
    expect(readlinkSync(command())).toBe(script);
  });

  it('does nothing on a machine for which the project brings no Node', () => {
    bring('node-plan9-vax');
    afterInstall();
    expect(existsSync(command())).toBe(false);
  });
});
