import { expect, test } from 'vitest';
import { runBridge, temporaryState } from './run-bridge.ts';
import { serveBridge } from './serve-bridge.ts';

test('a bridge that is started again and again, killed or stopped, is one environment', async () => {
  const bridge = await serveBridge();
  const options = { ...bridge.clientOptions, run: 'true', stateDir: temporaryState() };
  const ids = new Set<string>();
  for (let start = 0; start < 20; start += 1) {
    const { runtime, until, result, stop } = runBridge(options);
    ids.add((await until('polling')).environmentId);
    if (start % 2 === 0) {
      // Without a word to the service, as by SIGKILL.
      runtime.kill();
      runtime.kill();
    } else stop();
    await result;
  }
  expect(ids.size).toBe(1);
  const [environmentId = ''] = ids;
  const { environments } = await bridge.client.bridge.list({ params: { org_uuid: 'organization' } });
  expect(environments.map(({ environment_id, status }) => [environment_id, status])).toEqual([
    [environmentId, 'offline'],
  ]);
  await bridge.client.bridge.unregister({ params: { environment_id: environmentId } });
  const left = await bridge.client.bridge.list({ params: { org_uuid: 'organization' } });
  expect(left.environments).toEqual([]);
});
