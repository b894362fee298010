import { createHash } from 'node:crypto';
import { inDialect, neutralDialect, TransportError, type TokenSource } from '@sallyport/core';
import { send, type ClientOptions } from '@sallyport/core/client';
import { contract } from '@sallyport/core/contract';
import { judgeFailure, LoginMissing, type Verdict } from './verdict.ts';

/** One attempt to send events, each one JSON text. Never rejects: a failure is a verdict. */
export async function sendBatch(
  options: ClientOptions & { readonly serviceName: string },
  events: readonly string[],
  signal: AbortSignal,
): Promise<Verdict> {
  const body = `{"events":[${events.join(',')}]}`;
  const { dialect = neutralDialect, serviceName, tokens } = options;
  const headers = {
    'x-service-name': inDialect(serviceName, dialect),
    // Of the contents, so that the same batch sent again, by another process too, is stored once.
    'idempotency-key': createHash('sha256').update(body).digest('base64url'),
  };
  try {
    const answer = await send(
      { ...options, tokens: loginOf(tokens) },
      contract.telemetry.batch,
      { headers },
      { signal, jsonBody: body },
    );
    await answer.text(); // or the connection is not free for the next batch
    return { kind: 'sent' };
  } catch (error) {
    return judgeFailure(error, events.length);
  }
}

/** Tells a login that is missing from a batch that is refused: both would come as a `ServiceError`. */
function loginOf(tokens: TokenSource | undefined): TokenSource {
  return {
    async token(options) {
      try {
        const token = await tokens?.token(options);
        if (token !== undefined) return token;
      } catch (cause) {
        if (cause instanceof TransportError) throw cause;
        throw new LoginMissing('there is no login', { cause });
      }
      throw new LoginMissing('there is no login');
    },
  };
}
