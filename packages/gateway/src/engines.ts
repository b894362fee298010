import { createBridgeEngine } from '@sallyport/bridge/server';
import { createIds, createLocalWakeups, systemRandom, type Clock, type Log } from '@sallyport/core';
import { createAuthorizationServer, type CallOrigin } from '@sallyport/oauth/server';
import {
  createBundleFiles,
  createDamagedBlocks,
  createExporter,
  createFeedbackEngine,
  createTelemetryEngine,
  type Exporter,
  type ExporterOptions,
} from '@sallyport/telemetry/server';
import { exportOf } from './config/export.ts';
import type { Config } from './config/schema.ts';
import { openOutbox } from './passthrough/outbox.ts';
import { feedbackDirectory } from './store/embedded/path.ts';
import type { EmbeddedStore } from './store/embedded/store.ts';
import { stampedBridge } from './stamped-bridge.ts';
import { version } from './version.ts';
import { createWorkerTokens, workerTokenSeconds } from './worker-tokens.ts';

export interface EnginesOptions {
  readonly config: Config;
  /** Where clients reach the gateway; without a slash at the end. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Which request is being served. */
  readonly callOrigin: () => CallOrigin | undefined;
}

export type Engines = Awaited<ReturnType<typeof openEngines>>;

/** Every area's engine, over one store. */
export async function openEngines(store: EmbeddedStore, options: EnginesOptions) {
  const { config, publicUrl, clock, log, callOrigin } = options;
  const random = systemRandom;
  const ports = { clock, random, ids: createIds(clock, random), wakeups: createLocalWakeups(), log };
  const oauth = await createAuthorizationServer({
    ...ports,
    store: store.oauth,
    issuer: publicUrl,
    config: config.oauth,
    otherTokenSeconds: workerTokenSeconds,
    dialect: config.dialect,
    callOrigin,
  });
  const workerTokens = createWorkerTokens(oauth.signer);
  const bridge = createBridgeEngine({
    ...ports,
    store: stampedBridge(store.bridge, { clock, callOrigin }),
    accounts: oauth.accounts,
    workerTokens,
    devices: oauth.trustedDevices,
    apiBaseUrl: publicUrl,
    config: config.bridge,
  });
  const organizations = {
    async isZeroDataRetention(organizationId: string) {
      return (await oauth.organizations.get(organizationId))?.zeroDataRetention ?? false;
    },
  };
  const records = { ...ports, store: store.telemetry, damaged: createDamagedBlocks(log) };
  const files = createBundleFiles(feedbackDirectory(config));
  return {
    oauth,
    workerTokens,
    bridge,
    organizations,
    telemetry: createTelemetryEngine({
      ...records,
      accounts: oauth.accounts,
      organizations,
      config: config.telemetry,
    }),
    exporter: await openExport(config, records),
    outbox: await openOutbox({ ...ports, store: store.outbox }),
    feedback: createFeedbackEngine({ ...ports, store: store.feedback, files, organizations }),
  };
}

/** A gateway that keeps its telemetry to itself does not load what it takes to send it on. */
async function openExport(
  config: Config,
  ports: Omit<ExporterOptions, 'transport' | 'config'>,
): Promise<Exporter | undefined> {
  const destination = exportOf(config);
  if (destination === undefined) return undefined;
  const { undiciTransport } = await import('@sallyport/core/client');
  const transport = undiciTransport({ connections: 1 });
  // By it the endpoint's operator knows whose records these are; the settings may say something else.
  const headers = { 'user-agent': `sallyport-gateway/${version}`, ...destination.headers };
  const exporter = createExporter({ ...ports, transport, config: { ...destination, headers } });
  return {
    ...exporter,
    async stop() {
      await exporter.stop();
      await transport.close();
    },
  };
}
