import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ProjectFile, readProject, readTree } from './project.ts';
import type { Finding, Rule } from './rule.ts';
import { RULES } from './rules.ts';

/**
 * Goal: the house rules hold in the whole tree, and each rule can fail.
 * Method: every rule is a pure function from files to findings. It runs over the project, where it must find nothing,
 * and over its two fixtures: `fixtures/<rule>/bad`, where it must find exactly what `expected.txt` lists
 * (`path:line words of the message`), and `fixtures/<rule>/good`, where it must find nothing.
 */
const project = readProject(fileURLToPath(new URL('../..', import.meta.url)));
const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

const show = ({ path, line, message }: Finding): string => `${path}:${line} ${message}`;

describe('the house rules hold', () => {
  it.each(RULES.map((rule) => [rule.promise, rule] as const))('%s', (_promise, rule) => {
    expect(rule.check(project).map(show)).toEqual([]);
  });
});

describe('the checker', () => {
  it('sees the whole tree, new files and its own sources included, but not its fixtures', () => {
    const paths = project.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining(['package.json', '.npmrc', 'test/tidy/tidy.test.ts', 'test/tidy/rule.ts']),
    );
    expect(paths.filter((path) => /node_modules|fixtures/.test(path))).toEqual([]);
  });

  it('has a rule for every fixture', () => {
    expect(readdirSync(fixture('')).sort()).toEqual(RULES.map(({ name }) => name).sort());
  });
});

describe.each(RULES.map((rule) => [rule.name, rule] as const))('the rule %s', (name, rule: Rule) => {
  it('finds every breach in its bad fixture, names the place, and finds nothing else', () => {
    const found = rule.check(readFixture(`${name}/bad`)).map(show);
    const expected = readFileSync(fixture(`${name}/expected.txt`), 'utf8')
      .trim()
      .split('\n');
    expect(places(found)).toEqual(places(expected));
    expect(expected.filter((line) => !found.some((message) => says(message, line)))).toEqual([]);
  });

  it('finds nothing in its good fixture', () => {
    expect(existsSync(fixture(`${name}/good`))).toBe(true);
    expect(rule.check(readFixture(`${name}/good`)).map(show)).toEqual([]);
  });
});

/** A fixture may hold a text that no file of the project may hold: there it stands with a mark in its middle. */
function readFixture(name: string): ProjectFile[] {
  return readTree(fixture(name)).map(({ path, text }) => ({ path, text: text.replaceAll('\u2423', '') }));
}

const placeOf = (line: string): string => line.slice(0, line.indexOf(' '));
const places = (lines: readonly string[]): string[] => lines.map(placeOf).sort();

/** The same place, and the expected words somewhere in the message; the rest of the message may change. */
function says(message: string, expected: string): boolean {
  const place = placeOf(expected);
  return placeOf(message) === place && message.includes(expected.slice(place.length + 1), place.length);
}
