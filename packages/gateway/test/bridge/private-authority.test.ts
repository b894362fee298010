import { once } from 'node:events';
import { createServer as createProxy } from 'node:http';
import { connect, type AddressInfo, type Server } from 'node:net';
import { pipeline, type Duplex } from 'node:stream';
import { createServer } from 'node:tls';
import { undiciTransport } from '@sallyport/core/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAuthority } from '../passthrough/authority.ts';
import { runBridge } from './run-bridge.ts';
import { createSession, serveBridge } from './serve-bridge.ts';

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function join(a: Duplex, b: Duplex): void {
  const done = () => undefined;
  pipeline(a, b, done);
  pipeline(b, a, done);
}

/** A proxy that joins whoever asks for it; says how often it was asked. */
async function tunnels() {
  let asked = 0;
  const proxy = createProxy().on('connect', ({ url = '' }, socket) => {
    asked += 1;
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    join(socket, connect(Number(url.split(':')[1]), '127.0.0.1'));
  });
  return { url: `http://127.0.0.1:${await listening(proxy)}`, asked: () => asked };
}

test.each(['straight', 'through a proxy'])(
  'a bridge works behind a certificate of a private authority, its streams included: %s',
  async (way) => {
    const authority = await createAuthority();
    let [gatewayPort, sockets] = [0, 0];
    const tls = createServer(await authority.issue(), (socket) => {
      const inside = connect(gatewayPort, '127.0.0.1');
      inside.on('data', (chunk: Buffer) => {
        if (chunk.toString('latin1').startsWith('HTTP/1.1 101 ')) sockets += 1;
      });
      join(socket, inside);
    });
    const baseUrl = `https://127.0.0.1:${await listening(tls)}`;
    const bridge = await serveBridge({ apiBaseUrl: baseUrl });
    gatewayPort = Number(new URL(bridge.url).port);
    const proxy = await tunnels();
    if (way !== 'straight') vi.stubEnv('HTTPS_PROXY', proxy.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    const transport = undiciTransport({ ca: [authority.ca] });
    onTestFinished(() => transport.close());
    const { until } = runBridge({ ...bridge.clientOptions, baseUrl, transport, run: 'true' });
    const { environmentId } = await until('registered');
    await createSession(bridge, environmentId, []);
    expect(await until('session.ended')).toMatchObject({ reason: 'exited', exitCode: 0 });
    expect(sockets).toBeGreaterThan(0);
    expect(proxy.asked() > 1).toBe(way !== 'straight');
  },
);
