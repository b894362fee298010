import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { identify } from '@sallyport/core/process-identity';
import { lockDirectory, lockHolder } from './directory-lock.ts';
import { temporaryFolder } from './testing/bench.ts';

/** Why the lock cannot be had. */
function refusal(folder: string): unknown {
  try {
    lockDirectory(folder)();
    return undefined;
  } catch (error) {
    return error;
  }
}

test('a living holder keeps the lock, and who wants it learns what to do', () => {
  const folder = temporaryFolder();
  const unlock = lockDirectory(folder);
  expect(lockHolder(folder)).toBe(process.pid);
  expect(refusal(folder)).toMatchObject({
    name: 'RuntimeError',
    code: 'conflict',
    message: `A bridge for this directory runs already (pid ${process.pid}): stop it with Ctrl-C there, or use another --dir.`,
  });
  unlock();
  expect(lockHolder(folder)).toBeUndefined();
  expect(refusal(folder)).toBeUndefined();
});

test.each(['IMMEDIATE', 'EXCLUSIVE'])(
  'one who has not said yet who it is has it all the same (%s)',
  (mode) => {
    const folder = temporaryFolder();
    const holder = new DatabaseSync(join(folder, 'lock.db'));
    holder.exec(`BEGIN ${mode}`);
    expect(refusal(folder)).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/already: stop/) as string,
    });
    holder.close();
    expect(refusal(folder)).toBeUndefined();
  },
);

test('one that is gone is not taken for the process that has its pid now', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'holder.json'), JSON.stringify({ ...identify(process.pid), start_time: '1' }));
  expect(lockHolder(folder)).toBeUndefined();
});

test('over the lock of a killed holder only one of many gets it', async () => {
  const folder = temporaryFolder();
  const script = `
    import { lockDirectory } from ${JSON.stringify(join(import.meta.dirname, 'directory-lock.ts'))};
    try { globalThis.unlock = lockDirectory(${JSON.stringify(folder)}); console.log('held'); }
    catch (error) { console.log(error.code); }
    setInterval(() => undefined, 1000);`;
  const start = async (): Promise<[ChildProcess, string]> => {
    const args = ['-C', '@sallyport/source', '--no-warnings', '--input-type=module', '-e', script];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    return [child, said.toString().trim()];
  };
  const [holder, said] = await start();
  expect(said).toBe('held');
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const rivals = await Promise.all(Array.from({ length: 6 }, start));
  for (const [child] of rivals) child.kill('SIGKILL');
  expect(rivals.filter(([, word]) => word === 'held')).toHaveLength(1);
  expect(rivals.filter(([, word]) => word === 'conflict')).toHaveLength(5);
});
