import { importGraph, isProduct, isTest } from '../paths.ts';
import type { ProjectFile } from '../project.ts';
import type { Rule } from '../rule.ts';
import { sources } from '../source.ts';

/**
 * Beyond the dead code that knip finds: a file of the product that only tests reach is dead as well. The one kind that
 * may live for tests is an in-memory twin of an adapter, which the contract suite holds against the real one.
 */
const TWIN = /^functions\/adapters\/(.*\/)?(twin|[a-z-]+-twin)\.ts$|^functions\/adapters\/(.*\/)?twin\//;
const ENTRY = /^functions\/.*\bhandler\.ts$/;
/** Scripts, the command's `bin` and the stack's `entry` name their files by path. */
const NAMES_ENTRIES = /^(package\.json|cdk\.json|infra\/aws\/.*\.ts)$/;

export const deadFiles: Rule = {
  name: 'dead-files',
  promise: 'every file of the product is reached from a handler, a script or the stack, not from tests alone',
  check: (files) => {
    const graph = importGraph(sources(files, (path) => !isTest(path)));
    const alive = new Set<string>();
    const visit = (path: string): void => {
      if (alive.has(path)) return;
      alive.add(path);
      for (const next of graph.get(path) ?? []) visit(next);
    };
    for (const path of graph.keys()) if (ENTRY.test(path) || TWIN.test(path)) visit(path);
    for (const path of namedPaths(files)) visit(path);
    return [...graph.keys()]
      .filter((path) => isProduct(path) && !alive.has(path))
      .map((path) => ({ path, line: 1, message: 'nothing of the product imports this file: use it or delete it' }));
  },
};

function namedPaths(files: readonly ProjectFile[]): string[] {
  return files
    .filter(({ path }) => NAMES_ENTRIES.test(path))
    .flatMap(({ text }) => [...text.matchAll(/\b(?:functions|infra)\/[\w./-]+\.ts\b/g)].map((match) => match[0]));
}
