import { silentLog, type Clock, type Log } from '@sallyport/core';
import type { CredentialRule } from '../config/credentials.ts';
import { destinationsOf, upstreamsIn, type Destination, type ToUpstream } from '../config/destinations.ts';
import type { Config } from '../config/schema.ts';
import { loginCommand, type ConfiguredUpstream } from '../config/upstreams.ts';
import type { Deliver } from './delivery.ts';
import { createDrift, driftFile } from './drift.ts';
import { Occupancy } from './occupancy.ts';
import type { Outbox } from './outbox.ts';
import type { Passthrough } from './passthrough.ts';
import type { UpstreamLogin } from './upstream-login.ts';
import type { Upstreams } from './upstreams.ts';

/**
 * The pass-through of a configuration. Nothing connects before there is a request. Throws `ConfigError` where a file that it
 * names is of no use. `flags`: what a command on the same configuration is given, with a space before it.
 */
export async function openPassthrough(
  config: Config,
  clock: Clock,
  log: Log = silentLog,
  outbox?: Outbox,
  flags = '',
): Promise<Passthrough> {
  const logIn = (at: ConfiguredUpstream) => loginCommand(at, flags);
  const destinations = destinationsOf(config);
  const configured = upstreamsIn(destinations);
  const upstreams = await open(configured, config, { clock, log });
  const logins = await ownLogins(config, configured, { log, logIn });
  const loginFor = (rule: CredentialRule) => (rule.kind === 'login' ? logins.get(rule.at.url) : undefined);
  const drift =
    config.upstream.validation === 'off' || configured.length === 0
      ? undefined
      : createDrift(driftFile(config.dataDir), { clock, log });
  const occupancy = new Occupancy();
  const deliver = await deliveryOfTelemetry(destinations.get('telemetry'), { upstreams, loginFor, clock });
  const keeps = deliver !== undefined && config.upstream.outboxBytes > 0;
  outbox?.use(deliver, config.upstream);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeAll([upstreams, ...logins.values(), drift]));
  return {
    ...config.upstream,
    destinations,
    upstreams,
    loginFor,
    drift,
    outbox: keeps ? outbox : undefined,
    occupancy,
    async retire() {
      await occupancy.whenEmpty();
      await close();
    },
    close,
  };
}

/** Nothing that is the caller's own may rest here: where its credential goes along, there is no later. */
async function deliveryOfTelemetry(
  to: Destination | undefined,
  { upstreams, loginFor, clock }: Pick<Passthrough, 'upstreams' | 'loginFor'> & { readonly clock: Clock },
): Promise<Deliver | undefined> {
  if (to?.to !== 'upstream' || to.credential.kind === 'forward') return undefined;
  const { credential } = to;
  const { deliverBy } = await import('./delivery.ts');
  return deliverBy({ upstream: upstreams.at(to.url), credential, login: loginFor(credential), clock });
}

/** By address: who go to the same one share the login there. */
async function ownLogins(
  config: Config,
  configured: readonly ToUpstream[],
  { log, logIn }: { readonly log: Log; readonly logIn: (at: ConfiguredUpstream) => string },
): Promise<ReadonlyMap<string, UpstreamLogin>> {
  const logins = new Map<string, UpstreamLogin>();
  for (const { credential } of configured) {
    if (credential.kind !== 'login' || logins.has(credential.at.url)) continue;
    const { openUpstreamLogin, warnWithoutLogin } = await import('./upstream-login.ts');
    await warnWithoutLogin(config, credential.at, { log, logIn: logIn(credential.at) });
    logins.set(credential.at.url, openUpstreamLogin(config, credential.at));
  }
  return logins;
}

async function closeAll(parts: readonly ({ close(): Promise<void> } | undefined)[]): Promise<void> {
  await Promise.all(parts.map(async (part) => part?.close()));
}

/** A gateway that serves everything by itself does not load what it takes to ask others. */
async function open(
  configured: readonly ToUpstream[],
  { upstream }: Config,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Upstreams> {
  if (configured.length === 0) return none;
  const { createUpstreams } = await import('./upstreams.ts');
  return createUpstreams(configured, { ...upstream, clock, log });
}

const none: Upstreams = {
  at: () => {
    throw new Error('There is no upstream.');
  },
  checks: {},
  stats: () => [],
  close: () => Promise.resolve(),
};
