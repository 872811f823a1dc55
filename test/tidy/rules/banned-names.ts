import type { AnyNode } from 'acorn';
import { inFolder, isDeployed, isProduct } from '../paths.ts';
import type { Finding, Rule } from '../rule.ts';
import { lineOf, literalText, type Source, sources, walk } from '../source.ts';

/** A name of the platform that only the named places may use. `instead` is what everybody else writes. */
type Banned = { readonly allowedIn: (path: string) => boolean; readonly instead: string };

const SYSTEM = 'functions/adapters/system.ts';
const onlySystem = (path: string): boolean => path === SYSTEM;
const onlyConfig = (path: string): boolean => path === 'functions/config.ts';

const CLOCK: Banned = {
  allowedIn: onlySystem,
  instead: `take the time as an argument, or from the Clock of ${SYSTEM}`,
};
const TIMER: Banned = { allowedIn: onlySystem, instead: `wait through the Clock of ${SYSTEM}` };
const DICE: Banned = { allowedIn: onlySystem, instead: `take the draw as an argument, or from the Dice of ${SYSTEM}` };
const DEADLINE: Banned = {
  allowedIn: (path) => inFolder(path, 'functions/adapters'),
  instead: 'only an adapter has deadlines on the wire: hand it the milliseconds',
};
const ENVIRONMENT: Banned = {
  allowedIn: onlyConfig,
  instead: 'functions/config.ts alone reads the environment: take the value from it',
};
const DATE_TEXT: Banned = {
  allowedIn: (path) => !isDeployed(path),
  instead: 'it guesses at formats and zones: use the strict time codec of the core',
};
const WILD_FETCH: Banned = {
  allowedIn: (path) => !isDeployed(path),
  instead: 'send through the Sender, which vets addresses and has one deadline',
};
const CONSOLE: Banned = {
  allowedIn: (path) => /^functions\/adapters\/telemetry|^infra\/local\/|^functions\/operator\/cli\//.test(path),
  instead: 'log through Telemetry: one wide line with the identities first',
};

/** `object.member`, as it is written after its global object or module. */
const MEMBERS: ReadonlyMap<string, Banned> = new Map([
  ['Date.now', CLOCK],
  ['Date.parse', DATE_TEXT],
  ['performance.now', CLOCK],
  ['process.hrtime', CLOCK],
  ['process.env', ENVIRONMENT],
  ['Math.random', DICE],
  ['crypto.randomUUID', DICE],
  ['crypto.randomBytes', DICE],
  ['crypto.randomInt', DICE],
  ['crypto.getRandomValues', DICE],
  ['AbortSignal.timeout', DEADLINE],
  ['timers.setTimeout', TIMER],
  ['timers.setInterval', TIMER],
]);

/** Names that are banned where they stand alone: globals, and what an import or a destructuring makes of a member. */
const ALONE: ReadonlyMap<string, Banned> = new Map([
  ['setTimeout', TIMER],
  ['setInterval', TIMER],
  ['fetch', WILD_FETCH],
  ['console', CONSOLE],
  ['randomUUID', DICE],
  ['randomBytes', DICE],
  ['randomInt', DICE],
  ['getRandomValues', DICE],
]);

const MODULES: ReadonlyMap<string, string> = new Map([
  ['node:crypto', 'crypto'],
  ['node:process', 'process'],
  ['node:perf_hooks', 'performance'],
  ['node:timers', 'timers'],
  ['node:timers/promises', 'timers'],
]);

export const bannedNames: Rule = {
  name: 'banned-names',
  promise: 'clock, chance, timers, environment, console and network have one home each',
  check: (files) => sources(files, isProduct).flatMap(checkSource),
};

type Use = { readonly name: string; readonly banned: Banned | undefined };

function checkSource(source: Source): Finding[] {
  const path = source.file.path;
  const modules = moduleNames(source);
  const found = new Map<string, Finding>();
  walk(source, (node, around) => {
    for (const { name, banned } of uses(node, around.at(-2), modules)) {
      if (banned === undefined || banned.allowedIn(path)) continue;
      const line = lineOf(node);
      found.set(`${line} ${name}`, { path, line, message: `${name}: ${banned.instead}` });
    }
  });
  return [...found.values()];
}

function uses(node: AnyNode, parent: AnyNode | undefined, modules: ReadonlyMap<string, string>): Use[] {
  switch (node.type) {
    case 'MemberExpression': {
      const name = memberName(node, modules);
      const last = name.slice(name.lastIndexOf('.') + 1);
      const isGlobal = name === `globalThis.${last}`;
      return [{ name, banned: MEMBERS.get(name) ?? (isGlobal ? ALONE.get(last) : undefined) }];
    }
    case 'Identifier':
      if (parent?.type === 'VariableDeclarator' && parent.id.type === 'ObjectPattern')
        return pulledOut(node.name, parent.id, modules);
      return [{ name: node.name, banned: ALONE.get(node.name) }];
    case 'NewExpression':
    case 'CallExpression': {
      const isDate = node.callee.type === 'Identifier' && node.callee.name === 'Date';
      const readsClock = isDate && (node.type === 'CallExpression' || node.arguments.length === 0);
      return readsClock ? [{ name: 'Date without arguments', banned: CLOCK }] : [];
    }
    case 'ImportDeclaration': {
      const from = MODULES.get(String(node.source.value));
      if (from === undefined) return [];
      return node.specifiers.flatMap((one) => {
        const name = one.type === 'ImportSpecifier' && one.imported.type === 'Identifier' ? one.imported.name : '';
        return [{ name: `${from}.${name}`, banned: MEMBERS.get(`${from}.${name}`) }];
      });
    }
    default:
      return [];
  }
}

/** `const { now } = Date` takes Date.now. */
function pulledOut(object: string, pattern: AnyNode, modules: ReadonlyMap<string, string>): Use[] {
  if (pattern.type !== 'ObjectPattern') return [];
  return pattern.properties.flatMap((property) => {
    if (property.type !== 'Property' || property.key.type !== 'Identifier') return [];
    const name = `${modules.get(object) ?? object}.${property.key.name}`;
    return [{ name, banned: MEMBERS.get(name) }];
  });
}

/** Date.now for `Date.now`, `Date['now']`, `globalThis.Date.now`; crypto.randomUUID for any name the module has here. */
function memberName(node: AnyNode, modules: ReadonlyMap<string, string>): string {
  if (node.type === 'Identifier') return modules.get(node.name) ?? node.name;
  if (node.type !== 'MemberExpression') return '';
  const property =
    node.property.type === 'Identifier' && !node.computed ? node.property.name : literalText(node.property);
  const object = memberName(node.object, modules).replace(/^globalThis\./, '');
  return `${object.replace(/^crypto\.webcrypto$/, 'crypto')}.${property ?? ''}`;
}

/** The local names of whole modules: `import * as dice from 'node:crypto'` makes `dice` mean crypto. */
function moduleNames(source: Source): Map<string, string> {
  const names = new Map<string, string>();
  for (const node of source.program.body) {
    if (node.type !== 'ImportDeclaration') continue;
    const meaning = MODULES.get(String(node.source.value));
    const isWhole = (type: string) => type === 'ImportNamespaceSpecifier' || type === 'ImportDefaultSpecifier';
    for (const { type, local } of node.specifiers)
      if (meaning !== undefined && isWhole(type)) names.set(local.name, meaning);
  }
  return names;
}
