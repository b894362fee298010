import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Provider } from 'oidc-provider';

export const clientId = 'command-line';
const accountId = 'account-1';

/** The person at the browser: signed in as soon as asked, and of this mind. */
export interface Person {
  consents: boolean;
}

/** An authorization server that nobody here wrote, `oidc-provider`, with one native client. To be closed. */
export async function startForeignProvider() {
  // Not before: as it loads it tells the console which releases of Node.js it has been tried on.
  const { Provider } = await import('oidc-provider');
  const person: Person = { consents: true };
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(baseUrl, {
    clients: [
      {
        client_id: clientId,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      },
    ],
    scopes: ['openid', 'profile', 'email'],
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    cookies: { keys: ['a key of the test'] },
  });

  const serve = provider.callback();
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') === true) void interact(provider, person, request, response);
    else void serve(request, response);
  });

  return {
    baseUrl,
    /** The person's browser follows the address to its end, sending every form on the way as it is. */
    browse: (address: string) => browse(address, new Map()),
    person,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type ForeignProvider = Awaited<ReturnType<typeof startForeignProvider>>;

async function browse(
  address: string,
  cookies: Map<string, string>,
  form?: URLSearchParams,
): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const init = form && { method: 'POST', body: form };
  const answer = await fetch(address, { headers: { cookie }, redirect: 'manual', ...init });
  for (const set of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    if (value === '') cookies.delete(name);
    else cookies.set(name, value);
  }
  const location = answer.headers.get('location');
  if (location !== null) return browse(new URL(location, address).href, cookies);
  const page = await answer.clone().text();
  const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
  // A code that was denied is asked for anew: the person has said all there is to say.
  if (action === undefined || page.includes('type="text"')) return answer;
  return browse(new URL(action, address).href, cookies, fieldsOf(page));
}

function fieldsOf(page: string): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [, name = '', value = ''] of page.matchAll(
    /<input type="hidden" name="([^"]+)" value="([^"]*)"/g,
  ))
    fields.set(name, value);
  return fields;
}

async function interact(
  provider: Provider,
  { consents }: Person,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { prompt, params } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, { login: { accountId } });
  if (!consents) return provider.interactionFinished(request, response, { error: 'access_denied' });
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope(String(params['scope']));
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}
