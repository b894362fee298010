import { TransportError } from '@sallyport/core';
import { LoginError } from './login-error.ts';

/** Runs a login; once `signal` has aborted, whatever `act` throws becomes the one `LoginError` that says so. */
export async function interruptible<T>(signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
  try {
    signal?.throwIfAborted();
    return await act();
  } catch (error) {
    if (!signal?.aborted || error instanceof LoginError) throw error;
    throw interruption(signal);
  }
}

/** Waits for work that others wait for too: the signal ends the waiting, with `TransportError` `aborted`, not the work. */
export function whileWanted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () =>
      reject(new TransportError('aborted', 'the request was aborted', { cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function interruption(signal: AbortSignal): LoginError {
  const cause: unknown = signal.reason;
  const late = cause instanceof Error && cause.name === 'TimeoutError';
  return late
    ? new LoginError('timed_out', 'The login took too long.', { cause })
    : new LoginError('aborted', 'The login was interrupted.', { cause });
}
