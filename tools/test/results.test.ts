import { expect, test } from 'vitest';
import { readReport, readUnhandled } from './results.mjs';

const one = (title: string, status: string, failureMessages: string[] = []) => ({
  ancestorTitles: ['group'],
  title,
  status,
  failureMessages,
});

test('a test that did not run is skipped, whatever vitest calls it', () => {
  const assertionResults = ['passed', 'pending', 'skipped', 'todo'].map((status) => one(status, status));
  const testResults = [
    { name: '/x/packages/a/src/a.test.ts', status: 'passed', message: '', assertionResults },
  ];
  expect(readReport('packages/a', { testResults })).toEqual({
    passed: 1,
    failed: [],
    skipped: ['pending', 'skipped', 'todo'].map((title) => `packages/a: src/a.test.ts > group > ${title}`),
  });
});

test('a file that fails counts once for each failed test, with what was wrong', () => {
  const assertionResults = [
    one('good', 'passed'),
    one('bad', 'failed', ['Error: \u001b[31mno\u001b[39m\n  at']),
  ];
  const testResults = [
    { name: '/x/packages/a/src/a.test.ts', status: 'failed', message: '', assertionResults },
  ];
  const { passed, failed } = readReport('packages/a', { testResults });
  expect({ passed, failed }).toEqual({
    passed: 1,
    failed: ['packages/a: src/a.test.ts > group > bad (Error: no)'],
  });
});

test('a file that cannot be loaded is a failure of its own', () => {
  const testResults = [
    {
      name: '/x/packages/a/src/a.test.ts',
      status: 'failed',
      message: 'No such module\nat',
      assertionResults: [],
    },
  ];
  const { failed } = readReport('packages/a', { testResults });
  expect(failed).toEqual(['packages/a: src/a.test.ts (No such module)']);
});

test('an error outside of any test says what it was and where', () => {
  const stack = 'Error: lost\n    at node:internal/x\n    at late (/x/packages/a/src/late.ts:3:1)';
  expect(
    readUnhandled('packages/a', [{ message: 'Unhandled Rejection: lost', stack, test: 'a > b' }]),
  ).toEqual([
    'packages/a: outside of any test, near a > b (Unhandled Rejection: lost) at late (/x/packages/a/src/late.ts:3:1)',
  ]);
});
