import { isCode } from '../paths.ts';
import type { Rule } from '../rule.ts';
import { isSource, parsed } from '../source.ts';

/** Node runs the sources as they are: it blanks the types and refuses what is more than a type. */
export const parses: Rule = {
  name: 'parses',
  promise: 'Node can run every source by blanking its types: no enum, no namespace, no parameter property',
  check: (files) =>
    files
      .filter(({ path }) => isSource(path) && isCode(path))
      .flatMap((file) => {
        const result = parsed(file);
        if ('source' in result) return [];
        const instead = /not supported/.test(result.error)
          ? 'use a union of strings, a module, or a plain field'
          : 'mend it';
        const message = `${result.error}: ${instead}`;
        return [{ path: file.path, line: result.line, message }];
      }),
};
