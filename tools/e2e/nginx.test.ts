import { once } from 'node:events';
import { streamSession } from '@sallyport/core/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Installation } from './installation.ts';
import { nginx, openBehind, type Hop } from './nginx.ts';
import { openWire, type Wire } from './wire.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ways: readonly (readonly [string, readonly Hop[]])[] = [
  ['nginx', ['nginx']],
  ['nginx, then a gateway that passes on', ['nginx', 'gateway']],
  ['a gateway that passes on, then nginx', ['gateway', 'nginx']],
];

describe.skipIf(nginx === undefined).each(ways)('behind %s', (_way, hops) => {
  let installation: Installation;
  let bareUrl: string;
  let wire: Wire;
  beforeAll(async () => {
    installation = new Installation();
    ({ bareUrl } = await openBehind(installation, hops));
    wire = await openWire(installation);
  });
  afterAll(async () => {
    await wire.close();
    await installation[Symbol.asyncDispose]();
  });

  const curl = (...args: string[]) => installation.run('curl', ['-sS', '-N', '-H', wire.bearer, ...args]);

  test('the main job is done', async () => {
    const command = 'printf "%s\\n" one two; exit 0';
    const bridge = installation.sallyport(['bridge', 'run', '--exec', command]);
    const [, id = ''] = await bridge.shows(/environment (env_\w+)/i);
    await bridge.shows(/Waiting for work/);
    const run = installation.sallyport(['session', 'run', 'look', '--env', id]);
    expect(await run.end(), run.screen).toBe(0);
    expect(run.stdout).toMatch(/one\ntwo\n/);
    expect(await bridge.stop('SIGINT')).toBe(0);
  });

  // Neither needs a line of configuration beyond `proxy_pass`.
  test.each(['nginx', 'nginx told nothing'])(
    'a held poll and an event stream pass at once: %s',
    async (which) => {
      const url = which === 'nginx' ? installation.baseUrl : bareUrl;
      const environmentId = await wire.register(which);
      const poll = `${url}/v1/environments/${environmentId}/work/poll?block_ms=`;
      const empty = curl(`${poll}200`);
      expect([await empty.end(), empty.stdout]).toEqual([0, 'null']);
      const held = curl('-v', `${poll}60000`);
      await held.shows(/^> GET /m);
      const { id, work_id: workId } = await wire.session(environmentId);
      await held.shows(new RegExp(`\\{"id":"${workId}","data":\\{"type":"session","id":"${id}"\\}\\}`));

      const stream = curl('-i', `${url}/v1/sessions/${id}/events/stream`);
      // As it comes: nginx would wait for a full buffer, were it not told by each stream that it is one.
      await stream.shows(/^id: 1\n/m);
      await wire.append(id, 'second');
      await stream.shows(/"text":"second"/);
      expect(stream.stdout).toMatch(/^Server: nginx/m);
    },
  );

  test("a worker's WebSocket is passed where nginx is told to", async () => {
    const { id, token } = await wire.worker(await wire.register('socket'));
    const headers = { authorization: `Bearer ${token}`, 'vendor-version': '2023-06-01' };
    const path = `/v1/code/sessions/${id}/worker/events/stream`;
    const socket = new WebSocket(installation.baseUrl.replace('http', 'ws') + path, { headers });
    await once(socket, 'open');
    socket.send(JSON.stringify({ id: 'o1', type: 'session.output', data: { text: 'through' } }));
    for await (const frame of streamSession(wire.options, id))
      if (frame.kind === 'event' && frame.event.type === 'session.output') break;
    socket.terminate();

    const refused = new WebSocket(bareUrl.replace('http', 'ws') + path, { headers });
    refused.on('error', () => undefined); // a reset after the answer
    const [, response] = (await once(refused, 'unexpected-response')) as [
      unknown,
      AsyncIterable<Buffer> & { statusCode: number },
    ];
    let body = '';
    for await (const chunk of response) body += String(chunk);
    expect(response.statusCode).toBe(400);
    expect(JSON.parse(body)).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('Upgrade: websocket') as string,
    });
  });

  test('what nginx has to be told, `sallyport doctor` says', async () => {
    const doctor = (baseUrl: string) =>
      installation.sallyport(['doctor'], { env: { SALLYPORT_BASE_URL: baseUrl } });
    const [told, untold] = [doctor(installation.baseUrl), doctor(bareUrl)];
    await Promise.all([told.end(), untold.end()]);
    expect(told.screen).toContain('WebSockets reach the gateway');
    expect(untold.screen).toContain('proxy_set_header Upgrade $http_upgrade;');
    expect(await untold.end()).not.toBe(0);
  });
});
