import { firstPartyClient } from '@sallyport/core/contract';
import { createHash } from 'node:crypto';
import { createIds, ServiceError, type Log } from '@sallyport/core';
import type { TokenResponse } from '@sallyport/core/contract';
import { ManualClock, seededRandom } from '@sallyport/core/testing';
import {
  createAuthorizationServer,
  defaultOAuthConfig,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type OAuthConfig,
  type SignedIn,
} from '@sallyport/oauth/server';
import { openMemoryStore } from './open-store.ts';

export const issuer = 'http://127.0.0.1:8787';
export const callback = 'http://127.0.0.1:53219/callback';
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const challenge = createHash('sha256').update(verifier).digest('base64url');
export const clientId = firstPartyClient.id;
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** An authorization request of the first-party client, good for the verifier's code. */
export function codeRequest(organizationId: string, changes: object = {}) {
  return {
    response_type: 'code' as const,
    client_id: clientId,
    organization_uuid: organizationId,
    redirect_uri: callback,
    state: 'xyz',
    code_challenge: challenge,
    code_challenge_method: 'S256' as const,
    ...changes,
  };
}

/** Passwords that cost next to nothing. */
export const cheapPasswords = { logCost: 4, blockSize: 8, parallelization: 1, minLength: 10 };

export interface TestServer {
  readonly server: AuthorizationServer;
  readonly clock: ManualClock;
  readonly store: ReturnType<typeof openMemoryStore>;
  readonly owner: SignedIn;
  readonly sessionKey: string;
  readonly organizationId: string;
  /** Messages of warnings. */
  readonly warnings: string[];
  /** A code of the owner's, through POST authorize. */
  readonly code: (changes?: Parameters) => Promise<string>;
  readonly exchange: (code: string, changes?: Parameters) => Promise<TokenResponse>;
  readonly refresh: (token: string, changes?: Parameters) => Promise<TokenResponse>;
  readonly poll: (deviceCode: string, changes?: Parameters) => Promise<TokenResponse>;
}

type Parameters = Readonly<Record<string, unknown>>;

/** An authorization server over real SQLite acts, with a signed-in owner. */
export async function openServer(
  config: Partial<OAuthConfig> = {},
  options: Partial<AuthorizationServerOptions> = {},
): Promise<TestServer> {
  const store = openMemoryStore();
  const clock = new ManualClock();
  const random = seededRandom(7);
  const warnings: string[] = [];
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_fields, message) => void warnings.push(message),
    error: (_fields, message) => void warnings.push(message),
  };
  const server = await createAuthorizationServer({
    store,
    issuer,
    clock,
    random,
    ids: createIds(clock, random),
    log,
    ...options,
    config: {
      password: cheapPasswords,
      failures: { ...defaultOAuthConfig.failures, tokens: 10_000 },
      ...config,
    },
  });
  const account = await server.accounts.find();
  const { sessionKey, accountId, sessionId } = await server.sessions.issue(account.id);
  const owner = { accountId, sessionId };
  const [membership] = await server.organizations.of(account.id);
  const organizationId = membership?.organization.id ?? '';
  const token = (body: Readonly<Record<string, unknown>>) => server.token(body, '127.0.0.1');
  return {
    server,
    clock,
    store,
    owner,
    sessionKey,
    organizationId,
    warnings,
    code: async (changes = {}) => {
      const { redirect_uri: location } = await server.authorization.authorize(
        owner,
        organizationId,
        codeRequest(organizationId, changes),
      );
      return new URL(location).searchParams.get('code') ?? '';
    },
    exchange: (code, changes = {}) =>
      token({
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        code_verifier: verifier,
        redirect_uri: callback,
        ...changes,
      }),
    refresh: (refreshToken, changes = {}) =>
      token({ grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken, ...changes }),
    poll: (deviceCode, changes = {}) =>
      token({ grant_type: deviceGrantType, client_id: clientId, device_code: deviceCode, ...changes }),
  };
}

/** The code that a call was refused with; `undefined` where it was not. */
export async function refusal(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}
