import { chmod, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import {
  fullJitter,
  isDiskFull,
  reasonOf,
  silentLog,
  sleep,
  systemClock,
  systemRandom,
  type Clock,
  type Log,
  whyNotWritten,
} from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { replaceFile, syncFolder } from '@sallyport/core/replace-file';
import { lock } from 'proper-lockfile';
import { LoginError } from '../client/login-error.ts';
import { sweepTemporaries, tryToWrite } from './temporaries.ts';
import type { TokenStore } from './token-store.ts';

export interface LoginFilesOptions {
  /** A folder of the store's own, made when needed (0700). */
  readonly directory: string;
  /** How long to wait for another process that holds a login. Default 60 s: longer than a refresh with its retries. */
  readonly lockTimeoutMs?: number;
  /** Told of modes that had to be tightened. */
  readonly log?: Log;
  readonly clock?: Clock;
}

/** A lock that its holder has not touched for so long belonged to a process that was killed. */
const staleLockMs = 10_000;

/** The files of logins, whatever is in them. Failures are `LoginError`s `store_*`. */
export interface LoginFiles extends Pick<TokenStore, 'probe' | 'remove' | 'withLock'> {
  pathOf(key: string): string;
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
}

/**
 * One file each: a lock, a crash or a damaged file concerns that login alone. Files are 0600 in a 0700 folder after every act;
 * looser ones that are found get tightened, with a warning.
 */
export function loginFiles({
  directory,
  lockTimeoutMs = 60_000,
  log = silentLog,
  clock = systemClock,
}: LoginFilesOptions): LoginFiles {
  const pathOf = (key: string) => join(directory, `${encodeURIComponent(key)}.json`);

  async function prepare(): Promise<void> {
    makeDirectory(directory);
    await tighten(directory, 0o700, log);
  }

  return {
    pathOf,
    read: (key) =>
      saying('read', pathOf(key), async (file) => {
        const text = await readFile(file, 'utf8').catch(absent);
        if (text === undefined) return undefined;
        await tighten(directory, 0o700, log);
        await tighten(file, 0o600, log);
        return text;
      }),
    probe: (key) =>
      saying('written', pathOf(key), async (file) => {
        await prepare();
        await tryToWrite(file);
      }),
    write: (key, text) =>
      saying('written', pathOf(key), async (file) => {
        await prepare();
        await replaceFile(file, text);
        await sweepTemporaries(file);
      }),
    remove: (key) =>
      saying('removed', pathOf(key), async (file) => {
        await rm(file, { force: true });
        if (await stat(directory).catch(absent)) await syncFolder(directory);
      }),
    async withLock(key, act) {
      const release = await saying('locked', pathOf(key), async (file) => {
        await prepare();
        return acquire(file, clock, lockTimeoutMs, log);
      });
      try {
        return await act();
      } finally {
        // It fails where the lock was lost meanwhile (the machine slept), and then there is nothing to release.
        await release().catch(() => undefined);
      }
    },
  };
}

async function acquire(
  file: string,
  clock: Clock,
  timeoutMs: number,
  log: Log,
): Promise<() => Promise<void>> {
  const deadline = clock.monotonic() + timeoutMs;
  const isUntouched = untouchedSince(`${file}.lock`, clock);
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await lock(file, {
        realpath: false, // the file need not exist yet
        stale: staleLockMs,
        // The default throws where nobody can catch it. The holder goes on: the service gives both the same successor.
        onCompromised: (error) =>
          log.warn(
            { file, reason: error.message },
            `The lock of the login in ${file} was lost: ${error.message}.`,
          ),
      });
    } catch (cause) {
      if (codeOf(cause) !== 'ELOCKED') throw cause;
      // By its time it may be fresh for hours: the clock was set back since. That of long ago makes it stale for all who wait.
      if (await isUntouched()) await utimes(`${file}.lock`, 0, 0).catch(absent);
      if (clock.monotonic() >= deadline) {
        throw new LoginError('store_locked', `Another process holds the login in ${file}.`, { cause });
      }
    }
    await sleep(clock, 10 + fullJitter(systemRandom, attempt, { baseMs: 20, capMs: 250 }));
  }
}

/** Tells whether a lock was seen with one and the same time for as long as a holder that lives lets it have. */
function untouchedSince(lockFile: string, clock: Clock): () => Promise<boolean> {
  let seen = { touchedAt: NaN, since: 0 };
  return async () => {
    const touchedAt = (await stat(lockFile).catch(absent))?.mtimeMs ?? NaN;
    if (touchedAt !== seen.touchedAt) seen = { touchedAt, since: clock.monotonic() };
    return clock.monotonic() - seen.since >= staleLockMs;
  };
}

async function tighten(path: string, mode: number, log: Log): Promise<void> {
  if (process.platform === 'win32') return; // modes mean nothing there
  // A login may have been removed since it was read.
  const found = ((await stat(path).catch(absent))?.mode ?? 0) & 0o777;
  if ((found & 0o077) === 0) return;
  try {
    await chmod(path, mode);
    log.warn(
      { path, found: found.toString(8), mode: mode.toString(8) },
      `Others could read ${path}, where a login is: now this account alone can.`,
    );
  } catch (error) {
    // A read-only mount, say: the login is still good, and whoever mounted it has to know.
    log.warn(
      { path, found: found.toString(8), reason: reasonOf(error) },
      `Others can read ${path}, where a login is, and its mode (${found.toString(8)}) cannot be changed.`,
    );
  }
}

async function saying<T>(verb: string, file: string, act: (file: string) => Promise<T>): Promise<T> {
  try {
    return await act(file);
  } catch (cause) {
    if (cause instanceof LoginError) throw cause;
    const code = isDiskFull(cause) ? 'store_full' : 'store_failed';
    throw new LoginError(code, `The login in ${file} cannot be ${verb}: ${whyNotWritten(cause)}.`, {
      cause,
    });
  }
}

function absent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
