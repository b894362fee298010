import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replaceFile } from './replace-file.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'sallyport-replace-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a file is replaced as a whole, for its owner alone, and nothing else is left', async () => {
  const file = join(folder, 'a');
  writeFileSync(file, 'a long text of before');
  chmodSync(file, 0o644);
  await Promise.all(['one', 'two'].map((text) => replaceFile(file, text)));
  expect(readFileSync(file, 'utf8')).toMatch(/^(one|two)$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['a']);
});

test('what cannot be replaced stays, and nothing else is left', async () => {
  mkdirSync(join(folder, 'a'));
  await expect(replaceFile(join(folder, 'a'), 'text')).rejects.toMatchObject({ code: 'EISDIR' });
  expect(readdirSync(folder)).toEqual(['a']);
});
