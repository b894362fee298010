import { isLoginRequired } from '@sallyport/core';
import { transportFailure } from '@sallyport/core/client';
import { ConfigError } from '../config/config-error.ts';
import { destinationsOf, type ToUpstream } from '../config/destinations.ts';
import type { Config } from '../config/schema.ts';
import { loginCommand, type ConfiguredUpstream } from '../config/upstreams.ts';
import { probesOf } from '../passthrough/probes.ts';
import type { Check } from './findings.ts';
import { ExplainedError } from './failure.ts';

/** What can be served so, but not whole. `undefined`: nothing. */
export function adviceOn(config: Config): string | undefined {
  const destinations = destinationsOf(config);
  if (destinations.get('devices')?.to !== 'local' || destinations.get('bridge')?.to !== 'upstream')
    return undefined;
  return 'areas.oauth and areas.devices are local, but areas.bridge is upstream: no bridge can register there through this gateway, because its device token is of this gateway and does not leave it; and where the upstream has organizations of its own, nobody can create a session or list bridges, because callers name the organization that they have here. Set areas.bridge, areas.sessions, areas.worker and areas.environments to local.';
}

/** Asks each upstream what a request would ask of it, step by step; a step that fails is the last one. */
export async function checkUpstreams(config: Config, check: Check, flags = ''): Promise<void> {
  const toUpstream = [...destinationsOf(config)].filter(
    (entry): entry is [string, ToUpstream] => entry[1].to === 'upstream',
  );
  // Each credential that an address is shown has to be asked about.
  const alike = Map.groupBy(toUpstream, ([, { url, credential }]) => JSON.stringify([url, credential]));
  for (const entries of alike.values()) {
    const names = entries.map(([name]) => name);
    const [, to] = entries[0] ?? [];
    if (to !== undefined) await checkUpstream(config, to, { names, check, flags });
  }
}

async function checkUpstream(
  config: Config,
  to: ToUpstream,
  {
    names,
    check,
    flags,
  }: { readonly names: readonly string[]; readonly check: Check; readonly flags: string },
): Promise<void> {
  const logIn = (at: ConfiguredUpstream) => loginCommand(at, flags);
  const probes = probesOf({
    upstream: to,
    connectSeconds: config.upstream.connectSeconds,
    dialect: config.dialect,
    rule: to.credential,
    token: (at) => ownToken(config, at, logIn(at)),
    logIn,
    names,
  });
  for (const { name, run } of probes) {
    const found = await check(
      `upstream ${new URL(to.url).origin}: ${name}`,
      () => explained(run, to),
      (found) => found,
    );
    if (found === undefined) break;
  }
}

async function ownToken(config: Config, at: ConfiguredUpstream, logIn: string): Promise<string> {
  const { openUpstreamLogin } = await import('../passthrough/upstream-login.ts');
  const login = openUpstreamLogin(config, at);
  try {
    return await login.token();
  } catch (cause) {
    if (!isLoginRequired(cause)) throw cause;
    throw new ExplainedError(
      `There is no login at ${at.url}, or it has run out: make one with \`${logIn}\`.`,
      { cause },
    );
  } finally {
    await login.close();
  }
}

/** What fails below HTTP, in words; a certificate of an authority of one's own has a setting of its own here. */
async function explained<T>(run: () => Promise<T>, { key, url }: ConfiguredUpstream): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    if (!(cause instanceof Error) || cause instanceof ConfigError) throw cause;
    // An error with a code is of the network, or of a login, whose message has the next step already.
    const isOfNetwork = 'code' in cause && cause.name !== 'LoginError';
    const { message } = isOfNetwork ? transportFailure(cause, url) : cause;
    throw new ExplainedError(
      `${message.replace('NODE_EXTRA_CA_CERTS=FILE', `${key}.ca`).replace(/\.?$/, '')}.`,
      { cause },
    );
  }
}
