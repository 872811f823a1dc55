import { stripTypeScriptTypes } from 'node:module';
import { type AnyNode, type Node, type Program, parse, type Token, tokTypes } from 'acorn';
import { fullAncestor } from 'acorn-walk';
import type { ProjectFile } from './project.ts';

/**
 * What the rules know of a source file.
 *
 *   text ──strip types──► code (same offsets, types are blanks) ──acorn──► program
 *     └────────── text minus code ──────────► types (only what was blanked: the types, at their offsets)
 */
export type Source = {
  readonly file: ProjectFile;
  readonly program: Program;
  readonly types: string;
  readonly imports: readonly Import[];
  readonly names: readonly Name[];
};

/** An identifier wherever it stands: declared, used, a property, or inside a type. */
export type Name = { readonly text: string; readonly line: number };

/** An import, a re-export, an `import()` or a `new URL(…, import.meta.url)`; types count like values. */
export type Import = {
  readonly specifier: string;
  readonly line: number;
  readonly typeOnly: boolean;
};

export type Parsed = { readonly source: Source } | { readonly error: string; readonly line: number };

export const isSource = (path: string): boolean => /\.(ts|mts|mjs|js)$/.test(path) && !path.endsWith('.d.ts');

const cache = new WeakMap<ProjectFile, Parsed>();

/** Parses a file once. A file that cannot be parsed is a finding of its own rule; the other rules pass it by. */
export function parsed(file: ProjectFile): Parsed {
  const known = cache.get(file);
  if (known !== undefined) return known;
  const fresh = parseFile(file);
  cache.set(file, fresh);
  return fresh;
}

/** The parsed sources among the files whose path passes the filter. */
export function sources(files: readonly ProjectFile[], wanted: (path: string) => boolean): Source[] {
  return files.flatMap((file) => {
    if (!isSource(file.path) || !wanted(file.path)) return [];
    const result = parsed(file);
    return 'source' in result ? [result.source] : [];
  });
}

/**
 * Calls `visit` for every node of a source, inner ones first, with the nodes around it (the node itself comes last).
 * An identifier is visited as a variable, not as the name of a property or of an import.
 */
export function walk(
  source: Pick<Source, 'program'>,
  visit: (node: AnyNode, around: readonly AnyNode[]) => void,
): void {
  fullAncestor(source.program, (node, _state, around) => {
    if (isNode(node)) visit(node, around.filter(isNode));
  });
}

/** The walker is typed for the base node only; every node that the parser makes is one of the union. */
const isNode = (node: Node): node is AnyNode => typeof node.type === 'string';

/** The line of a node, counted from 1. */
export const lineOf = (node: AnyNode): number => node.loc?.start.line ?? 1;

function parseFile(file: ProjectFile): Parsed {
  try {
    const code = file.path.endsWith('ts') ? stripQuietly(file.text) : file.text;
    const tokens: Token[] = [];
    const program = parse(code, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      locations: true,
      allowHashBang: true,
      onToken: tokens,
    });
    const types = blankedPart(file.text, code);
    const imports = [...valueImports(program), ...typeImports(types)];
    return { source: { file, program, types, imports, names: [...valueNames(tokens, code), ...typeNames(types)] } };
  } catch (cause) {
    return { error: cause instanceof Error ? cause.message : String(cause), line: errorLine(cause) };
  }
}

/** The parser says it in `loc`; Node's stripper opens its stack with it, as in ":3". */
function errorLine(cause: unknown): number {
  if (!(cause instanceof Error)) return 1;
  const loc = 'loc' in cause ? cause.loc : undefined;
  if (typeof loc === 'object' && loc !== null && 'line' in loc) return Number(loc.line);
  return Number(/^:(\d+)\n/.exec(cause.stack ?? '')?.[1] ?? 1);
}

/** Node marks the function as experimental and would say so in the middle of the test report. */
function stripQuietly(text: string): string {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text, { mode: 'strip' });
  } finally {
    process.emitWarning = emitWarning;
  }
}

function blankedPart(text: string, code: string): string {
  let types = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    types += char === '\n' ? char : char === code[at] ? ' ' : char;
  }
  return types;
}

function valueImports(program: Program): Import[] {
  const found: Import[] = [];
  walk({ program }, (node) => {
    const from = importedFrom(node);
    if (from !== undefined) found.push({ specifier: from, line: lineOf(node), typeOnly: false });
  });
  return found;
}

function importedFrom(node: AnyNode): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
      return literalText(node.source ?? undefined);
    case 'NewExpression': {
      const isUrl = node.callee.type === 'Identifier' && node.callee.name === 'URL';
      const path = literalText(node.arguments[0]);
      return isUrl && node.arguments[1]?.type === 'MemberExpression' && path?.endsWith('.ts') ? path : undefined;
    }
    default:
      return undefined;
  }
}

/** The text of a string literal, or undefined for any other node. */
export function literalText(node: AnyNode | undefined): string | undefined {
  return node?.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
}

/** The name that a chain starts from: `it` in `it.concurrent.only`, and `setTimeout` in `globalThis.setTimeout`. */
export function startOf(node: AnyNode): string {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'MemberExpression' && node.object.type === 'Identifier' && node.object.name === 'globalThis') {
    return node.property.type === 'Identifier' ? node.property.name : '';
  }
  if (node.type === 'MemberExpression') return startOf(node.object);
  return node.type === 'CallExpression' ? startOf(node.callee) : '';
}

function typeImports(types: string): Import[] {
  const statement =
    /\b(?:import|export)\s+type\b[^;'"]*?\bfrom\s*(['"])([^'"\n]+)\1|\bimport\s*\(\s*(['"])([^'"\n]+)\3/g;
  return [...types.matchAll(statement)].map((match) => ({
    specifier: match[2] ?? match[4] ?? '',
    line: types.slice(0, match.index).split('\n').length,
    typeOnly: true,
  }));
}

function valueNames(tokens: readonly Token[], code: string): Name[] {
  return tokens
    .filter((token) => token.type === tokTypes.name)
    .map((token) => ({ text: code.slice(token.start, token.end), line: token.loc?.start.line ?? 1 }));
}

function typeNames(types: string): Name[] {
  const silent = types.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'[^'\n]*'|"[^"\n]*"/g, (part) =>
    part.replace(/[^\n]/g, ' '),
  );
  return silent
    .split('\n')
    .flatMap((row, at) => [...row.matchAll(/[A-Za-z_$][\w$]*/g)].map((match) => ({ text: match[0], line: at + 1 })));
}
