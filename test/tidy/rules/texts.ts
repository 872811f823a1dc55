import type { ProjectFile } from '../project.ts';
import { type Finding, lineAt, type Rule } from '../rule.ts';

/** A text that must not stand in any file. Patterns are put together so that this file does not hold what it bans. */
type BannedText = { readonly pattern: RegExp; readonly instead: string; readonly where?: RegExp };

const anyOf = (...words: string[]): string => `(?:${words.join('|')})`;

const BANNED: readonly BannedText[] = [
  {
    pattern: new RegExp(`(?<![\\w.~*$}\\])-])/${anyOf('work', 'tmp', 'root', 'home')}/`, 'g'),
    instead: 'a path of one machine: use a path from the top of the project, or os.tmpdir()',
  },
  {
    pattern: new RegExp(
      `\\b${anyOf('registry', 'npm', 'pkg')}\\.${anyOf('npmjs', 'yarnpkg', 'npmmirror', 'jsr')}\\.`,
      'gi',
    ),
    instead: 'a registry host: where packages come from is the business of the machine that installs them',
  },
  {
    pattern: new RegExp(['DESIGN', 'md'].join('\\.'), 'g'),
    instead: 'say the thing itself: readers of the project do not have that page',
  },
  {
    pattern: new RegExp(`\\b${'shared'}/`, 'g'),
    instead: 'say the thing itself: readers of the project do not have that folder',
  },
  {
    pattern: new RegExp(`\\b${anyOf('TO' + 'DO', 'FIX' + 'ME')}\\b(?!\\(\\w)`, 'g'),
    instead: 'do it, or name its owner in brackets behind it',
    where: /\.(ts|mjs|js|sh|md|json|yml)$|^\.ci\//,
  },
  {
    pattern: /"resolved": "https?:/g,
    instead: 'run npm install with the .npmrc of the project, which keeps addresses out of the lock file',
    where: /(^|\/)package-lock\.json$/,
  },
];

export const texts: Rule = {
  name: 'texts',
  promise: 'no file holds a path of one machine, a registry host, a page that readers do not have, or an orphaned note',
  check: (files) => files.flatMap((file) => BANNED.flatMap((banned) => findText(file, banned))),
};

function findText({ path, text }: ProjectFile, { pattern, instead, where }: BannedText): Finding[] {
  if (where !== undefined && !where.test(path)) return [];
  return [...text.matchAll(pattern)].map((match) => ({
    path,
    line: lineAt(text, match.index),
    message: `"${match[0]}": ${instead}`,
  }));
}
