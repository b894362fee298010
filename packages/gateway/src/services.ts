import { createBridgeEngine } from '@sallyport/bridge/server';
import { createIds, createLocalWakeups, systemRandom, type Clock, type Log } from '@sallyport/core';
import { createAuthorizationServer } from '@sallyport/oauth/server';
import {
  createBundleFiles,
  createDamagedBlocks,
  createExporter,
  createFeedbackEngine,
  createTelemetryEngine,
  type Exporter,
  type ExporterOptions,
} from '@sallyport/telemetry/server';
import type { Served } from './app.ts';
import { exportOf } from './config/export.ts';
import { createAuthenticator } from './authenticator.ts';
import type { Config } from './config/schema.ts';
import type { Handlers } from './http/handler.ts';
import { engineStats } from './metrics/engines.ts';
import { createPages } from './pages/pages.ts';
import { openPassthrough } from './passthrough/open.ts';
import { openOutbox } from './passthrough/outbox.ts';
import { createCallOrigins } from './http/call-origin.ts';
import { adminGates, adminHandlers } from './routes/admin.ts';
import type { Passthrough } from './passthrough/routes.ts';
import { accountHandlers } from './routes/account.ts';
import { bridgeHandlers } from './routes/bridge.ts';
import { devicesHandlers } from './routes/devices.ts';
import { environmentsHandlers } from './routes/environments.ts';
import { registerIssuerPath } from './routes/issuer-path.ts';
import { feedbackGates, feedbackHandlers } from './routes/feedback.ts';
import { oauthHandlers } from './routes/oauth.ts';
import { sessionsHandlers } from './routes/sessions.ts';
import { telemetryHandlers } from './routes/telemetry.ts';
import { workerHandlers } from './routes/worker.ts';
import { lowOnSpace } from './store/embedded/free-space.ts';
import { lockStore } from './store/embedded/lock.ts';
import { embeddedStorePath, feedbackDirectory } from './store/embedded/path.ts';
import { keepPrivate } from './store/embedded/private-file.ts';
import { openEmbeddedStore, type EmbeddedStore } from './store/embedded/store.ts';
import { createWorkerTokens, workerTokenSeconds } from './worker-tokens.ts';

/** The engines over their stores, and all that the gateway's routes need of them. */
export interface Services {
  /** What is served now. */
  readonly served: Served;
  /**
   * The same engines under another configuration of what passes through. Throws `ConfigError`; what is served now goes on.
   * What is given out is closed with the services, if not before.
   */
  serveAnew(config: Config): Promise<Served>;
  /** The owner's e-mail address, as long as the account has no password. */
  ownerToSetUp(): Promise<string | undefined>;
  /** A one-time link to set the owner's password, in place of those given before; `undefined` once there is one. */
  setupLink(): Promise<string | undefined>;
  /** Ends the engines, flushes and closes the store, and gives it free. */
  close(): Promise<void>;
}

export interface ServicesOptions {
  readonly config: Config;
  /** Where clients reach the gateway; without a slash at the end. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The store is gone for good: the process should end. */
  readonly onFatal: (error: Error) => void;
}

/** Opens the embedded store and composes the engines over it. Rejects with a `StoreError`, whose message is for people. */
export async function openServices(options: ServicesOptions): Promise<Services> {
  const { config, publicUrl, onFatal } = options;
  const path = embeddedStorePath(config);
  const lock = lockStore(path, publicUrl);
  let store: EmbeddedStore | undefined;
  try {
    store = await openEmbeddedStore({ path, onFatal, onNotice: (notice) => options.log.warn({}, notice) });
    keepPrivate(path, options.log);
    const services = await compose(store, options);
    return {
      ...services,
      async close() {
        await services.close();
        await store?.close();
        lock.release();
      },
    };
  } catch (error) {
    await store?.close();
    lock.release();
    throw error;
  }
}

const sweepMs = 5 * 60_000;

