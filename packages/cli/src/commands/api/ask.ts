import { inDialect, isLoginRequired, type TokenSource } from '@sallyport/core';
import {
  upgrade,
  type ClientSocket,
  type TransportRequest,
  type TransportResponse,
} from '@sallyport/core/client';
import { defaultLimits, headerNames, type Endpoint } from '@sallyport/core/contract';
import { reach, tokensOf } from '../../connect.ts';
import { loginRequired } from '../../known-logins.ts';
import type { Context } from '../../context.ts';
import type { Fields } from './fields.ts';
import { timeoutOf, type Target } from './target.ts';

/**
 * Sends the request with the login's bearer, unless the row needs none of that kind or `headers` has a credential, and with
 * the row's beta. No retries: what happened is what is shown; but a token that was refused is renewed once.
 */
export function ask(
  context: Context,
  target: Target,
  headers: Fields,
  body: string | undefined,
): Promise<TransportResponse> {
  return askLoggedIn(context, target, headers, body, ({ transport }, request) => transport.send(request));
}

/** Asks in the same way for a WebSocket. Gives the answer where that is refused. */
export function askForSocket(
  context: Context,
  target: Target,
  headers: Fields,
  protocols: readonly string[],
): Promise<ClientSocket | TransportResponse> {
  return askLoggedIn(context, target, headers, undefined, ({ transport }, request) =>
    upgrade(transport, { ...request, timeoutMs: defaultLimits.timeoutMs, protocols }),
  );
}

async function askLoggedIn<A extends { readonly status: number }>(
  context: Context,
  target: Target,
  headers: Fields,
  body: string | undefined,
  by: (reached: ReturnType<typeof reach>, request: TransportRequest) => Promise<A>,
): Promise<A> {
  const reached = reach(context);
  const tokens = takesLogin(target.endpoint, headers) ? tokensOf(context, reached) : undefined;
  const signal = context.interrupt.asked;
  const bearer = await bearerOf(tokens, target.endpoint, signal).catch(async (error: unknown) => {
    throw await loginRequired(context.settings, error);
  });
  const send = (token: string | undefined) =>
    by(reached, toRequest(context, target, headers, { body, bearer: token, common: reached.headers }));
  const answer = await send(bearer);
  if (answer.status !== 401 || tokens === undefined || bearer === undefined) return answer;
  try {
    return await send(await tokens.token({ forceRefresh: true, refused: bearer, signal }));
  } catch (error) {
    // Nothing better to show than the refusal.
    if (isLoginRequired(error)) return answer;
    throw error;
  }
}

function takesLogin(endpoint: Endpoint | undefined, headers: Fields): boolean {
  if ('authorization' in headers || headerNames.apiKey in headers) return false;
  return endpoint === undefined || endpoint.auth === 'access_token' || endpoint.auth === 'optional';
}

async function bearerOf(
  tokens: TokenSource | undefined,
  endpoint: Endpoint | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await tokens?.token({ signal });
  } catch (error) {
    if (endpoint?.auth === 'optional' && isLoginRequired(error)) return undefined;
    throw error;
  }
}

function toRequest(
  { ids, interrupt, settings }: Context,
  { endpoint, method, url }: Target,
  headers: Fields,
  {
    body,
    bearer,
    common,
  }: { body: string | undefined; bearer: string | undefined; common: Fields | undefined },
): TransportRequest {
  return {
    method,
    url,
    headers: {
      accept: endpoint?.transport === 'sse' ? 'text/event-stream' : 'application/json, */*;q=0.5',
      [headerNames.requestId]: ids.next('req'),
      ...common,
      ...(endpoint?.beta !== undefined && { [inDialect(headerNames.beta, settings.dialect)]: endpoint.beta }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    timeoutMs: timeoutOf(endpoint),
    idleMs: 0, // it may be a stream; Ctrl-C ends it
    signal: interrupt.asked,
  };
}
