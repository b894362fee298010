import { sleep, systemClock, type Clock } from '@sallyport/core';
import type { FastifyBaseLogger } from 'fastify';
import type { App, Served } from './app.ts';
import { localUrlOf, publicUrlOf } from './config/address.ts';
import { ConfigError } from './config/config-error.ts';
import { destinationsOf } from './config/destinations.ts';
import type { Config } from './config/schema.ts';
import { createDrain } from './http/drain.ts';
import { listen, type Listener } from './http/listener.ts';
import { createLog } from './http/log.ts';
import { upgradableIn } from './http/upgradable.ts';
import { createReloads } from './metrics/reloads.ts';
import { createTraffic } from './metrics/traffic.ts';
import { openServices, type Services } from './services.ts';

export interface GatewayOptions {
  /** See `loadConfig`; port 0 lets the system choose one. */
  readonly config: Config;
  /** Default: none. */
  readonly log?: FastifyBaseLogger;
  readonly clock?: Clock;
  /** What commands on the same configuration are given, with a space before it; for what people are told to run. */
  readonly flags?: string;
  /** The gateway cannot go on (its store is gone); default: throws. */
  readonly onFatal?: (error: Error) => void;
}

/** A gateway that serves. */
export interface Gateway {
  /** Where it listens: `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly services: Services;
  /**
   * Serves under another configuration, from the next request on: `mergeReload` tells what of it counts. What is open goes
   * on as it began. Rejects with what `read` throws, or a `ConfigError`, and then nothing has changed.
   */
  reload(read: () => Config): Promise<void>;
  /** Drains and ends: held polls answer `null`, streams close, requests in flight finish. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a gateway in this process. The port is bound first, so that its number can be in tokens and addresses.
 * Rejects with Node's error if it cannot be bound, with a `StoreError` if the data cannot be opened.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, clock = systemClock, log = createLog('silent') } = options;
  const listener = await listen({
    ...config,
    upgradable: upgradableIn(config.dialect, destinationsOf(config)),
  });
  const url = localUrlOf(config.host, listener.port);
  const publicUrl = publicUrlOf(config, listener.port);
  let services: Services | undefined;
  try {
    const onFatal = options.onFatal ?? rethrow;
    // The store opens in its own thread while this one loads the app.
    const loading = import('./app.ts');
    services = await openServices({ config, publicUrl, clock, log, onFatal, flags: options.flags ?? '' });
    const { createApp } = await loading;
    // Both outlive a reload.
    const [traffic, drain] = [createTraffic(), createDrain({ clock })];
    const reloads = createReloads(clock);
    const serve = async (served: Served, config: Config): Promise<App> => {
      const app = createApp(
        { ...served, stats: [...(served.stats ?? []), reloads.stats] },
        {
          publicUrl,
          dialect: config.dialect,
          rateLimits: config.rateLimits,
          trustProxy: config.trustProxy,
          corsOrigins: config.oauth.corsOrigins,
          maxBodyBytesInFlight: config.maxBodyBytesInFlight,
          metricsToken: config.metrics.token,
          traffic,
          drain,
          log,
          clock,
        },
      );
      await app.attach(listener);
      return app;
    };
    const open = services;
    let { logLevel } = config;
    let { served } = services;
    let app = await serve(served, config);
    let closed: Promise<void> | undefined;
    return {
      url,
      services,
      reload: (read) =>
        reloads.run(async () => {
          if (drain.draining) throw new ConfigError('The gateway is shutting down.');
          const next = read();
          const anew = await open.serveAnew(next);
          app = await serve(anew, next);
          const before = served;
          served = anew;
          if (next.logLevel !== logLevel) log.level = logLevel = next.logLevel;
          // Not awaited: a stream may last for days.
          void before.passthrough?.retire();
        }),
      close: () => (closed ??= stop(app, listener, open, config.drainSeconds * 1000, clock)),
    };
  } catch (error) {
    await services?.close();
    await listener.close();
    throw error;
  }
}

/** Refuses what is new, ends what is open, and closes. What has not ended at the deadline is cut off. */
async function stop(
  app: App,
  listener: Listener,
  services: Services,
  deadlineMs: number,
  clock: Clock,
): Promise<void> {
  const ended = app.close().then(() => listener.close());
  const late = new AbortController();
  await Promise.race([ended, sleep(clock, deadlineMs, late.signal).catch(() => undefined)]);
  late.abort();
  app.drain.terminate();
  listener.server.closeAllConnections();
  await services.close();
}

function rethrow(error: Error): never {
  throw error;
}
