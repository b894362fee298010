import { expect, test } from 'vitest';
import { capture } from '../testing/capture.ts';
import { progressBar } from './progress.ts';
import { createTerminal } from './terminal.ts';

function show(isTerminal: boolean): string {
  const { streams, text } = capture();
  const bar = progressBar(createTerminal({ json: false }, streams), 'Sending', isTerminal);
  const total = 2 * 1024 ** 2;
  for (const sent of [0, total / 2, total / 2 + 1, total]) bar.show({ sent, total });
  bar.end();
  return text().stderr;
}

test('a bar grows in its line, is drawn when it changes, and goes', () => {
  expect(show(true).split('\r')).toEqual([
    '',
    `Sending [${'-'.repeat(30)}] 0 % of 2.0 MiB`,
    `Sending [${'#'.repeat(15)}${'-'.repeat(15)}] 50 % of 2.0 MiB`,
    `Sending [${'#'.repeat(30)}] 100 % of 2.0 MiB`,
    ' '.repeat(57),
    '',
  ]);
});

test.each([
  [58, 57],
  [40, 39],
  [27, 26],
  [10, 9],
])('in %i columns the line is no longer than %i, so that it can be written over', (columns, longest) => {
  const { streams, text } = capture(columns);
  const bar = progressBar(createTerminal({ json: false }, streams), 'Sending', true);
  const total = 2 * 1024 ** 2;
  for (const sent of [0, total / 2, total]) bar.show({ sent, total });
  bar.end();
  const lines = text().stderr.split('\r');
  expect(Math.max(...lines.map((line) => line.length))).toBe(longest);
  expect(lines.at(-2)).toBe(' '.repeat(longest));
});

test('a small file is not said to be nothing', () => {
  const { streams, text } = capture();
  progressBar(createTerminal({ json: false }, streams), 'Sending', true).show({ sent: 1, total: 1126 });
  expect(text().stderr).toContain(' 0 % of 1.1 KiB');
});

test('where nobody looks there is none', () => {
  expect(show(false)).toBe('');
});
