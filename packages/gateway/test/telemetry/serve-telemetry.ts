import { join } from 'node:path';
import { silentLog, systemClock, type Clock } from '@sallyport/core';
import {
  createTelemetryEngine,
  type TelemetryEngine,
  type TelemetryStore,
} from '@sallyport/telemetry/server';
import { onTestFinished } from 'vitest';
import { telemetryHandlers } from '../../src/routes/telemetry.ts';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { serve, type ServedApp } from '../serve.ts';
import { scratchDirectory } from '../store/scratch.ts';

export interface ServedTelemetry extends ServedApp {
  readonly engine: TelemetryEngine;
  /** Posts to /v1/logs as somebody who may. */
  readonly post: (
    body: Uint8Array<ArrayBuffer> | string,
    headers: Readonly<Record<string, string>>,
  ) => Promise<Response>;
}

/** The telemetry's routes on a real port, over the real store. */
export async function serveTelemetry(
  options: { zeroRetention?: boolean; store?: Partial<TelemetryStore>; clock?: Clock } = {},
): Promise<ServedTelemetry> {
  const { clock = systemClock } = options;
  const store = await openEmbeddedStore({ path: join(scratchDirectory(), 'store.db') });
  const engine = createTelemetryEngine({
    store: { ...store.telemetry, ...options.store },
    organizations: { isZeroDataRetention: () => Promise.resolve(options.zeroRetention === true) },
    clock,
    log: silentLog,
  });
  const served = await serve({ handlers: { telemetry: telemetryHandlers(engine) } });
  onTestFinished(async () => {
    await served.close();
    await store.close();
  });
  const post = (body: Uint8Array<ArrayBuffer> | string, headers: Readonly<Record<string, string>>) =>
    fetch(`${served.url}/v1/logs`, {
      method: 'POST',
      headers: { authorization: 'Bearer access', ...headers },
      body,
    });
  return { ...served, engine, post };
}