async function compose(store: EmbeddedStore, options: ServicesOptions): Promise<Services> {
  const { config, publicUrl, clock, log } = options;
  const { dialect } = config;
  const random = systemRandom;
  const ids = createIds(clock, random);
  const wakeups = createLocalWakeups();
  const callOrigins = createCallOrigins();

  const oauth = await createAuthorizationServer({
    store: store.oauth,
    issuer: publicUrl,
    config: config.oauth,
    otherTokenSeconds: workerTokenSeconds,
    clock,
    random,
    ids,
    dialect,
    log,
    wakeups,
    callOrigin: () => callOrigins.current(),
  });
  const workerTokens = createWorkerTokens(oauth.signer, clock);
  const bridge = createBridgeEngine({
    store: store.bridge,
    clock,
    random,
    ids,
    wakeups,
    workerTokens,
    devices: oauth.trustedDevices,
    apiBaseUrl: publicUrl,
    config: config.bridge,
    log,
  });
  const organizations = {
    async isZeroDataRetention(organizationId: string) {
      return (await oauth.organizations.get(organizationId))?.zeroDataRetention ?? false;
    },
  };
  const damaged = createDamagedBlocks(log);
  const telemetry = createTelemetryEngine({
    store: store.telemetry,
    organizations,
    wakeups,
    clock,
    log,
    damaged,
    config: config.telemetry,
  });
  const exporter = await openExport(config, { store: store.telemetry, wakeups, clock, random, log, damaged });
  const outbox = await openOutbox({ store: store.outbox, clock, random, log });
  const files = createBundleFiles(feedbackDirectory(config));
  const feedback = createFeedbackEngine({ store: store.feedback, files, organizations, clock, ids, log });

  const pages = createPages(oauth, { dialect, random });
  const handlers: Handlers = {
    oauth: oauthHandlers(oauth, pages.consent),
    account: accountHandlers(oauth),
    admin: adminHandlers(oauth),
    devices: devicesHandlers(oauth),
    bridge: bridgeHandlers(bridge),
    sessions: sessionsHandlers(bridge),
    worker: workerHandlers(bridge),
    telemetry: telemetryHandlers(telemetry, clock),
    environments: environmentsHandlers(bridge),
    feedback: feedbackHandlers(feedback, clock),
  };

  await feedback.start();
  await bridge.start();
  exporter?.start();
  const disk = () => lowOnSpace(embeddedStorePath(config), config.lowDiskBytes);
  const warnOfDisk = () =>
    disk().then(
      (sentence) => sentence !== undefined && log.warn({}, sentence),
      (error: unknown) => log.warn({ err: error }, 'the space left on the disk is not known'),
    );
  void warnOfDisk();
  const closing = new AbortController();
  let compacting: Promise<void> | undefined;
  const sweep = () => {
    void warnOfDisk();
    for (const area of [oauth, telemetry])
      area.sweep().catch((error: unknown) => log.error({ err: error }, 'expired records could not be swept'));
    compacting ??= telemetry
      .compact(closing.signal)
      .catch((error: unknown) => log.error({ err: error }, 'small blocks of telemetry could not be merged'))
      .finally(() => (compacting = undefined));
    sweeper = clock.after(sweepMs, sweep);
  };
  let sweeper = clock.after(sweepMs, sweep);

  const authenticator = createAuthenticator(oauth, workerTokens);
  const open = new Set<Passthrough>();
  async function serveAnew(config: Config): Promise<Served> {
    const passthrough = await openPassthrough(config, clock, log, outbox);
    open.add(passthrough);
    return {
      authenticator,
      grants: oauth.grants,
      handlers,
      gates: { ...feedbackGates(feedback), ...adminGates(oauth) },
      callOrigins,
      passthrough,
      mayKeep: async (organizationId) => !(await organizations.isZeroDataRetention(organizationId)),
      ...(servesOAuth(passthrough) && {
        pages(app) {
          pages.register(app);
          registerIssuerPath(app, oauth);
        },
        elsewhere: pages.elsewhere,
      }),
      checks: { store: () => store.check(), ...passthrough.upstreams.checks },
      warnings: { disk },
      stats: [
        engineStats(bridge, telemetry, exporter),
        () => passthrough.upstreams.stats(),
        () => (passthrough.outbox ? outbox.stats() : []),
      ],
      drainSteps: [() => bridge.drain()],
    };
  }
  const served = await serveAnew(config);
  const ownerWithoutPassword = async () => {
    const owner = await oauth.accounts.find();
    return owner.hasPassword || !servesOAuth(served.passthrough) ? undefined : owner;
  };

  return {
    served,
    serveAnew,
    ownerToSetUp: async () => (await ownerWithoutPassword())?.email,
    async setupLink() {
      const owner = await ownerWithoutPassword();
      return owner && oauth.accounts.setupLink(owner.id);
    },
    async close() {
      sweeper.cancel();
      closing.abort();
      await compacting;
      await exporter?.stop();
      await outbox.stop();
      await bridge.stop();
      for (const passthrough of open) await passthrough.close();
    },
  };
}

function servesOAuth(passthrough: Passthrough | undefined): boolean {
  return passthrough?.destinations.get('oauth')?.to === 'local';
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
  const exporter = createExporter({ ...ports, transport, config: destination });
  return {
    ...exporter,
    async stop() {
      await exporter.stop();
      await transport.close();
    },
  };
}
