import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exitCodeMeanings, exitCodes, lastingExitCodes } from '@sallyport/cli';
import { errorStatus } from '@sallyport/core';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const pages = globSync(['README.md', 'docs/**/*.md', 'packages/*/README.md'], { cwd: root });

test('docs/errors.md has the table of codes', () => {
  const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` *\| (\d{3}) *\| \S/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ]);
  expect(Object.fromEntries(rows)).toEqual(errorStatus);
});

test('docs/exit-codes.md has the table of exit codes', () => {
  const page = readFileSync(join(root, 'docs/exit-codes.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) *\| `(\w+)` *\| ([^|]+?) *\|$/gm)];
  expect(Object.fromEntries(rows.map(([, code, name = '']) => [name, Number(code)]))).toEqual(exitCodes);
  for (const [, , name = '', meaning = ''] of rows)
    expect(meaning.startsWith(exitCodeMeanings[name as keyof typeof exitCodes]), meaning).toBe(true);
  const [last, ...others] = [...lastingExitCodes].reverse();
  expect(page).toContain(`${others.reverse().join(', ')} and ${last} stay until`);
});

describe('a table of questions, words or codes has each once', () => {
  test.each(['docs/design.md', 'docs/glossary.md', 'docs/errors.md', 'docs/README.md'])('%s', (page) => {
    const lines = readFileSync(join(root, page), 'utf8').split('\n');
    const firstCells = lines.flatMap((line) => /^\| *([^|]+?) *\|/.exec(line)?.[1] ?? []);
    expect(firstCells.filter((cell, at) => firstCells.indexOf(cell) !== at)).toEqual([]);
  });
});

describe('links inside the repository lead somewhere', () => {
  test.each(pages)('%s', (page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) => target);
    const broken = targets.filter((target) => !existsSync(join(root, dirname(page), target)));
    expect(broken).toEqual([]);
  });
});

test('comments name pages that are there', () => {
  const sources = globSync(['packages/*/{src,test,bin}/**/*.ts', 'tools/**/*.{ts,mjs}'], { cwd: root });
  const missing = sources
    .filter((source) => !source.includes('node_modules'))
    .flatMap((source) =>
      [
        ...readFileSync(join(root, source), 'utf8').matchAll(
          /^ *(?:\/\/|\/?\*).*?\b((?:[\w-]+\/)*[\w-]+\.md)\b/gm,
        ),
      ]
        .map(([, page = '']) => page)
        .filter((page) => !existsSync(join(root, page)))
        .map((page) => `${source}: ${page}`),
    );
  expect(missing).toEqual([]);
});
