import { ConfigError } from './config-error.ts';
import { credentialFor, type CredentialRule } from './credentials.ts';
import { areaNames, type Config, type Whither } from './schema.ts';
import { checkSecure, checkShared, upstreamOf, type ConfiguredUpstream } from './upstreams.ts';

/** Where the requests of one area or family go. */
export type Destination = { readonly to: Exclude<Whither, 'upstream'> } | ToUpstream;

export type ToUpstream = ConfiguredUpstream & {
  readonly to: 'upstream';
  readonly credential: CredentialRule;
};

export type Destinations = ReadonlyMap<string, Destination>;

/** Each knows of the others' records: apart, one would refuse what another has given out. */
const together = [
  ['bridge', 'sessions', 'worker', 'environments'],
  ['oauth', 'devices'],
] as const;

/** Where every area and family goes, by name. Throws `ConfigError` where that cannot work, naming the way out. */
export function destinationsOf(config: Config): Destinations {
  for (const group of together) checkTogether(config, group);
  checkSecure(config);
  const destinations: Destinations = new Map([
    ...areaNames.map((name) => [name, destinationOf(config, name)] as const),
    ['admin', destinationOf(config, 'oauth')],
  ]);
  checkShared(upstreamsIn(destinations));
  return destinations;
}

/** What of them is upstream. */
export function upstreamsIn(destinations: Destinations): readonly ToUpstream[] {
  return [...destinations.values()].filter((one) => one.to === 'upstream');
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
  const to = config.areas[name] ?? 'local';
  if (to !== 'upstream') return { to };
  const upstream = upstreamOf(config, name);
  if (upstream === undefined)
    throw new ConfigError(
      `areas.${name} is upstream, but there is none: set upstream to its address, or areas.${name} to local or off.`,
    );
  return { to, ...upstream, credential: credentialFor(config, name, upstream) };
}

function list(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}` : names.join();
}
