import { ConfigError } from './config-error.ts';
import { destinationsOf } from './destinations.ts';
import { exportOf } from './export.ts';
import type { Config } from './schema.ts';

/** Refuses what this release does not do, and combinations that would make tokens for a wrong address. */
export function refuseUnsupported(config: Config): void {
  const { store, redisUrl, host, publicUrl } = config;
  if (store !== undefined && !store.startsWith('sqlite:'))
    throw new ConfigError(
      `store is ${store.replace(/:.*/s, ':')}..., which this release does not support: leave it out, or give sqlite:PATH.`,
    );
  if (redisUrl !== undefined)
    throw new ConfigError(
      'redisUrl is set, but this release runs as one process without Redis: leave it out.',
    );
  destinationsOf(config);
  exportOf(config);
  if (publicUrl === undefined && isWildcard(host))
    throw new ConfigError(
      `publicUrl must be set when host is ${host}: it is the address under which clients reach the gateway, such as https://sallyport.example.`,
    );
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
