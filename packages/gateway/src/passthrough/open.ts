import { silentLog, type Clock, type Log } from '@sallyport/core';
import { destinationsOf, type Destination } from '../config/destinations.ts';
import type { Config } from '../config/schema.ts';
import type { Deliver, DeliverOptions } from './delivery.ts';
import { createDrift, driftFile } from './drift.ts';
import { Occupancy } from './occupancy.ts';
import type { Outbox } from './outbox.ts';
import type { Passthrough } from './routes.ts';
import type { UpstreamLogin } from './upstream-login.ts';
import type { Upstreams } from './upstreams.ts';

/**
 * The pass-through of a configuration. Nothing connects before there is a request. Throws `ConfigError` where a file that it
 * names is of no use.
 */
export async function openPassthrough(
  config: Config,
  clock: Clock,
  log: Log = silentLog,
  outbox?: Outbox,
): Promise<Passthrough> {
  const destinations = destinationsOf(config);
  const upstream = [...destinations.values()].filter((to) => to.to === 'upstream');
  const urls = upstream.map(({ url }) => url);
  const logsIn = upstream.find(({ credential }) => credential.kind === 'login');
  const upstreams = await open(urls, config, clock);
  const login = logsIn && (await ownLogin(config, logsIn.url, log));
  const drift =
    config.upstream.validation === 'off' || urls.length === 0
      ? undefined
      : createDrift(driftFile(config.dataDir), { clock, log });
  const occupancy = new Occupancy();
  const deliver = await deliveryOfTelemetry(destinations.get('telemetry'), { upstreams, login, clock });
  const keeps = deliver !== undefined && config.upstream.outboxBytes > 0;
  outbox?.use(deliver, config.upstream);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeAll([upstreams, login, drift]));
  return {
    ...config.upstream,
    destinations,
    upstreams,
    login,
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
  { upstreams, ...ports }: { readonly upstreams: Upstreams } & Pick<DeliverOptions, 'login' | 'clock'>,
): Promise<Deliver | undefined> {
  if (to?.to !== 'upstream' || to.credential.kind === 'forward') return undefined;
  const { deliverBy } = await import('./delivery.ts');
  return deliverBy({ upstream: upstreams.at(to.url), credential: to.credential, ...ports });
}

async function ownLogin(config: Config, url: string, log: Log): Promise<UpstreamLogin> {
  const { openUpstreamLogin, warnWithoutLogin } = await import('./upstream-login.ts');
  await warnWithoutLogin(config, url, log);
  return openUpstreamLogin(config, url);
}

async function closeAll(parts: readonly ({ close(): Promise<void> } | undefined)[]): Promise<void> {
  await Promise.all(parts.map(async (part) => part?.close()));
}

/** A gateway that serves everything by itself does not load what it takes to ask others. */
async function open(urls: readonly string[], { upstream }: Config, clock: Clock): Promise<Upstreams> {
  if (urls.length === 0) return none;
  const { createUpstreams } = await import('./upstreams.ts');
  return createUpstreams(urls, { ...upstream, clock });
}

const none: Upstreams = {
  at: () => {
    throw new Error('There is no upstream.');
  },
  checks: {},
  stats: () => [],
  close: () => Promise.resolve(),
};
