import { systemRandom, type Clock, type Dialect } from '@sallyport/core';
import type { Served } from './app.ts';
import { createAuthenticator } from './authenticator.ts';
import type { Engines } from './engines.ts';
import type { CallOrigins } from './http/call-origin.ts';
import type { Handlers } from './http/handler.ts';
import { bridgeStats, storeStats, telemetryStats } from './metrics/engines.ts';
import { createPages, type Pages } from './pages/pages.ts';
import type { Passthrough } from './passthrough/passthrough.ts';
import { accountHandlers } from './routes/account.ts';
import { adminGates, adminHandlers } from './routes/admin.ts';
import { bridgeHandlers } from './routes/bridge.ts';
import { devicesHandlers } from './routes/devices.ts';
import { environmentsHandlers } from './routes/environments.ts';
import { feedbackGates, feedbackHandlers } from './routes/feedback.ts';
import { issuerPaths } from './routes/issuer-paths.ts';
import { oauthDocuments, oauthHandlers } from './routes/oauth.ts';
import { sessionsHandlers } from './routes/sessions.ts';
import { telemetryHandlers } from './routes/telemetry.ts';
import { workerHandlers } from './routes/worker.ts';
import type { EmbeddedStore } from './store/embedded/store.ts';

export interface ServingOptions {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly callOrigins: CallOrigins;
  readonly store: Pick<EmbeddedStore, 'check' | 'stats'>;
  /** A sentence where the disk fills up. */
  readonly lowDisk: () => Promise<string | undefined>;
}

/** What an app serves of the engines, beside what passes through. */
export function createServing(
  engines: Engines,
  options: ServingOptions,
): (passthrough: Passthrough) => Served {
  const { oauth, organizations, feedback, bridge, telemetry, exporter, outbox } = engines;
  const pages = createPages(oauth, { dialect: options.dialect, random: systemRandom });
  const always = {
    authenticator: createAuthenticator(oauth, engines.workerTokens),
    grants: oauth.grants,
    handlers: handlersOf(engines, pages, options.clock),
    documents: oauthDocuments(oauth),
    morePaths: issuerPaths(oauth),
    gates: { ...feedbackGates(feedback), ...adminGates(oauth) },
    callOrigins: options.callOrigins,
    mayKeep: async (organizationId: string) => !(await organizations.isZeroDataRetention(organizationId)),
    warnings: {
      disk: options.lowDisk,
      telemetry_auth: async () => outbox.refusedCredential(),
      telemetry_export: async () => exportWaits(exporter?.stats().failing),
    },
    drainSteps: [() => bridge.drain()],
  };
  const pagesOfOurs: Pick<Served, 'pages' | 'elsewhere'> = {
    pages: (app) => pages.register(app),
    elsewhere: pages.elsewhere,
  };
  return (passthrough) => ({
    ...always,
    passthrough,
    ...(serves(passthrough, 'oauth') && pagesOfOurs),
    checks: { store: () => options.store.check(), ...passthrough.upstreams.checks },
    stats: [
      storeStats(() => options.store.stats()),
      ...(serves(passthrough, 'bridge') ? [bridgeStats(bridge)] : []),
      ...(serves(passthrough, 'telemetry') ? [telemetryStats(telemetry, exporter)] : []),
      () => passthrough.upstreams.stats(),
      () => (passthrough.outbox ? outbox.stats() : []),
    ],
  });
}

function exportWaits(reason: string | undefined): string | undefined {
  return reason && `Telemetry waits: it cannot be exported (${reason}).`;
}

/** Whether an area is served here. */
export function serves(passthrough: Passthrough | undefined, area: string): boolean {
  return passthrough?.destinations.get(area)?.to === 'local';
}

function handlersOf({ oauth, bridge, telemetry, feedback }: Engines, pages: Pages, clock: Clock): Handlers {
  return {
    oauth: oauthHandlers(oauth, pages.consent),
    account: accountHandlers(oauth),
    admin: adminHandlers(oauth),
    devices: devicesHandlers(oauth),
    bridge: bridgeHandlers(bridge, oauth.grants),
    sessions: sessionsHandlers(bridge, oauth.accounts),
    worker: workerHandlers(bridge),
    telemetry: telemetryHandlers(telemetry, oauth.accounts, clock),
    environments: environmentsHandlers(bridge),
    feedback: feedbackHandlers(feedback, clock),
  };
}
