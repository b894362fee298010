import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replaceFile } from './replace-file.ts';
import { temporaryFolder } from './testing/bench.ts';

test('a file is the old one or the new one, wherever its writer is killed', async () => {
  const file = join(temporaryFolder(), 'record.json');
  const script = `
    import { replaceFile } from ${JSON.stringify(join(import.meta.dirname, 'replace-file.ts'))};
    const filling = 'x'.repeat(500_000);
    for (let n = 0; ; n += 1) {
      replaceFile(${JSON.stringify(file)}, { n, filling });
      if (n % 5 === 0) process.stdout.write('.');
    }`;
  for (let round = 0; round < 3; round += 1) {
    const writer = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script]);
    await once(writer.stdout, 'data');
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ n: expect.any(Number) as number });
  }
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('what cannot be written leaves the file alone', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'record.json');
  replaceFile(file, { n: 1 });
  expect(() => replaceFile(file, { n: 2n })).toThrow(TypeError);
  expect(readdirSync(folder)).toEqual(['record.json']);
  expect(readFileSync(file, 'utf8')).toBe('{"n":1}');
});
