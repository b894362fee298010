// A bridge in a process of its own, for tests that kill it: node -C @sallyport/source doomed-bridge.ts URL STATE_DIR COMMAND
import { undiciTransport } from '@sallyport/core/client';
import { BridgeRuntime } from '../runtime.ts';

const [baseUrl = '', stateDir = '', run = ''] = process.argv.slice(2);

await new BridgeRuntime({
  baseUrl,
  transport: undiciTransport({ proxyFromEnvironment: false }),
  tokens: { token: async () => 'access' },
  deviceToken: { token: async () => 'device' },
  runnerVersion: '1.2.3',
  directory: '/',
  name: 'doomed',
  run,
  stateDir,
}).run();
