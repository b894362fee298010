import { join } from 'node:path';
import { createLocalWakeups, silentLog, systemClock, type Clock } from '@sallyport/core';
import {
  createTelemetryEngine,
  type Place,
  type StoredRecord,
  type TelemetryConfig,
  type TelemetryEngine,
  type TelemetryStore,
} from '@sallyport/telemetry/server';
import { createRecordReads } from '@sallyport/telemetry/testing';
import { onTestFinished } from 'vitest';
import type { Authenticator } from '../../src/http/callers.ts';
import { telemetryHandlers } from '../../src/routes/telemetry.ts';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { serve, type ServedApp } from '../serve.ts';
import { scratchDirectory } from '../store/scratch.ts';

export interface ServedTelemetry extends ServedApp {
  readonly engine: TelemetryEngine;
  /** All that is stored, the oldest first; without what it weighs, which depends on what came before. */
  readonly stored: (after?: Place) => Promise<Omit<StoredRecord, 'bytes'>[]>;
  /** Posts to /v1/logs as somebody who may. */
  readonly post: (
    body: Uint8Array<ArrayBuffer> | string,
    headers: Readonly<Record<string, string>>,
  ) => Promise<Response>;
}

/** The telemetry's routes on a real port, over the real store. */
export async function serveTelemetry(
  options: {
    zeroRetention?: boolean;
    store?: Partial<TelemetryStore>;
    clock?: Clock;
    config?: Partial<TelemetryConfig>;
    maxBodyBytesInFlight?: number;
    authenticator?: Authenticator;
  } = {},
): Promise<ServedTelemetry> {
  const { clock = systemClock } = options;
  const store = await openEmbeddedStore({ path: join(scratchDirectory(), 'store.db') });
  const engine = createTelemetryEngine({
    store: { ...store.telemetry, ...options.store },
    organizations: { isZeroDataRetention: () => Promise.resolve(options.zeroRetention === true) },
    wakeups: createLocalWakeups(),
    clock,
    log: silentLog,
    ...(options.config && { config: options.config }),
  });
  const served = await serve(
    {
      handlers: { telemetry: telemetryHandlers(engine, { idOf: () => Promise.resolve(undefined) }, clock) },
      ...(options.authenticator && { authenticator: options.authenticator }),
    },
    options.maxBodyBytesInFlight === undefined ? {} : { maxBodyBytesInFlight: options.maxBodyBytesInFlight },
  );
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
  const reads = createRecordReads(store.telemetry);
  const stored = async (after?: Place) => {
    const filter = { organizationId: 'organization' };
    const bounds = { maxScanned: 1000, limit: 1000, maxBytes: 2 ** 30 };
    const { records } = await reads.scanRecords({ filter, order: 'oldest', after, ...bounds });
    return records.map(({ bytes: _bytes, ...record }) => record);
  };
  return { ...served, engine, stored, post };
}
