// A gateway's telemetry as a process of its own, to be killed and to be weighed: `victim.ts DIRECTORY`.
import { createLocalWakeups, silentLog, systemClock } from '@sallyport/core';
import { createTelemetryEngine } from '@sallyport/telemetry/server';
import { telemetryHandlers } from '../../src/routes/telemetry.ts';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { serve } from '../serve.ts';

const [directory = ''] = process.argv.slice(2);
const store = await openEmbeddedStore({ path: `${directory}/store.db` });
const engine = createTelemetryEngine({
  store: store.telemetry,
  organizations: { isZeroDataRetention: () => Promise.resolve(false) },
  wakeups: createLocalWakeups(),
  clock: systemClock,
  log: silentLog,
});
const { url } = await serve(
  { handlers: { telemetry: telemetryHandlers(engine, systemClock) } },
  { rateLimits: { default: 0 } },
);
process.stdout.write(`${url}\n`);
