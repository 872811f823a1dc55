import type { ProjectFile } from './project.ts';

/** One breach of a house rule. `message` says what to do instead. `line` counts from 1. */
export type Finding = { readonly path: string; readonly line: number; readonly message: string };

/** A house rule: a pure function from the files of a project to what breaks the rule in them. */
export type Rule = {
  readonly name: string;
  readonly promise: string;
  readonly check: (files: readonly ProjectFile[]) => Finding[];
};

/** The line that the character at `offset` stands on, counted from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
