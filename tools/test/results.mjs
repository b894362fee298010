import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { unhandledReport } from './unhandled.mjs';

/** @typedef {{passed: number, failed: string[], skipped: string[]}} Results failures and skips by name */

/** @param {string} file @returns {any} undefined when there is no such file */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * The first line of what was wrong: whoever reads the result may not have the rest.
 * @param {string[]} messages
 */
function reason([message = '']) {
  const line = stripVTControlCharacters(message).split('\n')[0];
  return line === '' ? '' : ` (${line})`;
}

/**
 * What vitest's JSON report of one project says, a test file that could not be loaded included.
 * @param {string} project
 * @param {any} report
 * @returns {Results}
 */
export function readReport(project, report) {
  /** @type {Results} */
  const results = { passed: 0, failed: [], skipped: [] };
  for (const file of report.testResults) {
    const name = `${project}: ${file.name.split(`/${project}/`).at(-1)}`;
    for (const test of file.assertionResults) {
      const title = `${name} > ${[...test.ancestorTitles, test.title].join(' > ')}`;
      if (test.status === 'passed') results.passed += 1;
      else if (test.status === 'failed') results.failed.push(`${title}${reason(test.failureMessages)}`);
      else results.skipped.push(title);
    }
    const told = file.assertionResults.some((/** @type {any} */ test) => test.status === 'failed');
    if (file.status === 'failed' && !told) results.failed.push(`${name}${reason([file.message])}`);
  }
  return results;
}

/**
 * What went wrong outside of any test, each with the first place of its stack that is the project's own.
 * @param {string} project
 * @param {{message: string, stack?: string, test?: string}[]} errors
 */
export function readUnhandled(project, errors) {
  return errors.map(({ message, stack = '', test }) => {
    const place = stack.split('\n').find((line) => /^(?!.*node_modules).*\/(src|test|e2e)\//.test(line));
    const at = place === undefined ? '' : ` ${place.trim()}`;
    return `${project}: outside of any test${test ? `, near ${test}` : ''}${reason([message])}${at}`;
  });
}

/**
 * Adds up one `nx run-many`: a task that is not a test run counts one, a test run what its report says.
 * @param {string} root
 * @param {string[]} projects folders, each with a report of its own
 * @param {boolean} ok what Nx made of the run
 * @returns {Results}
 */
export function readRun(root, projects, ok) {
  /** @type {Results} */
  const results = { passed: 0, failed: [], skipped: [] };
  /** @type {{taskId: string, target: string, status: number}[] | undefined} */
  const tasks = readJson(join(root, '.nx/cache/run.json'))?.tasks;
  if (tasks === undefined)
    results.failed.push('nx run-many left no record of its tasks in .nx/cache/run.json');

  for (const { taskId, target, status } of tasks ?? []) {
    if (target === 'test') continue;
    if (status === 0) results.passed += 1;
    else results.failed.push(taskId);
  }
  for (const project of projects) {
    const report = readJson(join(root, project, 'test-results/vitest.json'));
    if (report === undefined) {
      results.failed.push(`${project}: no test report`);
      continue;
    }
    const { passed, failed, skipped } = readReport(project, report);
    results.passed += passed;
    results.failed.push(...failed);
    results.skipped.push(...skipped);
    const unhandled = readUnhandled(project, readJson(join(root, project, unhandledReport)) ?? []);
    results.failed.push(...unhandled);
    // Every test passed, and still vitest failed, for a reason that it did not report.
    const task = tasks?.find(({ taskId }) => taskId === `${basename(project)}:test`);
    if (failed.length + unhandled.length === 0 && task?.status !== 0)
      results.failed.push(`${project}: the test run itself`);
  }
  if (!ok && results.failed.length === 0) results.failed.push('nx run-many (its words are above)');
  return results;
}
