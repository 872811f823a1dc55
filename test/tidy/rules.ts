import type { Rule } from './rule.ts';
import { bannedNames } from './rules/banned-names.ts';
import { cycles } from './rules/cycles.ts';
import { deadFiles } from './rules/dead-files.ts';
import { directions } from './rules/directions.ts';
import { fileLength, functionLength } from './rules/length.ts';
import { domainWords, fileNames, noDefaultExports } from './rules/names.ts';
import { parses } from './rules/parses.ts';
import { everyTestRuns, noSleeps, ownWorker } from './rules/test-manners.ts';
import { texts } from './rules/texts.ts';
import { topLevel } from './rules/top-level.ts';

/** The house rules, in the order in which they are reported. */
export const RULES: readonly Rule[] = [
  parses,
  directions,
  cycles,
  bannedNames,
  fileLength,
  functionLength,
  deadFiles,
  fileNames,
  noDefaultExports,
  domainWords,
  everyTestRuns,
  noSleeps,
  ownWorker,
  texts,
  topLevel,
];
