import type { AnyNode } from 'acorn';
import { inFolder, isTest } from '../paths.ts';
import type { Finding, Rule } from '../rule.ts';
import { lineOf, type Source, sources, startOf, walk } from '../source.ts';

const RUNNERS = new Set(['describe', 'it', 'test', 'suite', 'bench']);
const LEFT_OUT = new Set(['only', 'skip', 'todo']);
const REPLACING = new Set(['mock', 'doMock', 'resetModules']);
const WAIT_OK = /\/\/ wait-ok: \S/;

export const everyTestRuns: Rule = {
  name: 'every-test-runs',
  promise: 'every test that is written is run: no .only, .skip or .todo',
  check: (files) =>
    sources(files, isTest).flatMap((source) =>
      collect(source, (node) => {
        if (node.type !== 'MemberExpression' || node.property.type !== 'Identifier') return undefined;
        if (!LEFT_OUT.has(node.property.name) || !RUNNERS.has(startOf(node.object))) return undefined;
        return `take .${node.property.name} away: mend the test or delete it`;
      }),
    ),
};

export const ownWorker: Rule = {
  name: 'own-worker',
  promise: 'a test that replaces a module has a worker of its own: its name ends in .isolated.test.ts',
  check: (files) =>
    sources(files, (path) => isTest(path) && !path.endsWith('.isolated.test.ts')).flatMap((source) =>
      collect(source, (node) => {
        if (node.type !== 'MemberExpression' || node.property.type !== 'Identifier') return undefined;
        if (!REPLACING.has(node.property.name) || startOf(node.object) !== 'vi') return undefined;
        return `vi.${node.property.name} reaches other files of this worker: name the file .isolated.test.ts`;
      }),
    ),
};

export const noSleeps: Rule = {
  name: 'no-sleeps',
  promise: 'a test waits for a signal or moves a virtual clock; a true wait has a reason in a comment "wait-ok:"',
  check: (files) => sources(files, (path) => isTest(path) && !inFolder(path, 'test/support')).flatMap(sleeps),
};

function sleeps(source: Source): Finding[] {
  const rows = source.file.text.split('\n');
  const excused = (line: number) => WAIT_OK.test(rows[line - 1] ?? '') || WAIT_OK.test(rows[line - 2] ?? '');
  return collect(source, (node, around) => {
    if (node.type === 'ImportDeclaration') {
      return /^(node:)?timers\/promises$/.test(String(node.source.value)) ? ADVICE : undefined;
    }
    if (node.type !== 'CallExpression' || startOf(node.callee) !== 'setTimeout') return undefined;
    return around.some(isPromise) ? ADVICE : undefined;
  }).filter(({ line }) => !excused(line));
}

const ADVICE =
  'wait for a signal (an event, a promise that the fake resolves) or move the virtual clock, or write "// wait-ok: why"';

const isPromise = (node: AnyNode): boolean =>
  node.type === 'NewExpression' && node.callee.type === 'Identifier' && node.callee.name === 'Promise';

function collect(source: Source, ask: (node: AnyNode, around: readonly AnyNode[]) => string | undefined): Finding[] {
  const found: Finding[] = [];
  walk(source, (node, around) => {
    const message = ask(node, around);
    if (message !== undefined) found.push({ path: source.file.path, line: lineOf(node), message });
  });
  return found;
}
