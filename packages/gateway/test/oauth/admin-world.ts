import { createClient, undiciTransport, type Client } from '@sallyport/core/client';
import type { OAuthConfig, Role } from '@sallyport/oauth/server';
import { onTestFinished } from 'vitest';
import { codeRequest } from './open-server.ts';
import { openOverHttp } from './over-http.ts';

/** Somebody who is logged in for one organization. */
export interface Somebody {
  readonly accountId: string;
  readonly email: string;
  readonly organizationId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly client: Client;
}

/** Two organizations over HTTP: `ann` is admin of the first, with a member and a viewer; `bob` is admin of the second. */
export async function openAdminWorld(config: Partial<OAuthConfig> = {}) {
  const opened = await openOverHttp(config);
  const transport = undiciTransport();
  onTestFinished(async () => {
    await opened.close();
    await transport.close();
  });
  const { server, organizationId } = opened;
  const other = await server.organizations.add({ name: 'Other' });

  async function logIn(email: string, organization: string): Promise<Somebody> {
    const { id } = await server.accounts.find(email);
    const { accountId, sessionId } = await server.sessions.issue(id);
    const { redirect_uri: location } = await server.authorization.authorize(
      { accountId, sessionId },
      organization,
      codeRequest(organization),
    );
    const tokens = await opened.exchange(new URL(location).searchParams.get('code') ?? '');
    const { access_token: accessToken, refresh_token: refreshToken = '' } = tokens;
    const client = createClient({
      baseUrl: opened.url,
      transport,
      tokens: { token: () => Promise.resolve(accessToken) },
    });
    return { accountId, email, organizationId: organization, accessToken, refreshToken, client };
  }

  async function join(name: string, organization: string, role: Role): Promise<Somebody> {
    const email = `${name}@example.com`;
    await server.accounts.add({ email, organizationId: organization, role });
    return logIn(email, organization);
  }

  return {
    ...opened,
    other,
    logIn,
    join,
    ann: await join('ann', organizationId, 'admin'),
    member: await join('member', organizationId, 'member'),
    viewer: await join('viewer', organizationId, 'viewer'),
    bob: await join('bob', other.id, 'admin'),
  };
}
