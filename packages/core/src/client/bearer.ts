import type { Endpoint } from '../contract/endpoint.ts';
import { ServiceError } from '../errors.ts';
import { isLoginRequired, type TokenSource } from '../ports.ts';

/** Attempts a call with the bearer that its row needs, and once more with another where that one is refused with 401. */
export async function withBearer<T>(
  { tokens }: { readonly tokens?: TokenSource },
  { auth }: Pick<Endpoint, 'auth'>,
  call: { readonly bearer?: string; readonly signal?: AbortSignal },
  attempt: (bearer: string | undefined) => Promise<T>,
): Promise<T> {
  const needsBearer = auth !== 'none';
  let bearer: string | undefined;
  const once = async (forceRefresh: boolean) => {
    const refused = forceRefresh && bearer !== undefined && { refused: bearer };
    bearer =
      call.bearer ??
      (needsBearer
        ? await tokens
            ?.token({ forceRefresh, ...refused, ...(call.signal && { signal: call.signal }) })
            .catch((error: unknown) => {
              if (auth === 'optional' && isLoginRequired(error)) return undefined;
              throw error;
            })
        : undefined);
    return attempt(bearer);
  };
  try {
    return await once(false);
  } catch (error) {
    const mayRefresh = needsBearer && tokens !== undefined && call.bearer === undefined;
    if (!mayRefresh || !(error instanceof ServiceError) || error.status !== 401) throw error;
    // The bearer is good: it is the machine that is not.
    if (error.code === 'device_revoked') throw error;
    return once(true);
  }
}
