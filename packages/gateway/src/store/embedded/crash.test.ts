import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { balances, ledgerContents, openLedger, scratchDirectory } from '../../../test/store/scratch.ts';
import { lockDataDirectory, runningGateway } from './lock.ts';

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
      child.kill('SIGKILL');
      await once(lines, 'close');
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
  expect(runningGateway(directory)).toBeUndefined();
  expect(existsSync(directory)).toBe(false);
});

test('a second gateway is refused and told who holds the directory; kill -9 frees it', async () => {
  const directory = scratchDirectory();
  const gateway = startVictim(directory);
  await gateway.until(1);
  expect(runningGateway(directory)).toEqual({ pid: gateway.child.pid, url: null });
  expect(() => lockDataDirectory(directory)).toThrow(
    expect.objectContaining({
      code: 'directory_in_use',
      message: `The data directory ${directory} is in use by another gateway (process ${String(gateway.child.pid)}): stop it, or give this one a directory of its own.`,
    }),
  );
  // An admin command asks for no lock.
  const { writer } = await openLedger({ path: `${directory}/store.db` });
  expect(await writer.area('ledger').deposit({ account: 'admin', amount: 1 })).toBe(1);
  await gateway.kill();
  expect(runningGateway(directory)).toBeUndefined();
  const lock = lockDataDirectory(directory, 'http://[::1]:9000');
  expect(runningGateway(directory)).toEqual({ pid: process.pid, url: 'http://[::1]:9000' });
  expect(() => lockDataDirectory(directory)).toThrow(`process ${String(process.pid)}`);
  lock.release();
  lock.release();
  lockDataDirectory(directory).release();
});
