import type { Rule } from '../rule.ts';

const FOLDERS = new Set(['functions', 'infra', 'test']);
const FILES = new Set(['package.json', 'package-lock.json', 'tsconfig.json', 'cdk.json', 'README.md', 'LICENSE']);

export const topLevel: Rule = {
  name: 'top-level',
  promise: 'the top level holds the three folders, the six files that tools look for there, and dotfiles',
  check: (files) => {
    const strangers = files.filter(({ path }) => {
      const [first = '', ...rest] = path.split('/');
      return !first.startsWith('.') && !(rest.length > 0 ? FOLDERS : FILES).has(first);
    });
    const first = new Map(strangers.map(({ path }) => [path.split('/')[0] ?? path, path]));
    return [...first].map(([name, path]) => ({
      path,
      line: 1,
      message: `${name} does not belong on the top level: it holds ${[...FOLDERS, ...FILES].join(', ')} and dotfiles`,
    }));
  },
};
