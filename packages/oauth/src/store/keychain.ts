import { randomUUID } from 'node:crypto';
import type { Clock } from '@sallyport/core';

/** A place of the operating system for secrets, by account. Whatever fails rejects with an `Error` that says why. */
export interface Keychain {
  /** What it is asked through, such as `secret-tool`. */
  readonly name: string;
  read(account: string, signal: AbortSignal): Promise<string | undefined>;
  write(account: string, secret: string, signal: AbortSignal): Promise<void>;
  /** Removing what is not there is no error. */
  remove(account: string, signal: AbortSignal): Promise<void>;
}

/** Longer than the tokens of a login: a keychain that takes short secrets only is of no use. */
const probeSecret = 'sallyport-probe-'.repeat(128);

/** Stores, reads and removes an item of its own. Throws what a login would meet. */
export async function probeKeychain(keychain: Keychain, signal: AbortSignal): Promise<void> {
  const account = `probe ${randomUUID()}`;
  await writeChecked(keychain, account, probeSecret, signal);
  await keychain.remove(account, signal);
}

/** Believes that a secret is stored once it was read: a login must not be lost for what a tool said. */
export async function writeChecked(
  keychain: Keychain,
  account: string,
  secret: string,
  signal: AbortSignal,
): Promise<void> {
  await keychain.write(account, secret, signal);
  if ((await keychain.read(account, signal)) !== secret)
    throw new Error('it does not give back what it was given');
}

/** Runs `act` for `ms` at most: a keychain may wait for a person who is not there, or for ever. */
export async function within<T>(
  clock: Clock,
  ms: number,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = clock.after(ms, () => late.abort());
  try {
    return await act(late.signal);
  } catch (error) {
    throw late.signal.aborted ? new Error(`it did not answer within ${ms / 1000} s`) : error;
  } finally {
    timer.cancel();
  }
}
