import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '@sallyport/core/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { drive } from '../../test/drive.ts';
import { fakeSecretTool, keyringIn, type Behaviour } from '../../test/fake-keychain.ts';
import { storeLogin } from '../client/stored-login.ts';
import { fileTokenStore } from './file.ts';
import { systemTokenStore, type SystemTokenStoreOptions } from './system.ts';
import type { Credentials } from './token-store.ts';

let root: string;
let directory: string;
let keyring: string;
let notices: string[];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sallyport-system-'));
  directory = join(root, 'logins');
  keyring = join(root, 'keyring');
  notices = [];
});
afterEach(() => rm(root, { recursive: true, force: true }));

const login: Credentials = {
  baseUrl: 'http://127.0.0.1:8787',
  clientId: 'client-1',
  accountId: 'account-1',
  accessToken: 'at-secret',
  refreshToken: 'rt-secret',
  expiresAt: 1_767_225_600_000,
  scope: 'profile',
};
const newer = { ...login, accessToken: 'at-newer' };
const file = () => join(directory, 'main.json');
const open = (behaviour: Behaviour, more: Partial<SystemTokenStoreOptions> = {}) =>
  systemTokenStore({
    directory,
    service: 'my-tool',
    keychain: fakeSecretTool(behaviour, keyring),
    onFallback: (why) => notices.push(why),
    ...more,
  });

