// One of the servers that `../oauth.ts` measures: `server.ts <bare|oidc-provider|sallyport> <logins>`. Its first line is JSON:
// where it is, and the refresh tokens of so many logins.
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { firstPartyClient } from '@sallyport/core/contract';

const [, , kind, count = '1'] = process.argv;
const logins = Number(count);
const scope = 'profile vendor_api';
const clientId = firstPartyClient.id;

if (kind === 'bare') await bare();
else if (kind === 'oidc-provider') await oidcProvider();
else await sallyport();

function ready(url: string, refreshTokens: readonly string[], paths: Readonly<Record<string, string>>): void {
  console.log(JSON.stringify({ url, refreshTokens, paths }));
}

/** No more than a token endpoint cannot do without: Fastify, a form, and the signature; it keeps and checks nothing. */
async function bare(): Promise<void> {
  const { default: fastify } = await import('fastify');
  const key = {
    key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    dsaEncoding: 'ieee-p1363',
  } as const;
  const app = fastify();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
  );
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const header = encode({ alg: 'ES256', typ: 'at+jwt', kid: randomUUID() });
  app.post('/token', (request, reply) => {
    const { client_id } = request.body as Record<string, string>;
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: 'bare', aud: 'bare', sub: randomUUID(), client_id, scope, jti: randomUUID() };
    const signed = `${header}.${encode({ ...claims, iat, exp: iat + 3600 })}`;
    void reply.header('cache-control', 'no-store').send({
      access_token: `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`,
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: randomUUID(),
      scope,
    });
  });
  app.post('/device', async () => ({ device_code: randomUUID(), user_code: 'BCDF-GHJK', expires_in: 900 }));
  app.get('/discovery', async () => ({ issuer: 'bare', token_endpoint: '/token', jwks_uri: '/jwks' }));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const tokens = Array.from({ length: logins }, () => randomUUID());
  ready(url, tokens, { token: '/token', device: '/device', discovery: '/discovery' });
}

/** In memory, with the same work to do: one ES256 signature a token, rotation, no ID token. */
async function oidcProvider(): Promise<void> {
  // What it says of its defaults is not for stdout.
  for (const method of ['info', 'warn'] as const) console[method] = () => undefined;
  const { Provider } = await import('oidc-provider');
  const { Kept } = await import('./kept.ts');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = createServer((request, response) => void callback(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(url, {
    adapter: Kept,
    clients: [
      {
        client_id: clientId,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://127.0.0.1/callback'],
        id_token_signed_response_alg: 'ES256',
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] as never },
    scopes: scope.split(' '),
    features: {
      devInteractions: { enabled: false },
      deviceFlow: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => url,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope,
          audience: url,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 3600,
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    ttl: { RefreshToken: 30 * 24 * 3600, Grant: 90 * 24 * 3600, AccessToken: 3600, DeviceCode: 900 },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    cookies: { keys: ['bench'] },
  });
  const callback = provider.callback();
  const client = await provider.Client.find(clientId);
  const tokens: string[] = [];
  for (let login = 0; login < logins; login += 1) {
    const accountId = randomUUID();
    const grant = new provider.Grant({ accountId, clientId });
    grant.addResourceScope(url, scope);
    const token = new provider.RefreshToken({
      accountId,
      client,
      grantId: await grant.save(),
      gty: 'authorization_code',
      scope,
      resource: url,
      authTime: Math.floor(Date.now() / 1000),
    } as never);
    tokens.push(await token.save());
  }
  ready(url, tokens, {
    token: '/token',
    device: '/device/auth',
    discovery: '/.well-known/oauth-authorization-server',
  });
}

/** The gateway as it is run, its store in a file. */
async function sallyport(): Promise<void> {
  const { startBenchGateway } = await import('../gateway.ts');
  // The driver comes from many addresses: one may have only so many device codes pending.
  const { url, logins: made } = await startBenchGateway({ trustProxy: true }, logins);
  const tokens = made.map(({ refreshToken }) => refreshToken);
  ready(url, tokens, {
    token: '/v1/oauth/token',
    device: '/v1/oauth/device_authorization',
    discovery: '/.well-known/oauth-authorization-server',
  });
}
