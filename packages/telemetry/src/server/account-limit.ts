/** An account's reads that are under way, and those that wait. */
interface Share {
  free: number;
  readonly waiting: Set<() => void>;
}

export type AccountLimit = <T>(
  accountId: string,
  signal: AbortSignal | undefined,
  act: () => Promise<T>,
) => Promise<T>;

/**
 * Lets so many acts of an account be under way at once; the others wait, in the order in which they came. Once `signal` aborts
 * one waits no longer: it is for the act to be short then.
 */
export function createAccountLimit(most: number): AccountLimit {
  const shares = new Map<string, Share>();

  function shareOf(accountId: string): Share {
    const known = shares.get(accountId);
    if (known) return known;
    const share: Share = { free: most, waiting: new Set() };
    shares.set(accountId, share);
    return share;
  }

  /** Whether it is one of those under way; who waits no longer is not. */
  function enter(share: Share, signal: AbortSignal | undefined): boolean | Promise<boolean> {
    if (signal?.aborted === true) return false;
    if (share.free > 0) {
      share.free -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const end = (isUnderWay: boolean) => {
        share.waiting.delete(begin);
        signal?.removeEventListener('abort', leave);
        resolve(isUnderWay);
      };
      const begin = () => end(true);
      const leave = () => end(false);
      share.waiting.add(begin);
      signal?.addEventListener('abort', leave);
    });
  }

  return async (accountId, signal, act) => {
    const share = shareOf(accountId);
    const isUnderWay = await enter(share, signal);
    try {
      return await act();
    } finally {
      const [next] = isUnderWay ? share.waiting : [];
      if (next) next();
      else if (isUnderWay) share.free += 1;
      if (share.free === most) shares.delete(accountId);
    }
  };
}
