import type { AnyNode, ArrowFunctionExpression, FunctionDeclaration, FunctionExpression } from 'acorn';
import { isCode, isTest } from '../paths.ts';
import type { ProjectFile } from '../project.ts';
import type { Finding, Rule } from '../rule.ts';
import { isSource, lineOf, type Source, sources, startOf, walk } from '../source.ts';

const FILE_LINES = 300;
const TEST_FILE_LINES = 500;
const FUNCTION_LINES = 70;
const REGISTERS = /^(describe|it|test)$/;

type FunctionNode = FunctionDeclaration | FunctionExpression | ArrowFunctionExpression;

export const fileLength: Rule = {
  name: 'file-length',
  promise: `a file has at most ${FILE_LINES} lines, a test file ${TEST_FILE_LINES}`,
  check: (files) => files.filter(({ path }) => isSource(path) && isCode(path)).flatMap(longFile),
};

export const functionLength: Rule = {
  name: 'function-length',
  promise: `a function has at most ${FUNCTION_LINES} lines; in a test, what registers tests is a chapter, not a function`,
  check: (files) => sources(files, isCode).flatMap(longFunctions),
};

function longFile({ path, text }: ProjectFile): Finding[] {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const limit = isTest(path) ? TEST_FILE_LINES : FILE_LINES;
  if (lines <= limit) return [];
  return [{ path, line: limit + 1, message: `${lines} lines, at most ${limit}: this file wants to be two` }];
}

function longFunctions(source: Source): Finding[] {
  const found: Finding[] = [];
  const path = source.file.path;
  walk(source, (node, around) => {
    const lines = (node.loc?.end.line ?? 0) - lineOf(node) + 1;
    if (!isFunction(node) || lines <= FUNCTION_LINES || (isTest(path) && isChapter(node, around.at(-2)))) return;
    const message = `${lines} lines, at most ${FUNCTION_LINES}: branch here, and move each straight leaf to a function with a name`;
    found.push({ path, line: lineOf(node), message });
  });
  return found;
}

const isFunction = (node: AnyNode): node is FunctionNode =>
  node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression';

/** The body of a describe(), or a contract suite: a function that registers tests for whatever it is given. */
function isChapter(node: AnyNode, parent: AnyNode | undefined): boolean {
  if (parent?.type === 'CallExpression' && startOf(parent) === 'describe') return true;
  if (!isFunction(node) || node.body.type !== 'BlockStatement') return false;
  return node.body.body.some((step) => step.type === 'ExpressionStatement' && REGISTERS.test(startOf(step.expression)));
}
