import { ConfigError } from './config-error.ts';
import type { Config } from './schema.ts';
import { upstreamOf, type ConfiguredUpstream } from './upstreams.ts';

/**
 * What becomes of the caller's credential on its way to an upstream. `forward`: it goes along untouched, and nobody is
 * checked here. `replace`: the caller is checked here, and `value` goes along instead. `login`: so, with the token of the
 * gateway's own login `at` an upstream of the same origin. `withhold`: none goes along; `checked` tells whether the caller
 * is checked here.
 */
export type CredentialRule =
  | { readonly kind: 'forward' }
  | { readonly kind: 'replace'; readonly header: 'authorization' | 'x-api-key'; readonly value: string }
  | { readonly kind: 'login'; readonly at: ConfiguredUpstream }
  | { readonly kind: 'withhold'; readonly checked: boolean };

/** Throws `ConfigError` where anyone could use what an area's upstream is shown, or where it is shown nothing that could do. */
export function credentialFor(config: Config, name: string, upstream: ConfiguredUpstream): CredentialRule {
  const shown = shownTo(config, name, upstream);
  const { key, login } = shown.at;
  if (login && shown.credential !== undefined)
    throw new ConfigError(`${key}.login and ${key}.credential are both set: leave one of them out.`);
  return config.areas['oauth'] === 'local'
    ? ofTheGateway(config, name, shown)
    : ofTheCaller(config, name, shown);
}

/** What is said of the credential that an upstream is shown. */
interface Shown {
  /** The upstream that it is said of. */
  readonly at: ConfiguredUpstream;
  readonly credential: string | undefined;
  readonly credentialHeader: 'authorization' | 'x-api-key';
}

function shownTo(config: Config, name: string, upstream: ConfiguredUpstream): Shown {
  const own = config.upstreams[name];
  const shared = upstreamOf(config);
  const saysNothing =
    own && own.credential === undefined && own.login === undefined && !own.forwardCredentials;
  // What the one for all is shown no other origin must see.
  const isThere = shared !== undefined && originOf(shared) === originOf(upstream);
  if (saysNothing === true && isThere && config.areas['oauth'] === 'local')
    return { ...config.upstream, at: shared };
  return { ...(own ?? config.upstream), at: upstream };
}

/** Callers are checked here, and what they show does not leave. */
function ofTheGateway({ upstreams }: Config, name: string, shown: Shown): CredentialRule {
  const { at, credential, credentialHeader } = shown;
  const { key } = at;
  if (upstreams[name]?.forwardCredentials === true)
    throw new ConfigError(
      `${key}.forwardCredentials is set, but areas.oauth is local: callers' credentials are this gateway's, and do not leave it. Set ${key}.credential or ${key}.login instead.`,
    );
  if (at.login) return { kind: 'login', at };
  if (credential === undefined)
    throw new ConfigError(
      `areas.oauth is local and areas.${name} goes upstream, so ${key}.credential must be set: it is what the upstream is shown in place of the callers' credentials (none: nothing). Or set ${key}.login.`,
    );
  return credential === 'none'
    ? { kind: 'withhold', checked: true }
    : { kind: 'replace', header: credentialHeader, value: credential };
}

function ofTheCaller(config: Config, name: string, { at, credential }: Shown): CredentialRule {
  const { upstream, upstreams } = config;
  if (at.login || (credential !== undefined && credential !== 'none'))
    throw new ConfigError(
      `${at.key}.${at.login ? 'login' : 'credential'} is set, but callers are not checked here unless areas.oauth is local: anyone could use it. Leave it out, or set areas.oauth and areas.devices to local.`,
    );
  // The credentials are of whoever serves oauth: no other origin must see them, unless told so.
  const home = upstreams['oauth']?.url ?? upstream.url;
  const isHome = home !== undefined && originOf({ url: home }) === originOf(at);
  const forwards = credential !== 'none' && (isHome || upstreams[name]?.forwardCredentials === true);
  return forwards ? { kind: 'forward' } : { kind: 'withhold', checked: false };
}

function originOf({ url }: { readonly url: string }): string {
  return new URL(url).origin;
}
