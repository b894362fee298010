import { ServiceError } from '../errors.ts';
import { isLoginRequired } from '../ports.ts';
import type { CalledEndpoint, CallOptions, ClientOptions } from './call.ts';

/** Attempts a call with the bearer that its row needs, and once more with another where that one is refused with 401. */
export async function withBearer<T>(
  { tokens }: ClientOptions,
  { auth }: Pick<CalledEndpoint, 'auth'>,
  call: CallOptions,
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
    return once(true);
  }
}
