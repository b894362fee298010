import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstPartyClient } from '@sallyport/core/contract';
import { loadConfig, startGateway } from '@sallyport/gateway';
import { openEmbeddedStore } from '@sallyport/gateway/store';
import { createAuthorizationServer } from '@sallyport/oauth/server';

export interface BenchLogin {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly organizationId: string;
}

/** The gateway as it is run, its store in a file, until SIGTERM; its owner logged in so many times. */
export async function startBenchGateway(
  flags: Readonly<Record<string, unknown>>,
  logins: number,
): Promise<{ readonly url: string; readonly logins: readonly BenchLogin[] }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  const { config } = loadConfig({
    env: {},
    flags: { port: 0, dataDir, rateLimits: { default: 0 }, ...flags },
  });
  const gateway = await startGateway({ config });
  process.once('SIGTERM', () => {
    void gateway.close().then(() => rmSync(dataDir, { recursive: true }));
  });
  const { url } = gateway;
  const store = await openEmbeddedStore({ path: join(dataDir, 'sallyport.db'), migrate: false });
  const server = await createAuthorizationServer({ store: store.oauth, issuer: url });
  const { id } = await server.accounts.find();
  const signedIn = await server.sessions.issue(id);
  const organizationId = (await server.organizations.of(id))[0]?.organization.id ?? '';
  const made: BenchLogin[] = [];
  for (let login = 0; login < logins; login += 1)
    made.push({ ...(await logIn(server, signedIn, organizationId)), organizationId });
  await store.close();
  return { url, logins: made };
}

async function logIn(
  server: Awaited<ReturnType<typeof createAuthorizationServer>>,
  signedIn: Parameters<typeof server.authorization.authorize>[0],
  organizationId: string,
): Promise<{ readonly accessToken: string; readonly refreshToken: string }> {
  const verifier = 'v'.repeat(43);
  const redirectUri = 'http://127.0.0.1:1/callback';
  const { redirect_uri: location } = await server.authorization.authorize(signedIn, organizationId, {
    response_type: 'code',
    client_id: firstPartyClient.id,
    organization_uuid: organizationId,
    redirect_uri: redirectUri,
    scope: 'profile vendor_api',
    state: 's',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const answer = await server.token(
    {
      grant_type: 'authorization_code',
      client_id: firstPartyClient.id,
      code: new URL(location).searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: redirectUri,
    },
    '127.0.0.1',
  );
  return { accessToken: answer.access_token, refreshToken: answer.refresh_token ?? '' };
}
