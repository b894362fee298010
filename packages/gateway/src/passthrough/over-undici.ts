import { dispatchOver, type Client } from '@sallyport/core/http1';
import { Pool } from 'undici';

export interface UndiciOptions {
  readonly connections: number;
  readonly timeoutMs: number;
  readonly ca?: readonly string[] | undefined;
  readonly waitingBytes: number;
}

/** Speaks HTTP/2 to an upstream that does, and HTTP/1.1 to one that does not. */
export function undiciClient(origin: string, options: UndiciOptions): Client {
  const { connections, timeoutMs: timeout, ca, waitingBytes: highWaterMark } = options;
  const connect = { timeout, highWaterMark, ...(ca && { ca: [...ca] }) };
  const pool = new Pool(origin, { connections, connect, allowH2: true });
  return { dispatch: dispatchOver(pool, origin), close: () => pool.destroy() };
}
