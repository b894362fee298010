// A program with a batcher, ended in the way that its argument names: what happens then is seen from outside.
import { http1Transport } from '@sallyport/core/client';
import { TelemetryBatcher } from '../src/index.ts';

const [, , ending = 'end', count = '1'] = process.argv;
const { BASE_URL = '', SPOOL_DIR = '', TOKEN } = process.env;

const telemetry = new TelemetryBatcher({
  baseUrl: BASE_URL,
  transport: http1Transport(),
  ...(TOKEN !== undefined && { tokens: { token: () => Promise.resolve(TOKEN) } }),
  serviceName: 'agent_cli',
  serviceVersion: '0.0.0',
  spoolDir: SPOOL_DIR,
  installSignalHandlers: ending === 'signal',
  // All that a test emits has room: what is missing then was lost by something else.
  queue: { maxEvents: 1_000_000, maxBytes: 2 ** 30 },
});
for (let index = 0; index < Number(count); index += 1) telemetry.emit({ name: `${ending}.${index}` });

const start = performance.now();
process.on('exit', () => console.log(JSON.stringify({ endedAfterMs: performance.now() - start })));

if (ending === 'exit') process.exit(7);
else if (ending === 'throw') throw new Error('on purpose');
else if (ending === 'shutdown') await telemetry.shutdown();
else if (ending === 'flush') await telemetry.flush();
else if (ending === 'signal') {
  setInterval(() => undefined, 60_000);
  console.log('ready');
} else process.exitCode = 3;
