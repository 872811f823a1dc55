/**
 * Goal: every collected failure of others is the promise of a test here.
 * Method: the ids of the cases stand below, by class; the names of all tests are read from their sources, and each id
 * must stand in one of them.
 */
import { fileURLToPath } from 'node:url';
import type { AnyNode } from 'acorn';
import { describe, expect, it } from 'vitest';
import { readProject } from '../tidy/project.ts';
import { literalText, sources, startOf, walk } from '../tidy/source.ts';

const CASES: Readonly<Record<string, readonly string[]>> = {
  CLAIM: ['C002', 'C003', 'C022', 'C032', 'C034', 'C040', 'C180'],
  KEY: ['C035', 'C067', 'C075', 'C111', 'C164', 'C165', 'C181'],
  PAYLOAD: ['C010', 'C113', 'C144', 'C158'],
  AMBIG: ['C011', 'C041', 'C069', 'C108', 'C110', 'C114', 'C136'],
  RETRY: ['C014', 'C023', 'C080', 'C082', 'C083', 'C168', 'C182'],
  STATUS: ['C020', 'C031', 'C076', 'C120', 'C160', 'C174'],
  SSRF: ['C084', 'C085', 'C086', 'C087', 'C091', 'C093', 'C094', 'C095'],
  HTTP: ['C070', 'C072', 'C073', 'C166', 'C167', 'C169'],
  INGRESS: ['C096', 'C097', 'C098', 'C099', 'C103', 'C104', 'C106'],
  DDB: ['C054', 'C055', 'C056', 'C057', 'C060', 'C061', 'C063', 'C064', 'C068', 'C171'],
  TIME: ['C005', 'C077', 'C152'],
  QUEUE: ['C029', 'C047', 'C109', 'C147', 'C159', 'C172', 'C178', 'C179', 'C183'],
  BOUND: ['C018', 'C019', 'C025', 'C026', 'C028', 'C124', 'C125', 'C128', 'C130', 'C131', 'C156'],
  RECON: ['C024', 'C037', 'C039', 'C048', 'C049', 'C116', 'C117', 'C138', 'C150'],
  AUDIT: ['C027', 'C145', 'C176', 'C177'],
  DEPLOY: ['C038', 'C046', 'C139', 'C141', 'C143'],
};

const RUNNERS = new Set(['describe', 'it', 'test']);

/** The text of a name, its placeholders as they are written. */
const textOf = (node: AnyNode | undefined): string =>
  node?.type === 'TemplateLiteral' ? node.quasis.map(({ value }) => value.raw).join('') : (literalText(node) ?? '');

const namesOf = (files: Parameters<typeof sources>[0]): string[] =>
  sources(files, (path) => path.startsWith('test/')).flatMap((source) => {
    const names: string[] = [];
    walk(source, (node) => {
      // The name of a row of a table, where its tests are called '$says'.
      if (node.type === 'Property' && node.key.type === 'Identifier' && node.key.name === 'says') {
        names.push(textOf(node.value));
      }
      if (node.type !== 'CallExpression' || !RUNNERS.has(startOf(node.callee))) return;
      names.push(textOf(node.arguments[0]));
    });
    return names;
  });

const missingFrom = (names: readonly string[], ids: readonly string[]): string[] => {
  const named = new Set(names.flatMap((name) => name.match(/\bC\d{3}\b/g) ?? []));
  return ids.filter((id) => !named.has(id));
};

const project = namesOf(readProject(fileURLToPath(new URL('../..', import.meta.url))));

describe('the collected failures of others', () => {
  it.each(Object.entries(CASES))('of class %s are each the promise of a test', (_name, ids) => {
    expect(missingFrom(project, ids)).toEqual([]);
  });

  it('count 110, no id twice', () => {
    const ids = Object.values(CASES).flat();
    expect([ids.length, new Set(ids).size]).toEqual([110, 110]);
  });
});

describe('the reader of names', () => {
  const read = (text: string) => namesOf([{ path: 'test/cases/a.test.ts', text }]);

  it('reads plain tests, tables of tests and templates, and nothing but names', () => {
    const text = [
      "it('one (C900)', () => { expect('C901').toBe('C901'); });",
      "it.each([['C902']])('two [C903] %s', () => {});",
      'describe.each([1])(`three $' + "{'C904'} [C905]`, () => {});",
      "// it('four [C906]')",
      "collect('five [C907]');",
      "const rows = [{ says: 'six [C908]', does: 'seven [C909]' }];",
    ].join('\n');
    const ids = ['C900', 'C901', 'C902', 'C903', 'C904', 'C905', 'C906', 'C907', 'C908', 'C909'];
    expect(missingFrom(read(text), ids)).toEqual(['C901', 'C902', 'C904', 'C906', 'C907', 'C909']);
  });

  it('sees the whole tree', () => {
    expect(project.length).toBeGreaterThan(200);
  });
});
