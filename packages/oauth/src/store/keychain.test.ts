import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fakeSecretTool, fakeSecurity, keyringIn } from '../../test/fake-keychain.ts';
import { probeKeychain } from './keychain.ts';
import { systemKeychain } from './system-keychain.ts';

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'sallyport-keychain-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

const { signal } = new AbortController();

describe.each([
  ['secret-tool', fakeSecretTool],
  ['security', fakeSecurity],
])('%s', (name, fake) => {
  test('keeps one secret for each account, and shows it to nobody in its arguments', async () => {
    const keychain = fake('working', folder);
    expect(keychain.name).toBe(name);
    expect(await keychain.read('a', signal)).toBeUndefined();
    const secret = '{"text": "it\'s \\"secret\\"\\n, ü"}\n';
    await keychain.write('a', 'secret-0', signal);
    await keychain.write('a', secret, signal);
    await keychain.write("http://b/?x='y' in /home/me", 'secret-b', signal);
    expect(await keychain.read('a', signal)).toBe(secret);
    expect(await keychain.read("http://b/?x='y' in /home/me", signal)).toBe('secret-b');
    await keychain.remove('a', signal);
    await keychain.remove('a', signal);
    expect(await keychain.read('a', signal)).toBeUndefined();
    const { items, calls } = keyringIn(folder);
    expect(items).toHaveLength(1);
    expect(calls.join('\n')).not.toMatch(/secret-|text|c2VjcmV0/);
  });

  test('that works leaves nothing of a probe', async () => {
    await probeKeychain(fake('working', folder), signal);
    expect(keyringIn(folder).items).toEqual([]);
  });

  test('that is locked says so, though its exit code may not', async () => {
    await expect(probeKeychain(fake('locked', folder), signal)).rejects.toThrow(
      /^(Cannot create an item in a locked collection|SecKeychain.*User interaction is not allowed)/,
    );
  });
});

test('a secret that was not kept is not believed to be, whatever the tool says', async () => {
  const working = fakeSecretTool('working', folder);
  const forgetful = { ...working, write: () => Promise.resolve() };
  await expect(probeKeychain(forgetful, signal)).rejects.toThrow('does not give back');
});

test.each([
  ['secret-tool', fakeSecretTool, 8191],
  ['security', fakeSecurity, 2900],
])('%s is not given what it would cut off: the secret before stays', async (_, fake, longest) => {
  const keychain = fake('working', folder);
  const secret = 'x'.repeat(longest);
  await keychain.write('a', secret, signal);
  await expect(keychain.write('a', 'x'.repeat(8192), signal)).rejects.toThrow('too long');
  expect(await keychain.read('a', signal)).toBe(secret);
});

test('a system without one has none', () => {
  expect(systemKeychain({ service: 'my-tool', platform: 'win32' })).toBeUndefined();
});
