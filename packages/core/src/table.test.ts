import { describe, expect, test } from 'vitest';
import { pairs, table } from './table.ts';

test('columns are aligned, and what others wrote cannot steer the terminal', () => {
  expect(
    table(
      ['ID', 'TITLE'],
      [
        ['session_1', 'a\u001B]0;mine\u0007b\nc'],
        ['s2', ''],
      ],
    ),
  ).toBe('ID         TITLE\nsession_1  a ]0;mine b c\ns2');
});

describe('in a terminal that is too narrow', () => {
  const header = ['ID', 'STATE', 'ENVIRONMENT', 'TITLE'];
  const rows = [
    ['session_1', 'running', 'env_1', 'Fix the login'],
    ['s2', 'done', 'env_22', ''],
  ];

  test.each([
    [
      46,
      `
ID         STATE    ENVIRONMENT  TITLE
session_1  running  env_1        Fix the login
s2         done     env_22`,
    ],
    [
      45,
      `
ID         STATE    ENVIRONMENT
  TITLE
session_1  running  env_1
  Fix the login
s2         done     env_22`,
    ],
    [
      28,
      `
ID         STATE
  ENVIRONMENT  TITLE
session_1  running
  env_1        Fix the login
s2         done
  env_22`,
    ],
    [
      3,
      `
ID
  STATE
  ENVIRONMENT
  TITLE
session_1
  running
  env_1
  Fix the login
s2
  done
  env_22`,
    ],
  ])('the columns that %i characters have no room for go below', (width, shown) => {
    expect(table(header, rows, width)).toBe(shown.slice(1));
  });
});

test('pairs stand one a line, without those that have no value, and cannot steer the terminal', () => {
  expect(
    pairs([
      ['Title:', 'a\u001B[2Jb'],
      ['Tags:', ''],
      ['Environment:', 'env_1'],
    ]),
  ).toBe('Title:        a [2Jb\nEnvironment:  env_1');
});

test('there may be as many rows as there are', () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => [`s${index}`, 'x']);
  expect(table(['ID', 'X'], rows).endsWith('\ns199999  x')).toBe(true);
});
