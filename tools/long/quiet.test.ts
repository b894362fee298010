import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Installation } from '../e2e/installation.ts';
import { nginx, openBehind } from '../e2e/nginx.ts';
import { within } from '../e2e/steps/within.ts';
import { openWire, type Wire } from '../e2e/wire.ts';

const minute = 60_000;
vi.setConfig({ testTimeout: 5 * minute, hookTimeout: minute });

// nginx gives an upstream that says nothing 60 s.
describe.skipIf(nginx === undefined).concurrent('three quiet minutes behind nginx', () => {
  let installation: Installation;
  let bareUrl: string;
  let wire: Wire;
  beforeAll(async () => {
    installation = new Installation();
    ({ bareUrl } = await openBehind(installation, ['nginx']));
    wire = await openWire(installation);
  });
  afterAll(async () => {
    await wire.close();
    await installation[Symbol.asyncDispose]();
  });

  test('do not end an event stream: it is kept alive, and the next event is there at once', async () => {
    const { id } = await wire.session(await wire.register('stream'));
    const args = ['-sS', '-N', '-H', wire.bearer, `${bareUrl}/v1/sessions/${id}/events/stream`];
    const curl = installation.run('curl', args);
    await curl.shows(/^event: caught_up$/m);
    await setTimeout(3 * minute);
    expect(curl.ended, curl.screen).toBe(false);
    expect([...curl.stdout.matchAll(/^: ka$/gm)].length).toBeGreaterThanOrEqual(11); // one every 15 s
    await wire.append(id, 'at last');
    await within(1000, curl.shows(/"text":"at last"/));
  });

  test("do not end a worker's WebSocket", async () => {
    const { id, token } = await wire.worker(await wire.register('socket'));
    const address = `${installation.baseUrl.replace('http', 'ws')}/v1/code/sessions/${id}/worker/events/stream`;
    const socket = new WebSocket(address, {
      headers: { authorization: `Bearer ${token}`, 'vendor-version': '2023-06-01' },
    });
    let pings = 0;
    socket.on('ping', () => pings++);
    await once(socket, 'open');
    await setTimeout(3 * minute);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    expect(pings).toBeGreaterThanOrEqual(8); // one every 20 s
    const told = new Promise<void>((resolve) =>
      socket.on('message', (data: Buffer) => data.toString().includes('at last') && resolve()),
    );
    await wire.append(id, 'at last');
    await within(1000, told);
    socket.terminate();
  });

  test('are answered with null, poll by poll, and a bridge still takes work at once', async () => {
    const environmentId = await wire.register('poll');
    const poll = `${installation.baseUrl}/v1/environments/${environmentId}/work/poll?block_ms=`;
    const long = installation.run('curl', ['-sS', '-H', wire.bearer, `${poll}55000`]);
    const bridge = installation.sallyport(['bridge', 'run', '--exec', 'echo done']);
    const [, id = ''] = await bridge.shows(/environment (env_\w+)/i);
    await bridge.shows(/Waiting for work/);
    expect([await long.end(), long.stdout]).toEqual([0, 'null']);
    await setTimeout(2 * minute);
    expect(bridge.ended, bridge.screen).toBe(false);
    const run = installation.sallyport(['session', 'run', 'look', '--env', id]);
    await within(5000, run.shows(/^done$/m));
    expect(await run.end()).toBe(0);
    expect(await bridge.stop('SIGINT')).toBe(0);
  });
});
