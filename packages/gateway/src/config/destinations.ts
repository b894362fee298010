import { ConfigError } from './config-error.ts';
import { areaNames, type Config, type Whither } from './schema.ts';

/**
 * What becomes of the caller's credential on its way to an upstream. `forward`: it goes along untouched, and nobody is
 * checked here. `replace`: the caller is checked here, and `value` goes along instead. `login`: so, with the
 * token of the gateway's own login. `withhold`: none goes along; `checked` tells whether the caller is checked here.
 */
export type CredentialRule =
  | { readonly kind: 'forward' }
  | { readonly kind: 'replace'; readonly header: 'authorization' | 'x-api-key'; readonly value: string }
  | { readonly kind: 'login' }
  | { readonly kind: 'withhold'; readonly checked: boolean };

/** Where the requests of one area or family go. */
export type Destination =
  | { readonly to: Exclude<Whither, 'upstream'> }
  | { readonly to: 'upstream'; readonly url: string; readonly credential: CredentialRule };

export type Destinations = ReadonlyMap<string, Destination>;

/** Each knows of the others' records: apart, one would refuse what another has given out. */
const together = [
  ['bridge', 'sessions', 'worker', 'environments'],
  ['oauth', 'devices'],
] as const;

/** Where every area and family goes, by name. Throws `ConfigError` where that cannot work, naming the way out. */
export function destinationsOf(config: Config): Destinations {
  for (const group of together) checkTogether(config, group);
  return new Map([
    ...areaNames.map((name) => [name, destinationOf(config, name)] as const),
    ['admin', destinationOf(config, 'oauth')],
  ]);
}

function checkTogether({ areas, upstreams }: Config, group: readonly string[]): void {
  const served = group.filter((name) => areas[name] !== 'off');
  const [first = '', ...others] = served;
  const other = others.find(
    (name) => areas[name] !== areas[first] || upstreams[name]?.url !== upstreams[first]?.url,
  );
  if (other === undefined) return;
  throw new ConfigError(
    `areas.${first} and areas.${other} share their records, but go to different places: send ${list(served)} to the same one.`,
  );
}

function destinationOf(config: Config, name: string): Destination {
  const { areas, upstream, upstreams } = config;
  const to = areas[name] ?? 'local';
  if (to !== 'upstream') return { to };
  const own = upstreams[name];
  const url = own?.url ?? upstream.url;
  if (url === undefined)
    throw new ConfigError(
      `areas.${name} is upstream, but there is none: set upstream to its address, or areas.${name} to local or off.`,
    );
  return { to, url, credential: credentialFor(config, name, url) };
}

function credentialFor(config: Config, name: string, url: string): CredentialRule {
  const { areas, upstream, upstreams } = config;
  const own = upstreams[name];
  const [key, value, header] = own
    ? [`upstreams.${name}.credential`, own.credential, own.credentialHeader]
    : ['upstream.credential', upstream.credential, upstream.credentialHeader];
  const logsIn = own === undefined && upstream.login;
  if (logsIn && value !== undefined)
    throw new ConfigError('upstream.login and upstream.credential are both set: leave one of them out.');
  if (areas['oauth'] === 'local') {
    if (logsIn) return { kind: 'login' };
    if (own?.forwardCredentials === true)
      throw new ConfigError(
        `upstreams.${name}.forwardCredentials is set, but areas.oauth is local: callers' credentials are this gateway's, and do not leave it. Set ${key} instead.`,
      );
    if (value === undefined)
      throw new ConfigError(
        `areas.oauth is local and areas.${name} goes upstream, so ${key} must be set: it is what the upstream is shown in place of the callers' credentials (none: nothing).`,
      );
    return value === 'none' ? { kind: 'withhold', checked: true } : { kind: 'replace', header, value };
  }
  if (logsIn || (value !== undefined && value !== 'none'))
    throw new ConfigError(
      `${logsIn ? 'upstream.login' : key} is set, but callers are not checked here unless areas.oauth is local: anyone could use it. Leave it out, or set areas.oauth and areas.devices to local.`,
    );
  // The credentials are of whoever serves oauth: no other origin must see them, unless told so.
  const home = upstreams['oauth']?.url ?? upstream.url;
  const isHome = home !== undefined && new URL(home).origin === new URL(url).origin;
  const forwards = value !== 'none' && (isHome || own?.forwardCredentials === true);
  return forwards ? { kind: 'forward' } : { kind: 'withhold', checked: false };
}

function list(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}` : names.join();
}
