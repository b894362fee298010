import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished, expect, test } from 'vitest';
import { makeProcessFolder } from './process-folder.ts';

function scratch(): string {
  const parent = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return parent;
}

/** A process that makes a folder, says its name, and waits. */
async function maker(parent: string) {
  const module = JSON.stringify(new URL('./process-folder.ts', import.meta.url).href);
  const script = `
    const { makeProcessFolder } = await import(${module});
    console.log(makeProcessFolder(${JSON.stringify(parent)}, 'some-'));
    setInterval(() => undefined, 1e6);`;
  const child = spawn(process.execPath, ['-C', '@sallyport/source', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { folder: line.toString().trim(), kill };
}

test('what a killed process left behind goes, what a running one has stays', async () => {
  const parent = scratch();
  const [killed, running] = await Promise.all([maker(parent), maker(parent)]);
  writeFileSync(join(killed.folder, 'file'), 'x');
  await killed.kill();
  const own = makeProcessFolder(parent, 'some-');
  expect(readdirSync(parent).sort()).toEqual([basename(running.folder), basename(own)].sort());
});

test('a pid that another process has by now keeps nothing', () => {
  const parent = scratch();
  const stale = join(parent, `some-${process.pid}-0123456789ab-aBc123`);
  mkdirSync(stale);
  makeProcessFolder(parent, 'some-');
  expect(existsSync(stale)).toBe(false);
});

test("folders of other kinds, and of other makers' names, stay", () => {
  const parent = scratch();
  const others = ['other-1-0123456789ab-aBc123', 'some-thing', 'some-1', 'some-1-0123456789ab-aBc123.txt'];
  for (const name of others) mkdirSync(join(parent, name));
  makeProcessFolder(parent, 'some-');
  for (const name of others) expect(existsSync(join(parent, name)), name).toBe(true);
});
