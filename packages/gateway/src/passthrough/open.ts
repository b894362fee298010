import type { Clock } from '@sallyport/core';
import { destinationsOf } from '../config/destinations.ts';
import type { Config } from '../config/schema.ts';
import type { Passthrough } from './routes.ts';
import type { Upstreams } from './upstreams.ts';

/** The pass-through of a configuration. Nothing connects before there is a request. */
export async function openPassthrough(config: Config, clock: Clock): Promise<Passthrough> {
  const destinations = destinationsOf(config);
  const urls = [...destinations.values()].flatMap((to) => (to.to === 'upstream' ? to.url : []));
  return { ...config.upstream, destinations, upstreams: await open(urls, config, clock) };
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
  close: () => Promise.resolve(),
};
