import { importGraph, isCode } from '../paths.ts';
import type { Rule } from '../rule.ts';
import { sources } from '../source.ts';

/** One finding for each group of files that import each other in a ring, at its first file. */
export const cycles: Rule = {
  name: 'cycles',
  promise: 'no files import each other in a ring',
  check: (files) => {
    const graph = importGraph(sources(files, isCode));
    const reported = new Set<string>();
    return [...graph.keys()].sort().flatMap((path) => {
      const ring = reported.has(path) ? undefined : shortestRing(graph, path);
      if (ring === undefined) return [];
      for (const member of ring) reported.add(member);
      const message = `import ring: ${[...ring, path].join(' -> ')}; move what both need into a file that imports neither`;
      return [{ path, line: 1, message }];
    });
  },
};

function shortestRing(graph: ReadonlyMap<string, ReadonlySet<string>>, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const next of graph.get(path) ?? []) {
      if (next === start) return trail(cameFrom, start, path);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, path);
      queue.push(next);
    }
  }
  return undefined;
}

function trail(cameFrom: ReadonlyMap<string, string>, start: string, end: string): string[] {
  const path = [end];
  for (let at: string | undefined = end; at !== undefined && at !== start; ) {
    at = cameFrom.get(at);
    if (at !== undefined) path.unshift(at);
  }
  return path;
}
