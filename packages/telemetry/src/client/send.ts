import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import {
  inDialect,
  isLoopback,
  neutralDialect,
  ServiceError,
  systemClock,
  TransportError,
  type Clock,
  type Timer,
  type TokenSource,
} from '@sallyport/core';
import { send, type ClientOptions } from '@sallyport/core/client';
import { contract, mediaTypes } from '@sallyport/core/contract';
import type { Batch } from './batch.ts';
import { batchKey } from './batch-key.ts';
import { judgeFailure, LoginMissing, type Verdict } from './verdict.ts';

/** One attempt to send a batch. Never rejects: a failure is a verdict. */
export type Send = (batch: Batch, signal: AbortSignal) => Promise<Verdict>;

const compress = promisify(gzip);
/** Smaller bodies fit into one packet as they are. */
const minGzipBytes = 1400;
const loginMs = 30_000;

export function createSender(
  options: ClientOptions & {
    readonly serviceName: string;
    readonly gzip?: boolean;
    /** Told why an attempt failed. Nobody being signed in is no trouble, nor is the end of the process. */
    readonly onError?: (error: unknown) => void;
  },
): Send {
  const { baseUrl, dialect = neutralDialect, serviceName, clock = systemClock, onError } = options;
  const clientOptions = { ...options, tokens: loginOf(options.tokens, clock) };
  let mayCompress = options.gzip ?? !isLoopback(URL.parse(baseUrl)?.hostname ?? '');

  async function post(body: Buffer, key: string, signal: AbortSignal): Promise<void> {
    const isCompressed = mayCompress && body.length >= minGzipBytes;
    const headers = {
      'x-service-name': inDialect(serviceName, dialect),
      'x-sent-at': String(Math.trunc(clock.now())),
      'idempotency-key': key,
      ...(isCompressed && { 'content-encoding': 'gzip' }),
    };
    const encodedBody = {
      type: mediaTypes.json[0],
      content: isCompressed ? await compress(body, { level: constants.Z_BEST_SPEED }) : body,
    };
    try {
      const answer = await send(
        clientOptions,
        contract.telemetry.batch,
        { headers },
        { signal, encodedBody },
      );
      await answer.text(); // or the connection is not free for the next batch
    } catch (error) {
      if (!isCompressed || !(error instanceof ServiceError) || error.status !== 415) throw error;
      mayCompress = false; // it knows no gzip
      await post(body, key, signal);
    }
  }

  return async (batch, signal) => {
    try {
      await post(batch.body, batchKey(batch), signal);
      return { kind: 'sent' };
    } catch (error) {
      if (!(error instanceof LoginMissing) && !signal.aborted) onError?.(error);
      return judgeFailure(error, batch.ends.length);
    }
  };
}

/**
 * Tells a login that is missing from a batch that is refused: both would come as a `ServiceError`. One that does not come is
 * missing, too: telemetry must not wait for ever for somebody to sign in.
 */
function loginOf(tokens: TokenSource | undefined, clock: Clock): TokenSource {
  return {
    async token(options) {
      let timer: Timer | undefined;
      const late = new Promise<undefined>((resolve) => {
        timer = clock.after(loginMs, () => resolve(undefined));
      });
      try {
        const token = await Promise.race([tokens?.token(options), late]);
        if (token !== undefined) return token;
      } catch (cause) {
        if (cause instanceof TransportError) throw cause;
        throw new LoginMissing('there is no login', { cause });
      } finally {
        timer?.cancel();
      }
      throw new LoginMissing('there is no login');
    },
  };
}
