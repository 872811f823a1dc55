import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One file of the project: its path from the top with forward slashes, and its text ('' for a binary file). */
export type ProjectFile = { readonly path: string; readonly text: string };

const NOT_OURS = new Set(['node_modules', '.git', '.onceward', 'coverage', 'cdk.out', 'dist']);

/** All files below a folder, for a tree that git does not know: a fixture, or an unpacked archive. */
export function readTree(root: string): ProjectFile[] {
  const walk = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (NOT_OURS.has(entry.name)) return [];
      return entry.isDirectory() ? walk(path) : [path];
    });
  return walk('').map((path) => read(root, path));
}

/** What git would commit: tracked files and new ones that no ignore rule covers, without the checker's own fixtures. */
export function readProject(root: string): ProjectFile[] {
  const files = listed(root)?.map((path) => read(root, path)) ?? readTree(root);
  return files.filter((file) => !file.path.startsWith('test/tidy/fixtures/'));
}

/** Undefined where there is no git, no repository, or one that git refuses to read: the folders then say it as well. */
function listed(root: string): string[] | undefined {
  const { status, stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) return undefined;
  const paths = new Set(stdout.split('\0').filter((path) => path !== ''));
  return [...paths].filter((path) => existsSync(join(root, path))).sort();
}

function read(root: string, path: string): ProjectFile {
  const bytes = readFileSync(join(root, path));
  return { path, text: bytes.includes(0) ? '' : bytes.toString('utf8') };
}
