import { TransportError, systemClock, type Clock, type Dialect } from '@sallyport/core';
import { sendWithRetries, toServiceError, type Transport } from '@sallyport/core/client';
import { contract, defaultLimits, type Endpoint } from '@sallyport/core/contract';
import {
  allowInsecureRequests,
  customFetch,
  MISSING_SERVER_METADATA,
  OperationProcessingError,
  UnsupportedOperationError,
} from 'oauth4webapi';
import { parseAddress, requireSecure } from './address.ts';
import { LoginError } from './login-error.ts';

/** How to reach an authorization server, and as whom. */
export interface OAuthOptions {
  /** Where the service is, such as `http://127.0.0.1:8787`; a path is kept as a prefix. */
  readonly baseUrl: string;
  readonly transport: Transport;
  /** Default: the first-party client, `firstPartyClient`. */
  readonly clientId?: string;
  /** How token, device and revocation calls are written. Default `json`, as the specification has it; standard servers take `form`. */
  readonly encoding?: 'json' | 'form';
  /** The issuer that the metadata must name, where the service is reached at another address. Default: `baseUrl`. */
  readonly issuer?: string;
  /** Lets secrets travel over plain http to hosts other than this machine. Default false. */
  readonly allowInsecureHttp?: boolean;
  readonly dialect?: Dialect;
  readonly clock?: Clock;
}

export interface RequestSettings {
  readonly signal?: AbortSignal | undefined;
  /** The row's pauses between retries (default), or none: a poll is its own retry. */
  readonly retry?: boolean;
}

/** The request options of oauth4webapi for a call of that row: the one place where its requests meet core's transport. */
export function requestOptions(options: OAuthOptions, row: Endpoint, settings: RequestSettings = {}) {
  return {
    // `requireSecure` judges each address in its place: by host, which this switch does not know.
    [allowInsecureRequests]: true,
    [customFetch]: (url: string, { method, headers, body }: OutgoingRequest) =>
      send(options, row, settings, { url, method, headers, body }),
  };
}

/** What oauth4webapi hands to its `customFetch`. */
interface OutgoingRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
}

async function send(
  { transport, encoding = 'json', allowInsecureHttp = false, clock = systemClock }: OAuthOptions,
  row: Endpoint,
  { signal, retry = true }: RequestSettings,
  { url, method, headers, body }: OutgoingRequest & { readonly url: string },
): Promise<Response> {
  requireSecure(parseAddress(url), allowInsecureHttp);
  const request = {
    method,
    url,
    headers,
    timeoutMs: row.limits?.timeoutMs ?? defaultLimits.timeoutMs,
    ...(body instanceof URLSearchParams && encode(body, headers, encoding)),
    ...(signal && { signal }),
  };
  const pauses = (retry ? row.limits?.retryPausesMs : undefined) ?? defaultLimits.retryPausesMs;
  const answer = await sendWithRetries(transport, request, pauses, clock);
  if (answer.status >= 300) throw await toServiceError(answer, url, clock.now());
  const text = await answer.text();
  return new Response(
    answer.status === 204 ? null : row.id === contract.oauth.token.id ? typed(text) : text,
    {
      status: answer.status,
      headers: { ...answer.headers },
    },
  );
}

function encode(form: URLSearchParams, headers: Record<string, string>, encoding: 'json' | 'form') {
  if (encoding === 'form') return { body: form.toString() };
  return {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(form)),
  };
}

/** The specification's token response has no `token_type`, which RFC 6749 5.1 and oauth4webapi require. */
function typed(text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer !== 'object' || answer === null || 'token_type' in answer) return text;
    return JSON.stringify({ ...answer, token_type: 'Bearer' });
  } catch {
    return text; // oauth4webapi says what is wrong with it
  }
}

/** Puts oauth4webapi's verdict on metadata and answers into our error classes. */
export async function judged<T>(baseUrl: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (!(cause instanceof OperationProcessingError) && !(cause instanceof UnsupportedOperationError))
      throw cause;
    if (cause.code === MISSING_SERVER_METADATA) {
      throw new LoginError('unsupported', `${baseUrl} does not offer this (${cause.message}).`, { cause });
    }
    const message = `${baseUrl} answered against the standard: ${cause.message}`;
    throw new TransportError('unexpected_answer', message, { cause });
  }
}