describe('a keychain that works', () => {
  test('keeps the login, and the file has no secret', async () => {
    const store = open('working');
    await store.probe('main');
    await store.save('main', login);
    expect(await store.load('main')).toEqual(login);
    expect(await store.whereIs('main')).toBe('the keychain (secret-tool)');
    expect(await readFile(file(), 'utf8')).toBe('{"version":1,"keychain":"secret-tool"}\n');
    expect(keyringIn(keyring).items).toHaveLength(1);
    expect(keyringIn(keyring).calls.join('\n')).not.toContain('secret"');
    expect(notices).toEqual([]);
  });

  test('is remembered: other processes find it there, and renew it there, whatever their settings', async () => {
    await open('working').save('main', login);
    const other = open('working', { place: 'file' });
    expect(await other.load('main')).toEqual(login);
    await other.save('main', newer);
    expect(await open('working').load('main')).toEqual(newer);
    expect(await other.whereIs('main')).toContain('keychain');
    expect(keyringIn(keyring).items).toHaveLength(1);
  });

  test('forgets the login with its file', async () => {
    const store = open('working');
    await store.save('main', login);
    await store.remove('main');
    await store.remove('main');
    expect(keyringIn(keyring).items).toEqual([]);
    expect(await store.load('main')).toBeUndefined();
    expect(await store.whereIs('main')).toBeUndefined();
    await expect(stat(file())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('that a person has emptied has no login', async () => {
    const store = open('working');
    await store.save('main', login);
    await rm(keyring, { recursive: true });
    await mkdir(keyring);
    expect(await store.load('main')).toBeUndefined();
    await store.remove('main');
    await expect(stat(file())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('keeps the logins of two folders apart', async () => {
    const elsewhere = open('working', { directory: join(root, 'elsewhere') });
    await open('working').save('main', login);
    await elsewhere.save('main', newer);
    expect(await open('working').load('main')).toEqual(login);
  });

  test('takes over a login from a file, with its trusted device, and gives it back', async () => {
    await fileTokenStore({ directory }).save('main', { ...login, deviceToken: 'tdt-secret' });
    const store = open('working');
    expect(await store.whereIs('main')).toBe(file());
    await store.probe('main');
    await storeLogin(store, 'main', newer);
    expect(await store.load('main')).toEqual({ ...newer, deviceToken: 'tdt-secret' });
    expect(await readFile(file(), 'utf8')).not.toContain('secret"');

    const files = open('working', { place: 'file' });
    await files.probe('main');
    await storeLogin(files, 'main', login);
    expect(await fileTokenStore({ directory }).load('main')).toEqual({ ...login, deviceToken: 'tdt-secret' });
    expect(keyringIn(keyring).items).toEqual([]);
  });

  test('that takes no login of that length leaves it to the file, and says so', async () => {
    const keychain = fakeSecretTool('working', keyring);
    const short: typeof keychain = {
      ...keychain,
      write: (account, secret, signal) =>
        secret.length > 4000
          ? Promise.reject(new Error('password is too long'))
          : keychain.write(account, secret, signal),
    };
    const store = open('working', { keychain: short });
    await store.probe('main');
    const long = { ...login, accessToken: 'x'.repeat(5000) };
    await store.save('main', long);
    expect(await fileTokenStore({ directory }).load('main')).toEqual(long);
    expect(notices).toEqual(['password is too long']);
  });
});

// cli 10108, 7757; claude-code 79407; antigravity-cli 53; entireio/cli 2495.
describe.each([
  ['locked', /locked collection/],
  ['hanging', /did not answer within 3 s/],
  ['without-bus', /Cannot autolaunch D-Bus/],
  ['missing', /there is no secret-tool/],
] as const)('a keychain that is %s', (behaviour, why) => {
  /** Only what hangs needs time to pass: what is under way must not be overtaken by it. */
  const settled = <T>(clock: ManualClock, work: Promise<T>) =>
    behaviour === 'hanging' ? drive(clock, work) : work;

  test('is found out before the login, within 3 s; the login goes to a file, and that is said', async () => {
    const clock = new ManualClock();
    const started = clock.monotonic();
    const store = open(behaviour, { clock });
    await settled(clock, store.probe('main'));
    expect(clock.monotonic() - started).toBeLessThanOrEqual(3000);
    // The login may fail yet.
    expect(notices).toEqual([]);
    await store.save('main', login);
    expect(notices).toEqual([expect.stringMatching(why)]);
    expect(await fileTokenStore({ directory }).load('main')).toEqual(login);
    expect(((await stat(file())).mode & 0o777).toString(8)).toBe('600');
    expect(await store.whereIs('main')).toBe(file());
    // Remembered: nobody asks the keychain again, or is told again.
    await open(behaviour).save('main', newer);
    expect(notices).toHaveLength(1);
  });

  test('keeps no login where nothing else was allowed', async () => {
    const clock = new ManualClock();
    const store = open(behaviour, { clock, place: 'keychain' });
    await expect(settled(clock, store.probe('main'))).rejects.toMatchObject({
      code: 'keychain_failed',
      message: expect.stringMatching(why) as string,
    });
    await expect(stat(file())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('is never asked where files were wanted', async () => {
    const store = open(behaviour, { place: 'file' });
    await store.probe('main');
    await store.save('main', login);
    expect(await store.load('main')).toEqual(login);
    expect(notices).toEqual([]);
  });

  describe('since the login', () => {
    beforeEach(() => open('working').save('main', login));

    test('is said to be; nothing goes to a file unseen, and nothing is lost', async () => {
      const clock = new ManualClock();
      const store = open(behaviour, { clock });
      const failed = { code: 'keychain_failed' };
      await expect(settled(clock, store.load('main'))).rejects.toMatchObject(failed);
      await expect(settled(clock, store.save('main', newer))).rejects.toMatchObject(failed);
      expect(await readFile(file(), 'utf8')).not.toContain('at-');
      expect(await open('working').load('main')).toEqual(login);
    });

    test('keeps the login until it can be removed', async () => {
      const clock = new ManualClock();
      const removed = settled(clock, open(behaviour, { clock }).remove('main'));
      await expect(removed).rejects.toMatchObject({ code: 'keychain_failed' });
      await open('working').remove('main');
      expect(keyringIn(keyring).items).toEqual([]);
    });

    test('does not keep the person from a new login', async () => {
      const clock = new ManualClock();
      const store = open(behaviour, { clock });
      await settled(clock, store.probe('main'));
      await storeLogin(store, 'main', newer);
      expect(await fileTokenStore({ directory }).load('main')).toEqual(newer);
    });
  });
});

test('a tool that hangs is killed', async () => {
  const clock = new ManualClock();
  const probing = open('hanging', { clock }).probe('main');
  await expect.poll(() => existsSync(join(keyring, 'calls'))).toBe(true);
  const [pid] = keyringIn(keyring).calls;
  expect(isRunning(Number(pid))).toBe(true);
  await clock.advance(3000);
  await probing;
  await expect.poll(() => isRunning(Number(pid))).toBe(false);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
