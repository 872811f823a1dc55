/**
 * A command of `onceward` that a person copies into a shell: it runs this command and no other, whatever an id holds. An id
 * is quoted where a shell would read something else, and is never taken for an option.
 */
export const commandLine = (command: string, ids: readonly string[] = [], options: readonly string[] = []): string => {
  const words = ids.map(shellWord);
  const rest = ids.some((id) => id.startsWith('-')) ? [...options, '--', ...words] : [...words, ...options];
  return ['onceward', command, ...rest].join(' ');
};

export const shellWord = (word: string): string =>
  /^[\w.:/@%+~-]+$/.test(word) && !word.startsWith('~') ? word : `'${word.replaceAll("'", `'\\''`)}'`;
