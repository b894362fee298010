import { join } from 'node:path';
import type { Log, TokenSource } from '@sallyport/core';
import { undiciTransport, type Transport } from '@sallyport/core/client';
import { fileTokenStore, TokenProvider, type TokenStore } from '@sallyport/oauth';
import type { Config } from '../config/schema.ts';
import type { ConfiguredUpstream } from '../config/upstreams.ts';
import { authoritiesOf } from './authorities.ts';

/** Where the gateway's own logins at upstreams rest: one for each address, in files that only its user can read. */
export function upstreamLogins({ dataDir }: Pick<Config, 'dataDir'>): TokenStore {
  return fileTokenStore({ directory: join(dataDir, 'upstream-logins') });
}

/** How the gateway talks to an upstream in its own name. */
export function upstreamTransport({ upstream }: Pick<Config, 'upstream'>, at: ConfiguredUpstream): Transport {
  const ca = authoritiesOf(at.ca);
  return undiciTransport({ connectTimeoutMs: upstream.connectSeconds * 1000, ...(ca && { ca }) });
}

/** The gateway's own login at an upstream, renewed as it runs out. A new one, made while it serves, is taken up. */
export interface UpstreamLogin extends TokenSource {
  close(): Promise<void>;
}

export function openUpstreamLogin(config: Config, at: ConfiguredUpstream): UpstreamLogin {
  const transport = upstreamTransport(config, at);
  const tokens = new TokenProvider({
    store: upstreamLogins(config),
    key: at.url,
    dialect: config.dialect,
    transport,
  });
  return { token: (options) => tokens.token(options), close: () => transport.close() };
}

/** Says at the start what every caller would be told otherwise: the upstream cannot be asked without a login there. */
export async function warnWithoutLogin(
  config: Config,
  at: ConfiguredUpstream,
  { log, logIn }: { readonly log: Log; readonly logIn: string },
): Promise<void> {
  const { key, url } = at;
  const remedy = `make one with \`${logIn}\``;
  try {
    if (!(await upstreamLogins(config).load(url)))
      log.warn({ upstream: url }, `${key}.login is set, but there is no login at ${url}: ${remedy}`);
  } catch (error) {
    log.warn({ upstream: url, err: error }, `the login at ${url} cannot be read: ${remedy}`);
  }
}
