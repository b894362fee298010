import { ConfigError } from './config-error.ts';
import type { Config } from './schema.ts';

/** An upstream as the configuration has it. How one that is an area's own is reached is as for `upstream`, unless it says so. */
export interface ConfiguredUpstream {
  /** Whose own it is; `undefined`: the one for all. */
  readonly name: string | undefined;
  /** What its settings are under: `upstream`, or `upstreams.messages`. */
  readonly key: string;
  readonly url: string;
  /** Authorities that are trusted beside the usual ones. */
  readonly ca: AuthoritiesFile | undefined;
  readonly http2: boolean;
  /** Whether it says that it is shown the gateway's own login. */
  readonly login: boolean;
}

/** A PEM file, and the setting that names it. */
export interface AuthoritiesFile {
  readonly setting: string;
  readonly file: string;
}

/** The upstream of an area or a family: its own, or else the one for all. `undefined`: there is none. */
export function upstreamOf(config: Config, name?: string): ConfiguredUpstream | undefined {
  const { upstream } = config;
  const own = name === undefined ? undefined : config.upstreams[name];
  const url = own?.url ?? upstream.url;
  if (url === undefined) return undefined;
  const key = own ? `upstreams.${name}` : 'upstream';
  const said = { name: own && name, key, url, login: (own ?? upstream).login === true };
  if (!isSecure(url)) return { ...said, ca: undefined, http2: false };
  const file = own?.ca ?? upstream.ca;
  const setting = own?.ca === undefined ? 'upstream.ca' : `${key}.ca`;
  const ca = file === undefined ? undefined : { setting, file };
  return { ...said, ca, http2: own?.http2 ?? upstream.http2 };
}

/** The one for all comes first, if there is one. */
export function configuredUpstreams(config: Config): readonly ConfiguredUpstream[] {
  return [undefined, ...Object.keys(config.upstreams)].flatMap((name) => upstreamOf(config, name) ?? []);
}

/** What makes the gateway's own login there. `flags`: those that have it find this configuration, with a space before them. */
export function loginCommand({ name }: Pick<ConfiguredUpstream, 'name'>, flags = ''): string {
  return `${['sallyport-gateway admin upstream login', name ?? []].flat().join(' ')}${flags}`;
}

/** Throws `ConfigError` where something is said of TLS, but nothing that it is said of has any. */
export function checkSecure({ upstream, upstreams }: Config): void {
  const all = [upstream, ...Object.values(upstreams)].flatMap(({ url }) => url ?? []);
  checkTls('upstream', upstream, all);
  for (const [name, group] of Object.entries(upstreams)) checkTls(`upstreams.${name}`, group, [group.url]);
}

function checkTls(
  key: string,
  { ca, http2 }: Config['upstreams'][string] | Config['upstream'],
  urls: readonly string[],
): void {
  const said = ca !== undefined ? 'ca' : http2 === true ? 'http2' : undefined;
  if (said === undefined || urls.length === 0 || urls.some(isSecure)) return;
  throw new ConfigError(
    `${key}.${said} is set, but ${key}.url is an http address, which is spoken to without TLS: make it https, or leave ${key}.${said} out.`,
  );
}

/** Those of one origin share its connections. Throws `ConfigError` where they are at odds about how those are made. */
export function checkShared(upstreams: readonly ConfiguredUpstream[]): void {
  const firsts = new Map<string, ConfiguredUpstream>();
  for (const one of upstreams) {
    const { origin } = new URL(one.url);
    const first = firsts.get(origin) ?? one;
    firsts.set(origin, first);
    const odds = first.ca?.file !== one.ca?.file ? 'ca' : first.http2 !== one.http2 ? 'http2' : undefined;
    if (odds === undefined) continue;
    throw new ConfigError(
      `${first.key}.${odds} and ${one.key}.${odds} differ, but both are at ${origin}, whose connections they share: say the same in both.`,
    );
  }
}

function isSecure(url: string): boolean {
  return new URL(url).protocol === 'https:';
}
