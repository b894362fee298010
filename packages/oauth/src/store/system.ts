import { systemClock } from '@sallyport/core';
import { LoginError } from '../client/login-error.ts';
import { parseCredentials, parsePointer, writeCredentials, writePointer } from './credentials-file.ts';
import { probeKeychain, within, writeChecked, type Keychain } from './keychain.ts';
import { systemKeychain } from './system-keychain.ts';
import { loginFiles, type LoginFilesOptions } from './login-files.ts';
import type { TokenStore } from './token-store.ts';

/** Where logins are to rest: `auto` is the keychain where one works, else files. */
export type Place = 'auto' | 'file' | 'keychain';

export interface SystemTokenStoreOptions extends LoginFilesOptions {
  /** What the program is called in the keychain. */
  readonly service: string;
  /** For new logins; one that is stored stays where it is. Default `auto`. */
  readonly place?: Place;
  /** Told why a login is in a file, once it is there, where the keychain was tried first: the person has to know. */
  readonly onFallback?: (why: string) => void;
  /** Default: the system's. */
  readonly keychain?: Keychain | undefined;
}

export interface SystemTokenStore extends TokenStore {
  /** Where the login is, for people: the path of its file, or the keychain. */
  whereIs(key: string): Promise<string | undefined>;
}

/** Within this, a keychain works or does not: nobody is sent to approve a login before. */
const probeMs = 3_000;
/** Later on, a person may have to unlock it. */
const unlockMs = 30_000;

/**
 * Logins in the system's keychain where that works, else in files. `probe` decides, before a person is sent to approve a login;
 * each login's file tells from then on where it is. The lock between processes is the file's in both cases.
 *
 * Throws `LoginError` `keychain_failed`, and `store_*` as `fileTokenStore` does.
 *
 * @example
 * const store = systemTokenStore({ directory, service: 'my-tool', onFallback: (why) => console.error(why) });
 */
export function systemTokenStore(options: SystemTokenStoreOptions): SystemTokenStore {
  const { directory, service, place = 'auto', onFallback = () => undefined, clock = systemClock } = options;
  const { keychain = systemKeychain({ service }) } = options;
  const files = loginFiles(options);
  /** Of the logins that were probed for; `auto` no more. */
  const decided = new Map<string, Exclude<Place, 'auto'>>();
  let broken: LoginError | undefined;
  /** Why the next login goes to a file, until that is told. */
  let whyFile: string | undefined;
  // The folder's: several may have a login at the same service.
  const accountOf = (key: string) => `${key} in ${directory}`;

  async function ask<T>(
    what: string,
    ms: number,
    act: (keychain: Keychain, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (broken) throw broken;
    if (!keychain) throw keychainFailed(what, new Error('this system has none'));
    try {
      return await within(clock, ms, (signal) => act(keychain, signal));
    } catch (cause) {
      throw keychainFailed(what, cause);
    }
  }

  async function decide(): Promise<Exclude<Place, 'auto'>> {
    if (place === 'file') return place;
    try {
      await ask('kept in', probeMs, probeKeychain);
      return 'keychain';
    } catch (error) {
      if (place === 'keychain' || !(error instanceof LoginError)) throw error;
      broken = error;
      whyFile = reasonOf(error.cause);
      return 'file';
    }
  }

  async function placeOf(key: string, text: string | undefined): Promise<Exclude<Place, 'auto'>> {
    const known = decided.get(key);
    if (known !== undefined) return known;
    if (text === undefined) return decide();
    return parsePointer(text) === undefined ? 'file' : 'keychain';
  }

  async function toFile(key: string, secret: string, before: string | undefined): Promise<void> {
    await files.write(key, secret);
    if (whyFile !== undefined) onFallback(whyFile);
    whyFile = undefined;
    if (before === undefined || parsePointer(before) === undefined) return;
    const forget = ask('removed from', unlockMs, (it, signal) => it.remove(accountOf(key), signal));
    await forget.catch(() => undefined); // nothing leads to it any more
  }

  async function toKeychain(key: string, secret: string, before: string | undefined): Promise<void> {
    await ask('written to', unlockMs, (it, signal) => writeChecked(it, accountOf(key), secret, signal));
    const name = keychain?.name ?? '';
    if (before === undefined || parsePointer(before) !== name) await files.write(key, writePointer(name));
  }

  return {
    async load(key) {
      const text = await files.read(key);
      if (text === undefined) return undefined;
      if (parsePointer(text) === undefined) return parseCredentials(text, files.pathOf(key));
      const secret = await ask('read from', unlockMs, (it, signal) => it.read(accountOf(key), signal));
      // Somebody took it out there: the file's word is void.
      return secret === undefined ? undefined : parseCredentials(secret, 'What the keychain holds');
    },
    async probe(key) {
      await files.probe(key);
      decided.set(key, await decide());
    },
    async save(key, credentials) {
      const before = await files.read(key);
      const secret = writeCredentials(credentials);
      if ((await placeOf(key, before)) === 'file') return toFile(key, secret, before);
      try {
        await toKeychain(key, secret, before);
      } catch (error) {
        // A login that was just made may take the other way, with notice; a stored one is not brought into the open unseen.
        const mayFallBack = place === 'auto' && decided.has(key) && error instanceof LoginError;
        if (!mayFallBack || error.code !== 'keychain_failed') throw error;
        whyFile = reasonOf(error.cause);
        decided.set(key, 'file');
        await toFile(key, secret, before);
      }
    },
    async remove(key) {
      // Whatever is wrong with the file, it goes.
      const text = await files.read(key).catch(() => undefined);
      if (text !== undefined && parsePointer(text) !== undefined)
        await ask('removed from', unlockMs, (it, signal) => it.remove(accountOf(key), signal));
      await files.remove(key);
    },
    withLock: (key, act) => files.withLock(key, act),
    async whereIs(key) {
      const text = await files.read(key);
      if (text === undefined) return undefined;
      const name = parsePointer(text);
      return name === undefined ? files.pathOf(key) : `the keychain (${name})`;
    },
  };
}

function keychainFailed(what: string, cause: unknown): LoginError {
  return new LoginError('keychain_failed', `The login cannot be ${what} the keychain: ${reasonOf(cause)}.`, {
    cause,
  });
}

function reasonOf(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
}
