import { TransportError, type Clock } from '@sallyport/core';

/**
 * Gives a call `ms` milliseconds in all, the wait for its token included; rejects with `TransportError` (`timeout`, or
 * `aborted` as soon as `signal` aborts), whether the call heeds its signal or not.
 */
export async function within<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const abort = () => end.abort(new TransportError('aborted', 'the call was aborted'));
  const timer = clock.after(ms, () => end.abort(new TransportError('timeout', 'no answer in time')), {
    keepAlive: true,
  });
  signal.addEventListener('abort', abort);
  try {
    return await new Promise<T>((resolve, reject) => {
      end.signal.addEventListener('abort', () => reject(end.signal.reason as Error));
      if (signal.aborted) abort();
      else call(end.signal).then(resolve, reject);
    });
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', abort);
  }
}
