import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { balances, ledgerContents, openLedger, scratchDirectory } from '../../../test/store/scratch.ts';
import { lockStore, runningGateway } from './lock.ts';

const victim = fileURLToPath(new URL('../../../test/store/victim.ts', import.meta.url));

/** A process that holds the directory and writes; `until` waits for so many answered acts. */
function startVictim(directory: string, name = 'victim') {
  const args = ['--conditions=@sallyport/source', victim, directory, fileURLToPath(ledgerContents), name];
  const child: ChildProcessByStdio<null, Readable, null> = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout });
  const answered: string[] = [];
  lines.on('line', (line) => answered.push(line));
  return {
    child,
    answered,
    async until(count: number) {
      while (answered.length < count) await once(lines, 'line');
    },
    async kill() {
      const ended = Promise.all([once(lines, 'close'), once(child, 'exit')]);
      child.kill('SIGKILL');
      await ended;
    },
  };
}

test('after kill -9 every answered act is there, once', async () => {
  const directory = scratchDirectory();
  const answered: string[] = [];
  // Twice: the second process recovers what the first left, and is killed in turn.
  for (const name of ['first', 'second']) {
    const victim = startVictim(directory, name);
    await victim.until(400);
    await victim.kill();
    answered.push(...victim.answered);
  }
  const { writer, reader } = await openLedger({ path: `${directory}/store.db` });
  const entries = reader.query<{ memo: string }>('SELECT memo FROM entry LIMIT 1000000').all();
  const stored = new Set(entries.map(({ memo }) => memo));
  expect(answered.length).toBeGreaterThanOrEqual(800);
  expect(answered.filter((memo) => !stored.has(memo))).toEqual([]);
  expect(stored.size).toBe(entries.length);
  // Both statements of an act, or neither.
  expect(balances(reader)).toEqual({ victim: entries.length });
  expect(await writer.area('ledger').deposit({ account: 'victim', amount: 1 })).toBe(entries.length + 1);
});

test('to look who runs makes nothing', () => {
  const directory = `${scratchDirectory()}/none`;
  expect(runningGateway(`${directory}/store.db`)).toBeUndefined();
  expect(existsSync(directory)).toBe(false);
});

test('a second gateway is refused and told who holds the store; kill -9 frees it', async () => {
  const directory = scratchDirectory();
  const path = `${directory}/store.db`;
  const gateway = startVictim(directory);
  await gateway.until(1);
  const { pid } = gateway.child;
  expect(runningGateway(path)).toEqual({ pid, url: null });
  expect(() => lockStore(path)).toThrow(
    expect.objectContaining({
      code: 'in_use',
      message: `The store ${path} is in use by another gateway (process ${String(pid)}): stop it, or give this one a directory of its own with --data-dir.`,
    }),
  );
  // An admin command asks for no lock.
  const { writer } = await openLedger({ path });
  expect(await writer.area('ledger').deposit({ account: 'admin', amount: 1 })).toBe(1);
  await gateway.kill();
  expect(runningGateway(path)).toBeUndefined();
  const lock = lockStore(path, 'http://[::1]:9000');
  expect(runningGateway(path)).toEqual({ pid: process.pid, url: 'http://[::1]:9000' });
  expect(() => lockStore(path)).toThrow(`(process ${String(process.pid)}, http://[::1]:9000)`);
  lock.release();
  lock.release();
  lockStore(path).release();
  expect(readdirSync(directory).filter((name) => name.includes('json'))).toEqual([]);
});

test('a store is one, whichever path leads to it', () => {
  const directory = scratchDirectory();
  const [real, linked] = [join(directory, 'real'), join(directory, 'linked')];
  mkdirSync(real);
  symlinkSync(real, linked);
  const lock = lockStore(join(real, 'store.db'));
  expect(() => lockStore(join(linked, 'store.db'))).toThrow(expect.objectContaining({ code: 'in_use' }));
  writeFileSync(join(real, 'store.db'), '');
  symlinkSync(join(real, 'store.db'), join(directory, 'alias.db'));
  expect(() => lockStore(join(directory, 'alias.db'))).toThrow(expect.objectContaining({ code: 'in_use' }));
  lock.release();
});

test('who holds it without having said so yet, after one that was killed, is not mistaken for that one', async () => {
  const directory = scratchDirectory();
  const path = join(directory, 'store.db');
  const gateway = startVictim(directory);
  await gateway.until(1);
  await gateway.kill();
  const silent = new DatabaseSync(`${path}.lock`);
  silent.exec('BEGIN IMMEDIATE');
  expect(runningGateway(path)).toMatchObject({ pid: gateway.child.pid }); // better than nobody, after a second
  silent.close();
  expect(runningGateway(path)).toBeUndefined();
});

test('where no directory can be made, there is one clear error', () => {
  expect(() => lockStore('/proc/none/store.db')).toThrow(
    expect.objectContaining({
      code: 'cannot_open',
      message:
        'The directory /proc/none cannot be made (no such file or directory): give another one with --data-dir, or a file elsewhere with --store.',
    }),
  );
});
