import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
import { replaceFile, replaceFileSync } from './replace-file.ts';

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
  expect(() => replaceFileSync(join(folder, 'a'), 'text')).toThrow(/EISDIR/);
  expect(readdirSync(folder)).toEqual(['a']);
});

test.each(['replaceFile', 'replaceFileSync'])(
  '%s leaves the old content or the new one, wherever its writer is killed',
  async (name) => {
    const file = join(folder, 'a');
    const script = `
      import { ${name} } from ${JSON.stringify(join(import.meta.dirname, 'replace-file.ts'))};
      for (let n = 0; ; n += 1) {
        await ${name}(${JSON.stringify(file)}, String(n % 10).repeat(500_000));
        if (n % 5 === 0) process.stdout.write('.');
      }`;
    for (let round = 0; round < 3; round += 1) {
      const writer = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script]);
      await once(writer.stdout, 'data');
      writer.kill('SIGKILL');
      await once(writer, 'exit');
      expect(readFileSync(file, 'utf8')).toMatch(/^(\d)\1{499999}$/);
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
  },
);
