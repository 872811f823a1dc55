import { inFolder, isCode } from '../paths.ts';
import type { Finding, Rule } from '../rule.ts';
import { lineOf, sources, walk } from '../source.ts';

const VAGUE = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'misc']);
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/** Words of queues in general. Here they would blur the words that this project gives a meaning. */
const VAGUE_NOUNS: ReadonlyMap<string, string> = new Map([
  ['job', 'delivery (the duty) or attempt (one request)'],
  ['task', 'delivery (the duty) or attempt (one request)'],
  ['lock', 'claim (of a delivery) or lease (its time)'],
  ['endpoint', 'destination'],
]);

export const fileNames: Rule = {
  name: 'file-names',
  promise: 'a file is named in kebab-case after what it holds: no utils, helpers, common, misc, and no index.ts',
  check: (files) =>
    files
      .filter(({ path }) => isCode(path))
      .flatMap(({ path }) => badName(path).map((message) => ({ path, line: 1, message }))),
};

export const noDefaultExports: Rule = {
  name: 'no-default-exports',
  promise: 'an export has one name everywhere; only a config file has a default export, for its tool wants one',
  check: (files) => {
    const found: Finding[] = [];
    for (const source of sources(files, (path) => isCode(path) && !/\.config\.(ts|mjs)$/.test(path))) {
      walk(source, (node) => {
        if (node.type !== 'ExportDefaultDeclaration') return;
        const message = 'export it by name, and import it by that name';
        found.push({ path: source.file.path, line: lineOf(node), message });
      });
    }
    return found;
  },
};

export const domainWords: Rule = {
  name: 'domain-words',
  promise: 'core and steps use the words of the domain: no job, task, lock or endpoint',
  check: (files) =>
    sources(files, (path) => inFolder(path, 'functions/core') || inFolder(path, 'functions/steps')).flatMap((source) =>
      source.names.flatMap(({ text, line }) =>
        vagueNouns(text).map((message) => ({ path: source.file.path, line, message: `${text}: ${message}` })),
      ),
    ),
};

function badName(path: string): string[] {
  const segments = path.split('/').slice(1);
  const vague = segments.flatMap((segment) => segment.split(/[.-]/)).find((word) => VAGUE.has(word));
  if (vague !== undefined) return [`"${vague}" says nothing: name the file after what it holds`];
  const base = segments.pop() ?? '';
  if (/^index\.[a-z]+$/.test(base) && /[jt]s$/.test(base))
    return ['no barrels: import each thing from the file that holds it'];
  const words = base.endsWith('.md') ? segments : [...segments, ...base.split('.')];
  const loud = words.find((word) => word !== '' && !KEBAB.test(word));
  return loud === undefined ? [] : [`"${loud}" is not kebab-case: write ${kebab(loud)}`];
}

function vagueNouns(name: string): string[] {
  const singular = wordsOf(name).map((word) => word.replace(/s$/, ''));
  return singular.flatMap((word) => {
    const better = VAGUE_NOUNS.get(word);
    return better === undefined ? [] : [`say ${better} instead of ${word}`];
  });
}

const kebab = (name: string): string => wordsOf(name).join('-');

/** The words of a name, in small letters: `leaseMsMax` is lease, ms, max. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
