import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where it is written, from the folder of a project: vitest's JSON report says nothing of such errors. */
export const unhandledReport = 'test-results/unhandled.json';

/**
 * A reporter of vitest that keeps what went wrong outside of any test, such as a rejection that nobody handled: a list of
 * `{message, stack, test?}`, `test` as vitest guesses it.
 */
export class UnhandledErrors {
  #root = '.';

  /** @param {import('vitest/node').Vitest} vitest */
  onInit(vitest) {
    this.#root = vitest.config.root;
  }

  /** @param {unknown} _modules @param {readonly import('vitest').SerializedError[]} errors */
  onTestRunEnd(_modules, errors) {
    const file = join(this.#root, unhandledReport);
    mkdirSync(join(file, '..'), { recursive: true });
    const told = errors.map((error) => ({
      message: `${error['type'] ?? error.name}: ${error.message}`,
      stack: error.stack,
      test: [error['VITEST_TEST_PATH'], error['VITEST_TEST_NAME']].filter(Boolean).join(' > '),
    }));
    writeFileSync(file, JSON.stringify(told));
  }
}
