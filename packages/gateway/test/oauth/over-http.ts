import { neutralDialect, systemRandom } from '@sallyport/core';
import type { TokenResponse } from '@sallyport/core/contract';
import type { AuthorizationServer, AuthorizationServerOptions, OAuthConfig } from '@sallyport/oauth/server';
import type { FastifyInstance } from 'fastify';
import type { AppOptions } from '../../src/app.ts';
import { createAuthenticator } from '../../src/authenticator.ts';
import { createCallOrigins, type CallOrigins } from '../../src/http/call-origin.ts';
import { createPages } from '../../src/pages/pages.ts';
import { adminGates, adminHandlers } from '../../src/routes/admin.ts';
import { accountHandlers } from '../../src/routes/account.ts';
import { devicesHandlers } from '../../src/routes/devices.ts';
import { issuerPaths } from '../../src/routes/issuer-paths.ts';
import { oauthDocuments, oauthHandlers } from '../../src/routes/oauth.ts';
import { createWorkerTokens } from '../../src/worker-tokens.ts';
import { serve } from '../serve.ts';
import { openServer } from './open-server.ts';

/** The authorization server's rows and pages on a port. */
async function serveServer(server: AuthorizationServer, callOrigins: CallOrigins, app: Partial<AppOptions>) {
  const pages = createPages(server, { dialect: neutralDialect, random: systemRandom });
  const served = {
    authenticator: createAuthenticator(server, createWorkerTokens(server.signer)),
    handlers: {
      oauth: oauthHandlers(server, pages.consent),
      devices: devicesHandlers(server),
      account: accountHandlers(server),
      admin: adminHandlers(server),
    },
    documents: oauthDocuments(server),
    morePaths: issuerPaths(server),
    callOrigins,
    gates: adminGates(server),
    pages: (app: FastifyInstance) => pages.register(app),
    elsewhere: pages.elsewhere,
  };
  return serve(served, app);
}

/** A test server on a port, and a caller of it. */
export async function openOverHttp(
  config: Partial<OAuthConfig> = {},
  options: Partial<AuthorizationServerOptions> = {},
  app: Partial<AppOptions> = {},
) {
  const callOrigins = createCallOrigins();
  const opened = await openServer(config, { callOrigin: () => callOrigins.current(), ...options });
  const served = await serveServer(opened.server, callOrigins, app);
  return {
    ...opened,
    ...served,
    [Symbol.asyncDispose]: () => served.close(),
    login: async (): Promise<TokenResponse> => opened.exchange(await opened.code()),
    call: async (method: string, path: string, headers: Record<string, string> = {}, body?: object) => {
      const answer = await fetch(served.url + path, {
        method,
        headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, text, json: (): unknown => JSON.parse(text) };
    },
  };
}
