import { posix } from 'node:path';
import type { Source } from './source.ts';

/** The path that a relative import means, from the top of the project; undefined for a package. */
export function target(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.normalize(posix.join(posix.dirname(from), specifier)) : undefined;
}

export const inFolder = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);
export const isTest = (path: string): boolean => inFolder(path, 'test');
export const isDeployed = (path: string): boolean => inFolder(path, 'functions');
export const isProduct = (path: string): boolean => isDeployed(path) || inFolder(path, 'infra');
export const isCode = (path: string): boolean => isProduct(path) || isTest(path);

/** Which file imports which, within the given sources. */
export function importGraph(all: readonly Source[]): Map<string, Set<string>> {
  const known = new Set(all.map((source) => source.file.path));
  const edges = (source: Source) =>
    source.imports
      .flatMap(({ specifier }) => target(source.file.path, specifier) ?? [])
      .filter((path) => known.has(path));
  return new Map(all.map((source) => [source.file.path, new Set(edges(source))]));
}
