import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDirectory } from './directory.ts';
import { whyNotWritten } from './disk.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'directory-'));
});
afterEach(() => rmSync(root, { recursive: true }));

test('a directory is made with those above it, for its owner alone, and may be there already', () => {
  const directory = join(root, 'a', 'b', 'c');
  makeDirectory(directory);
  makeDirectory(directory);
  expect(statSync(directory).isDirectory()).toBe(true);
  if (process.platform !== 'win32') expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
});

test('below a file it is refused', () => {
  writeFileSync(join(root, 'file'), '');
  expect(() => makeDirectory(join(root, 'file', 'below'))).toThrow(/ENOTDIR|EEXIST/);
});

test.skipIf(process.platform !== 'linux')('where nothing can be made it is refused at once, in words', () => {
  let thrown: unknown;
  try {
    makeDirectory('/proc/sallyport/state');
  } catch (error) {
    thrown = error;
  }
  expect(whyNotWritten(thrown)).toBe('no folder can be made there');
});
