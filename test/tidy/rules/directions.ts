import { isBuiltin } from 'node:module';
import { inFolder, isProduct, target } from '../paths.ts';
import type { Finding, Rule } from '../rule.ts';
import { type Import, type Source, sources } from '../source.ts';

/**
 * Imports point one way.
 *
 *   core ◄── ports ◄── steps ◄── intake, receiver, reconciler, operator ◄── their handlers ◄── infra/local
 *              ▲                                                                │
 *              └──────────────────────── adapters ◄─────────────────────────────┘
 *
 * `files` and `packages` say what a zone may import besides itself; `instead` is what to do about a breach.
 */
type Zone = {
  readonly name: string;
  readonly holds: RegExp;
  readonly files: readonly RegExp[];
  readonly packages: readonly RegExp[];
  readonly instead: string;
};

const PURE = [/^node:(crypto|util)$/, /^ipaddr\.js$/, /^jsonc-parser$/, /^zod\/mini$/];
const HONO = /^hono(\/|$)/;
const CORE = /^functions\/core\//;
const PORTS = /^functions\/ports\.ts$/;
const CONFIG = /^functions\/config\.ts$/;
const HTTP = /^functions\/http\//;
const STEPS = /^functions\/steps\//;
const ADAPTERS = /^functions\/adapters\//;
/** For the version that it says. */
const MANIFEST = /^package\.json$/;
const SCHEMA = /^functions\/(core\/(limits|metrics)|adapters\/ledger\/(schema|table))\.ts$/;

const face = (name: string): Zone[] => {
  const own = new RegExp(`^functions/${name}/`);
  const inner = [own, HTTP, STEPS, CORE, PORTS, CONFIG];
  return [
    {
      name: `the composition root of functions/${name}`,
      holds: new RegExp(
        `^functions/${name}/(.*/)?([a-z-]+-)?(handler|compose)(-[a-z-]+)?\\.ts$|^functions/${name}/(.*/)?compose/`,
      ),
      files: [...inner, ADAPTERS],
      packages: [...PURE, HONO, /^node:/, /^aws-lambda$/, /^@hono\//],
      instead: 'a handler fills the ports for its own folder only; move what two folders need to functions/steps',
    },
    ...(name === 'operator' ? [COMMAND_LINE] : []),
    {
      name: `functions/${name}`,
      holds: own,
      files: inner,
      packages: [...PURE, HONO],
      instead: `ask for it through a port in functions/ports.ts and fill the port in functions/${name}/handler.ts`,
    },
  ];
};

const COMMAND_LINE: Zone = {
  name: 'functions/operator/cli',
  holds: /^functions\/operator\/cli\//,
  files: [/^functions\/operator\//, STEPS, CORE, PORTS, CONFIG, MANIFEST],
  packages: [...PURE, /^node:/, /^commander$/, /^string-width$/],
  instead: 'ask for it through a port and fill the port in a compose file',
};

const ZONES: readonly Zone[] = [
  {
    name: 'functions/core',
    holds: CORE,
    files: [CORE],
    packages: PURE,
    instead: 'the core is pure: take what it needs as an argument',
  },
  {
    name: 'functions/ports.ts',
    holds: PORTS,
    files: [CORE],
    packages: [],
    instead: 'a port is made of types of the core only',
  },
  {
    name: 'functions/config.ts',
    holds: CONFIG,
    files: [CORE],
    packages: PURE,
    instead: 'the configuration knows the core only; let the handler hand it on',
  },
  {
    name: 'functions/steps',
    holds: STEPS,
    files: [STEPS, CORE, PORTS],
    packages: PURE,
    instead: 'ask for it through a port in functions/ports.ts',
  },
  {
    name: 'functions/http',
    holds: HTTP,
    files: [HTTP, CORE, PORTS],
    packages: [...PURE, HONO],
    instead: 'what is not about HTTP belongs to functions/steps',
  },
  ...['intake', 'receiver', 'reconciler', 'operator'].flatMap(face),
  {
    name: 'functions/adapters',
    holds: ADAPTERS,
    files: [PORTS, CORE, /^functions\/adapters\/system\.ts$/],
    packages: [/./],
    instead: 'an adapter fills one port and knows its own folder only: take the other thing as an argument',
  },
  {
    name: 'infra/local',
    holds: /^infra\/local\//,
    files: [/^infra\/local\//, /^functions\//],
    packages: [/./],
    instead: 'the local world is made of functions/ and of itself',
  },
  {
    name: 'infra/aws',
    holds: /^infra\/aws\//,
    files: [/^infra\/aws\//, SCHEMA],
    packages: [/^aws-cdk-lib(\/|$)/, /^constructs$/, /^cdk-nag$/, /^esbuild$/, /^node:/],
    instead:
      'the stack names entry files by path; of the code it knows limits, metric names and the schema of the table only',
  },
];

export const directions: Rule = {
  name: 'directions',
  promise: 'imports point one way, types included',
  check: (files) => sources(files, isProduct).flatMap(checkSource),
};

function checkSource(source: Source): Finding[] {
  const path = source.file.path;
  const zone = ZONES.find(({ holds }) => holds.test(path));
  if (zone === undefined) {
    const message = `${path} lies in no zone of the tree: put it into one, or add the zone to test/tidy/rules/directions.ts`;
    return [{ path, line: 1, message }];
  }
  return source.imports.flatMap((one) => {
    const why = breach(zone, path, one);
    return why === undefined ? [] : [{ path, line: one.line, message: why }];
  });
}

function breach(zone: Zone, path: string, { specifier, typeOnly }: Import): string | undefined {
  const file = target(path, specifier);
  if (file !== undefined) {
    if (zone.name === 'functions/ports.ts' && !typeOnly) return `write import type: ${zone.instead}`;
    if (zone.files.some((allowed) => allowed.test(file)) || (ADAPTERS.test(path) && isOwnAdapter(path, file)))
      return undefined;
    return `${zone.name} must not import ${file}: ${zone.instead}`;
  }
  if (specifier === 'zod' && inFolder(path, 'functions')) {
    return "import * as z from 'zod/mini' instead of 'zod': the whole of it makes every bundle ten times larger";
  }
  if (isBuiltin(specifier) && !specifier.startsWith('node:')) return `write node:${specifier} for a module of Node`;
  if (zone.packages.some((allowed) => allowed.test(specifier))) return undefined;
  return `${zone.name} must not import the package ${specifier}: ${zone.instead}`;
}

/** An adapter may use its folder, the folders below it, and those above it up to (not including) functions/adapters. */
function isOwnAdapter(path: string, file: string): boolean {
  if (!ADAPTERS.test(file)) return false;
  const own = path.slice(0, path.lastIndexOf('/'));
  const other = file.slice(0, file.lastIndexOf('/'));
  if (own === 'functions/adapters') return inFolder(file, path.replace(/\.ts$/, ''));
  return other !== 'functions/adapters' && (own === other || inFolder(own, other) || inFolder(other, own));
}
