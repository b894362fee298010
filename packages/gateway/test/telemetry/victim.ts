// A gateway's telemetry as a process of its own, to be killed and to be weighed:
// `victim.ts DIRECTORY [--export URL] [--compacts]`. With `--compacts` it merges small blocks all the time, the newest, too.
// At SIGUSR2 it gives up what nobody holds any more, and says so: when V8 does by itself is no matter of what is kept.
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createLocalWakeups, silentLog, systemClock, systemRandom, type Clock } from '@sallyport/core';
import { undiciTransport } from '@sallyport/core/client';
import { createExporter, createTelemetryEngine } from '@sallyport/telemetry/server';
import { telemetryHandlers } from '../../src/routes/telemetry.ts';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { serve } from '../serve.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { export: { type: 'string' }, compacts: { type: 'boolean' } },
});
const [directory = ''] = positionals;
const store = await openEmbeddedStore({ path: `${directory}/store.db` });
const wakeups = createLocalWakeups();
const engineAt = (clock: Clock) =>
  createTelemetryEngine({
    store: store.telemetry,
    organizations: { isZeroDataRetention: () => Promise.resolve(false) },
    wakeups,
    clock,
    log: silentLog,
  });
const engine = engineAt(systemClock);
if (values.export !== undefined)
  createExporter({
    store: store.telemetry,
    transport: undiciTransport(),
    wakeups,
    clock: systemClock,
    random: { ...systemRandom, fraction: () => 0.01 }, // waits are short
    log: silentLog,
    // Few records, so that a request begins and ends amid what came together.
    config: {
      url: values.export,
      headers: {},
      encoding: 'json',
      compression: 'none',
      maxRecords: 7,
      timeoutSeconds: 10,
    },
  }).start();
const { url } = await serve(
  {
    handlers: {
      telemetry: telemetryHandlers(engine, { idOf: () => Promise.resolve(undefined) }, systemClock),
    },
  },
  { rateLimits: { default: 0 } },
);
process.on('SIGUSR2', () => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
  process.stdout.write('collected\n');
});
process.stdout.write(`${url}\n`);
if (values.compacts) {
  // Of a clock that is ahead, nothing is too young.
  const compacting = engineAt({ ...systemClock, now: () => systemClock.now() + 20 * 60_000 });
  for (;;) {
    await compacting.compact();
    await setTimeout(1);
  }
}
