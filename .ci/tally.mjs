import { existsSync, readFileSync } from 'node:fs';

/**
 * node .ci/tally.mjs FOLDER STEP:EXIT...
 *
 * Adds up vitest's JSON reports, FOLDER/STEP.json, and prints the sum as the last line: "N passed, N failed". A step
 * that ended badly without a failed test in its report (lint, an install, a run that was stopped, a file that could not
 * be loaded) counts as one failure, so that a red run never ends in "0 failed". Exits 1 when anything failed.
 *
 * Plain JavaScript for any Node from 20 on: it has to speak even where the project could not be installed.
 */
const [folder = '.', ...steps] = process.argv.slice(2);

const results = steps.map((step) => {
  const at = step.lastIndexOf(':');
  return count(step.slice(0, at), Number(step.slice(at + 1)));
});

const sum = (/** @type {'passed' | 'failed'} */ key) => results.reduce((total, result) => total + result[key], 0);
console.log('');
for (const { name, passed, failed, note } of results) console.log(`${name}: passed ${passed}, failed ${failed}${note}`);
if (results.length === 0) console.log('nothing was run');
const failed = results.length === 0 ? 1 : sum('failed');
console.log(`${sum('passed')} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * @param {string} name
 * @param {number} exit
 */
function count(name, exit) {
  const path = `${folder}/${name}.json`;
  const report = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { numPassedTests: 0, numFailedTests: 0 };
  const unloaded = (report.testResults ?? []).filter(isUnloaded).length;
  const failed = report.numFailedTests + unloaded;
  const passed = report.numPassedTests;
  if (exit === 0 || failed > 0) return { name, passed, failed, note: '' };
  return { name, passed, failed: 1, note: ` (the step ended with ${exit})` };
}

/** @param {{ status: string, assertionResults: { status: string }[] }} file */
function isUnloaded(file) {
  return file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed');
}
