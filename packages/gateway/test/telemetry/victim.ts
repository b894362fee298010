// A gateway's telemetry as a process of its own, to be killed and to be weighed: `victim.ts DIRECTORY [EXPORT_URL]`.
import { createLocalWakeups, silentLog, systemClock, systemRandom } from '@sallyport/core';
import { undiciTransport } from '@sallyport/core/client';
import { createExporter, createTelemetryEngine } from '@sallyport/telemetry/server';
import { telemetryHandlers } from '../../src/routes/telemetry.ts';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { serve } from '../serve.ts';

const [directory = '', exportUrl] = process.argv.slice(2);
const store = await openEmbeddedStore({ path: `${directory}/store.db` });
const wakeups = createLocalWakeups();
const engine = createTelemetryEngine({
  store: store.telemetry,
  organizations: { isZeroDataRetention: () => Promise.resolve(false) },
  wakeups,
  clock: systemClock,
  log: silentLog,
});
if (exportUrl !== undefined)
  createExporter({
    store: store.telemetry,
    transport: undiciTransport(),
    wakeups,
    clock: systemClock,
    random: { ...systemRandom, fraction: () => 0.01 }, // waits are short
    log: silentLog,
    // Few records, so that a request begins and ends amid what came together.
    config: {
      url: exportUrl,
      headers: {},
      encoding: 'json',
      compression: 'none',
      maxRecords: 7,
      timeoutSeconds: 10,
    },
  }).start();
const { url } = await serve(
  { handlers: { telemetry: telemetryHandlers(engine, systemClock) } },
  { rateLimits: { default: 0 } },
);
process.stdout.write(`${url}\n`);
