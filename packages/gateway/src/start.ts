import { sleep, systemClock, type Clock } from '@sallyport/core';
import type { FastifyBaseLogger } from 'fastify';
import type { App } from './app.ts';
import { localUrlOf, publicUrlOf } from './config/address.ts';
import { destinationsOf } from './config/destinations.ts';
import type { Config } from './config/schema.ts';
import { listen, type Listener } from './http/listener.ts';
import { createLog } from './http/log.ts';
import { upgradableIn } from './http/upgradable.ts';
import { openServices, type Services } from './services.ts';

export interface GatewayOptions {
  /** See `loadConfig`; port 0 lets the system choose one. */
  readonly config: Config;
  /** Default: none. */
  readonly log?: FastifyBaseLogger;
  readonly clock?: Clock;
  /** The gateway cannot go on (its store is gone); default: throws. */
  readonly onFatal?: (error: Error) => void;
}

/** A gateway that serves. */
export interface Gateway {
  /** Where it listens: `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly services: Services;
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
    services = await openServices({ config, publicUrl, clock, log, onFatal });
    const { createApp } = await loading;
    const app = createApp(services, {
      publicUrl,
      dialect: config.dialect,
      rateLimits: config.rateLimits,
      trustProxy: config.trustProxy,
      corsOrigins: config.oauth.corsOrigins,
      maxBodyBytesInFlight: config.maxBodyBytesInFlight,
      log,
      clock,
    });
    await app.attach(listener);
    const open = services;
    let closed: Promise<void> | undefined;
    return {
      url,
      services,
      close: () => (closed ??= stop(app, listener, open, config.drainSeconds * 1000, clock)),
    };
  } catch (error) {
    await services?.close();
    await listener.close();
    throw error;
  }
}

/** bridge.md rule 19. What has not ended at the deadline is cut off. */
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
