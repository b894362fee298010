import { contract, type Endpoint } from '@sallyport/core/contract';
import { WebSocket } from 'ws';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { runGateway } from '../oauth/running-gateway.ts';
import { challenge, verifier } from '../oauth/open-server.ts';

/**
 * Who calls: the member whose the thing is; an admin, a member and a viewer of the same organization; an admin of another
 * organization, who may do all there.
 */
export const parties = ['holder', 'admin', 'colleague', 'viewer', 'foreign'] as const;
export type Party = (typeof parties)[number];

/** Stands in whatever the holder names: nobody of another organization may ever see it. */
export const mark = 'holders-own';

export interface Person {
  readonly accountId: string;
  readonly organizationId: string;
  readonly sessionKey: string;
  readonly accessToken: string;
  /** Of a device that the person trusts. */
  readonly deviceToken: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The query of the page that is next. */
  readonly next?: string | undefined;
}

export interface Sent {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object goes as JSON; text as it is, with a content type among the headers. */
  readonly body?: object | string;
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** A running gateway with two organizations and everybody who calls. To be closed. */
export async function openWorld() {
  const gateway = await runGateway({ 'oauth.introspection': true, rateLimits: { default: 0 } });
  const { url, clientId } = gateway;

  /** `endpoint` with what its row asks of every caller. */
  async function call(endpoint: Endpoint, credential: string | undefined, sent: Sent = {}): Promise<Answer> {
    const { params = {}, query = '', body } = sent;
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_all, name: string) => params[name] ?? name);
    const headers = {
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      ...(endpoint.beta !== undefined && { 'vendor-beta': endpoint.beta }),
      ...(typeof body === 'object' && { 'content-type': 'application/json' }),
      ...sent.headers,
    };
    if (endpoint.transport === 'websocket') return upgrade(url.replace('http', 'ws') + path + query, headers);
    const ended = new AbortController();
    const answer = await fetch(url + path + query, {
      method: endpoint.method,
      headers,
      ...(body !== undefined && { body: typeof body === 'object' ? JSON.stringify(body) : body }),
      redirect: 'manual',
      signal: ended.signal,
    });
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const text = isStream ? '' : await answer.text();
    if (isStream) ended.abort();
    const [, next] = /<[^?>]*(\?[^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '') ?? [];
    return { status: answer.status, text, next };
  }

  /** The answer to a call that must succeed. */
  async function given<T>(...of: Parameters<typeof call>): Promise<T> {
    const { status, text } = await call(...of);
    if (status >= 300) throw new Error(`${of[0].id} answered ${status}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** Tokens of an account for an organization. */
  async function login(sessionKey: string, organizationId: string, scope?: string) {
    const redirectUri = 'http://127.0.0.1:1/callback';
    const { redirect_uri: location } = await given<{ redirect_uri: string }>(
      contract.oauth.authorize,
      sessionKey,
      {
        params: { org_uuid: organizationId },
        body: {
          response_type: 'code',
          client_id: clientId,
          organization_uuid: organizationId,
          redirect_uri: redirectUri,
          ...(scope !== undefined && { scope }),
          state: 's',
          code_challenge: challenge,
          code_challenge_method: 'S256',
        },
      },
    );
    const tokens = await given<{ access_token: string; refresh_token: string }>(
      contract.oauth.token,
      undefined,
      {
        body: {
          grant_type: 'authorization_code',
          client_id: clientId,
          code: new URL(location).searchParams.get('code') ?? '',
          code_verifier: verifier,
          redirect_uri: redirectUri,
        },
      },
    );
    return { accessToken: tokens.access_token, refreshToken: tokens.refresh_token };
  }

  const members = await withAuthorizationServer(gateway, async (server) => {
    const organization = await server.organizations.add({ name: mark });
    const elsewhere = await server.organizations.add({ name: 'elsewhere' });
    await server.managedSettings.set(organization.id, 'model', mark);
    const add = async (party: Party) => {
      const home = party === 'foreign' ? elsewhere.id : organization.id;
      const { id } = await server.accounts.add({
        email: `${party === 'holder' ? mark : party}@example.com`,
        organizationId: home,
        role: party === 'viewer' ? 'viewer' : party === 'admin' || party === 'foreign' ? 'admin' : 'member',
      });
      const { sessionKey } = await server.sessions.issue(id);
      return { party, accountId: id, organizationId: home, sessionKey };
    };
    const all = [];
    for (const party of parties) all.push(await add(party));
    return all;
  });
  const people = new Map<Party, Person>();
  for (const { party, ...member } of members) {
    const { accessToken } = await login(member.sessionKey, member.organizationId);
    const trusted = await call(contract.devices.trust, accessToken, { body: { display_name: 'x' } });
    people.set(party, { ...member, accessToken, deviceToken: trusted.text });
  }
  const person = (party: Party): Person => {
    const found = people.get(party);
    if (!found) throw new Error(`There is no ${party}.`);
    return found;
  };

  return {
    url,
    dataDir: gateway.dataDir,
    clientId,
    organizationId: person('holder').organizationId,
    person,
    call,
    given,
    login,
    /** Signs the person in once more; gives the session's id. */
    async signIn(party: Party) {
      const { accountId } = person(party);
      const issued = await withAuthorizationServer(gateway, (server) => server.sessions.issue(accountId));
      return issued.sessionId;
    },
    close: () => gateway.close(),
  };
}

/** The status of an upgrade; 101 where it came about. */
function upgrade(url: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers });
    socket.on('error', reject);
    socket.once('open', () => {
      socket.terminate();
      resolve({ status: 101, text: '' });
    });
    socket.once('unexpected-response', (request, answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.once('end', () => {
        request.destroy();
        resolve({ status: answer.statusCode ?? 0, text });
      });
    });
  });
}
