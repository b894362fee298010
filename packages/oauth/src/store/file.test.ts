import {
  mkdtemp,
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  watch,
  writeFile,
} from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '@sallyport/core/testing';
import type { Log } from '@sallyport/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startChild } from '../../test/child.ts';
import { drive } from '../../test/drive.ts';
import { fileTokenStore } from './file.ts';
import type { Credentials } from './token-store.ts';

let root: string;
let directory: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sallyport-store-'));
  directory = join(root, 'state', 'logins');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const login: Credentials = {
  baseUrl: 'http://127.0.0.1:8787',
  clientId: 'client-1',
  organizationId: 'org-1',
  accessToken: 'at-secret',
  refreshToken: 'rt-secret',
  expiresAt: 1_767_225_600_000,
  scope: 'profile',
};
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

/** A log that keeps its warnings. */
function warnings() {
  const told: object[] = [];
  const silent = () => undefined;
  const log: Log = { debug: silent, info: silent, error: silent, warn: (fields) => void told.push(fields) };
  return { log, told };
}

describe('a login', () => {
  test('is what was stored last under its key, whatever the key has in it', async () => {
    const store = fileTokenStore({ directory });
    for (const key of ['main', '..', 'https://gate.example/a?b=c', 'ü/../../x']) {
      expect(await store.load(key)).toBeUndefined();
      await store.save(key, { ...login, accountId: 'first' });
      await store.save(key, { ...login, accountId: key });
      expect(await store.load(key)).toEqual({ ...login, accountId: key });
    }
    expect(await readdir(directory)).toHaveLength(4);
    await store.remove('main');
    await store.remove('main');
    expect(await store.load('main')).toBeUndefined();
    expect(await store.load('..')).toMatchObject({ accountId: '..' });
  });

  test('may be removed where none was ever stored', async () => {
    await fileTokenStore({ directory }).remove('main');
    await expect(stat(directory)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('that is removed while it is read is the login or none', async () => {
    const store = fileTokenStore({ directory });
    let isOver = false;
    const read = async () => {
      while (!isOver) expect([login, undefined]).toContainEqual(await store.load('main'));
    };
    const reading = Promise.all([read(), read(), read()]);
    try {
      for (let round = 0; round < 50; round += 1) {
        await store.save('main', login);
        await store.remove('main');
      }
    } finally {
      isOver = true;
      await reading;
    }
  });

  test.each([
    ['', 'not JSON'],
    ['{"version":1,"accessToken":"at-sec', 'not JSON'],
    ['null', 'not an object'],
    [JSON.stringify(login), 'version is undefined'],
    [JSON.stringify({ version: '2', ...login }), 'version is "2"'],
    [JSON.stringify({ version: 0, ...login }), 'version is 0'],
    [JSON.stringify({ version: 1, ...login, accessToken: 7 }), 'accessToken'],
    [JSON.stringify({ version: 1, ...login, refreshToken: 7 }), 'refreshToken'],
    [JSON.stringify({ version: 1, ...login, expiresAt: '1' }), 'expiresAt'],
    [JSON.stringify({ version: 1, ...login, requestedAt: '1' }), 'requestedAt'],
  ])('that is damaged (%s) is said to be, with the file and without its secrets', async (content, why) => {
    await mkdir(directory, { recursive: true });
    const file = join(directory, 'main.json');
    await writeFile(file, content);
    const error: unknown = await fileTokenStore({ directory })
      .load('main')
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: 'LoginError', code: 'store_corrupt' });
    expect(String(error)).toContain(file);
    expect(String(error)).toContain(why);
    expect(String(error)).not.toContain('secret');
    expect(await readFile(file, 'utf8')).toBe(content);
  });

  test('of a newer release is said to be, and is not called damaged', async () => {
    await mkdir(directory, { recursive: true });
    const file = join(directory, 'main.json');
    await writeFile(file, JSON.stringify({ version: 2, ...login }));
    const loading = fileTokenStore({ directory }).load('main');
    await expect(loading).rejects.toMatchObject({
      code: 'store_newer',
      message: `${file} is of a newer release (version 2; this one reads 1). Use that release, or log in again here.`,
    });
  });

  test('can be probed for, and nothing is left of that', async () => {
    const store = fileTokenStore({ directory });
    await store.probe('main');
    expect(await readdir(directory)).toEqual([]);
  });

  test('that cannot be stored or read is said so, with the file', async () => {
    await writeFile(join(root, 'state'), 'a file where the folder should be');
    const store = fileTokenStore({ directory });
    const failure = {
      code: 'store_failed',
      message: expect.stringContaining(join(directory, 'main.json')) as string,
    };
    await expect(store.probe('main')).rejects.toMatchObject(failure);
    await expect(store.save('main', login)).rejects.toMatchObject(failure);
    await expect(store.load('main')).rejects.toMatchObject(failure);
    await expect(store.withLock('main', () => Promise.resolve())).rejects.toMatchObject(failure);
  });
});

describe('modes', () => {
  test('are 0600 in 0700 under umask 000', async () => {
    const child = startChild('writing-child.ts', directory, '10', '000');
    for await (const line of child.lines) if (Number(line) >= 2) break;
    child.kill();
    await child.exited;
    expect(await modeOf(join(directory, 'main.json'))).toBe('600');
    expect(await modeOf(directory)).toBe('700');
  });

  test('that are looser are tightened when a login is read or written, with a warning', async () => {
    const { log, told } = warnings();
    const store = fileTokenStore({ directory, log });
    await store.save('main', login);
    expect(told).toEqual([]);
    const file = join(directory, 'main.json');
    await chmod(file, 0o644);
    await chmod(directory, 0o755);
    expect(await store.load('main')).toEqual(login);
    expect([await modeOf(directory), await modeOf(file)]).toEqual(['700', '600']);
    expect(told).toMatchObject([
      { path: directory, found: '755' },
      { path: file, found: '644' },
    ]);
    await chmod(directory, 0o777);
    await store.save('main', login);
    expect(await modeOf(directory)).toBe('700');
    expect(told).toHaveLength(3);
  });
});

describe('a writer that is killed', () => {
  test('leaves the login before or the login after, never half of one', async () => {
    const store = fileTokenStore({ directory });
    const size = 4_000_000;
    let torn = 0;
    for (let round = 1; torn < 2 && round <= 20; round += 1) {
      await store.save('main', { ...login, accessToken: 'z'.repeat(size) });
      const child = startChild('writing-child.ts', directory, String(size));
      for await (const { filename } of watch(directory)) if (filename?.endsWith('.tmp')) break;
      child.kill();
      expect(await child.exited).toBe('SIGKILL');
      const { accessToken = '' } = (await store.load('main')) ?? {};
      expect(accessToken).toBe((accessToken[0] ?? '?').repeat(size));
      const left = (await readdir(directory)).filter((name) => name.endsWith('.tmp'));
      const sizes = await Promise.all(left.map(async (name) => (await stat(join(directory, name))).size));
      torn = sizes.filter((found) => found < size).length;
    }
    // What they left in mid-write is swept once it is old.
    expect(torn).toBe(2);
    for (const name of await readdir(directory)) {
      if (name.endsWith('.tmp')) await utimes(join(directory, name), 0, 0);
    }
    await store.save('main', login);
    expect(await readdir(directory)).toEqual(['main.json']);
  });

  test('does not take along what another writer is about to rename', async () => {
    const store = fileTokenStore({ directory });
    await store.save('main', login);
    const fresh = join(directory, 'main.json.0.tmp');
    await writeFile(fresh, '');
    await store.save('main', login);
    await expect(stat(fresh)).resolves.toBeDefined();
  });
});

describe('the lock', () => {
  test('lets one in at a time, and lets others in after a failure', async () => {
    const stores = [fileTokenStore({ directory }), fileTokenStore({ directory })];
    let inside = 0;
    let most = 0;
    const acts = Array.from({ length: 8 }, (_, i) =>
      stores[i % 2]!.withLock('main', async () => {
        most = Math.max(most, (inside += 1));
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        if (i % 3 === 0) throw new Error(`act ${i}`);
        return i;
      }),
    );
    const outcomes = await Promise.allSettled(acts);
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(
      [0, 1, 1, 0, 1, 1, 0, 1].map(Boolean),
    );
    expect(most).toBe(1);
    expect(await readdir(directory)).toEqual([]);
  });

  test('is per login', async () => {
    const store = fileTokenStore({ directory });
    const inner = await store.withLock('main', () => store.withLock('other', () => Promise.resolve('both')));
    expect(inner).toBe('both');
  });

  test('that is held by another process is waited for only so long', async () => {
    const child = startChild('locking-child.ts', directory);
    await once(child.lines, 'line');
    const clock = new ManualClock();
    const store = fileTokenStore({ directory, clock, lockTimeoutMs: 5_000 });
    await expect(
      drive(
        clock,
        store.withLock('main', () => Promise.resolve()),
      ),
    ).rejects.toMatchObject({
      name: 'LoginError',
      code: 'store_locked',
      message: expect.stringContaining(join(directory, 'main.json')) as string,
    });
    expect(clock.monotonic()).toBeGreaterThanOrEqual(5_000);

    child.kill();
    await child.exited;
    const longAgo = Date.now() / 1000 - 11; // the holder that is dead touches it no more
    await utimes(join(directory, 'main.json.lock'), longAgo, longAgo);
    expect(await store.withLock('main', () => Promise.resolve('free'))).toBe('free');
  });

  test('of a holder that was killed is free after 10 seconds, though the clock was set back since', async () => {
    const child = startChild('locking-child.ts', directory);
    await once(child.lines, 'line');
    child.kill();
    await child.exited;
    const lock = join(directory, 'main.json.lock');
    const ahead = Date.now() / 1000 + 3600;
    await utimes(lock, ahead, ahead);
    const clock = new ManualClock();
    const store = fileTokenStore({ directory, clock });
    const free = drive(
      clock,
      store.withLock('main', () => Promise.resolve('free')),
    );
    expect(await free).toBe('free');
    expect(clock.monotonic()).toBeGreaterThanOrEqual(10_000);
    await expect(stat(lock)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
