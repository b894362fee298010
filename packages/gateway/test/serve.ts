import { neutralDialect, ServiceError, systemClock, type Clock, type Dialect } from '@sallyport/core';
import { createApp, type App, type AppOptions, type Served } from '../src/app.ts';
import type { Authenticator, Caller } from '../src/http/callers.ts';
import { listen, type Listener } from '../src/http/listener.ts';
import { upgradableIn } from '../src/http/upgradable.ts';

export interface ServedApp extends AsyncDisposable {
  readonly app: App;
  readonly listener: Listener;
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** A real port with an app over `served`; credentials are those of `testAuthenticator`, unless it has its own. */
export async function serve(
  served: Partial<Served> = {},
  options: Partial<AppOptions> & { readonly dialect?: Dialect; readonly clock?: Clock } = {},
): Promise<ServedApp> {
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    upgradable: upgradableIn(options.dialect ?? neutralDialect, served.passthrough?.destinations),
  });
  const url = `http://127.0.0.1:${listener.port}`;
  const app = createApp(
    { authenticator: testAuthenticator, handlers: {}, ...served },
    {
      publicUrl: url,
      dialect: neutralDialect,
      rateLimits: { default: 600 },
      trustProxy: false,
      corsOrigins: [],
      clock: systemClock,
      ...options,
    },
  );
  await app.attach(listener);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= app.close().then(() => listener.close()));
  return { app, listener, url, port: listener.port, close, [Symbol.asyncDispose]: close };
}

const everything: Caller = {
  accountId: 'account',
  organizationId: 'organization',
  role: 'admin',
  permissions: ['read', 'write', 'manage_projects'],
  scopes: ['profile', 'vendor_api'],
  grantId: 'grant',
  isApiKey: false,
};

/** `access`: may do all; `of-X`: the same in the organization X; `viewer`: reads only; `unscoped`: has no scope; `session` and `worker`: the other two kinds. */
export const testAuthenticator: Authenticator = {
  async accessToken(token) {
    if (token === 'access') return everything;
    if (token.startsWith('access-')) return { ...everything, grantId: token };
    if (token.startsWith('of-')) return { ...everything, organizationId: token.slice('of-'.length) };
    if (token === 'viewer') return { ...everything, role: 'viewer', permissions: ['read'] };
    if (token === 'nothing') return { ...everything, permissions: [] };
    if (token === 'unscoped') return { ...everything, scopes: [] };
    if (token === 'broken') throw new ServiceError('store_unavailable', 'The store has failed.');
    throw new ServiceError('invalid_token', 'The token is not known.');
  },
  async sessionKey(key) {
    if (key === 'session') return { accountId: 'account', sessionId: 'login' };
    throw new ServiceError('invalid_token', 'The key is not known.');
  },
  async ingress(token) {
    if (token !== 'worker') throw new ServiceError('invalid_token', 'The token is not known.');
    return {
      sessionId: 's',
      environmentId: 'e',
      workerId: 'w',
      epoch: 1,
      grantId: 'grant',
      expiresAt: Date.now() + 3_600_000,
    };
  },
};
