import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { undiciTransport } from '@sallyport/core/client';
import { afterEach, expect, test } from 'vitest';
import { useBench } from './testing/use-bench.ts';

const { service, start } = useBench();

/** A proxy that makes tunnels, and keeps what it was asked for. */
class Proxy {
  readonly asked: { readonly authority: string | undefined; readonly credentials: string | undefined }[] = [];
  status = 200;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server = createServer().on('connect', (request, near: Socket) => {
    this.asked.push({ authority: request.url, credentials: request.headers['proxy-authorization'] });
    this.#sockets.add(near.on('error', () => undefined));
    if (this.status !== 200) return near.end(`HTTP/1.1 ${this.status} No\r\n\r\n`);
    const far = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 OK\r\n\r\n');
      far.pipe(near).pipe(far);
    });
    this.#sockets.add(far.on('error', () => undefined));
    return near;
  });

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://me:s%40fe@127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

let proxy: Proxy;
afterEach(() => proxy.close());

/** Only what is made beside the transport goes through the proxy here. */
async function behindProxy() {
  proxy = new Proxy();
  const url = await proxy.listen();
  return { ...undiciTransport({ proxyFromEnvironment: false }), proxyFor: () => url };
}

test("a session's stream goes through the proxy that the other calls go through", async () => {
  const transport = await behindProxy();
  service.grantSession('session_a');
  const bench = start({ run: 'true', transport });
  await bench.until('session.ended');
  const credentials = `Basic ${Buffer.from('me:s@fe').toString('base64')}`;
  expect(proxy.asked).toEqual([{ authority: new URL(service.url).host, credentials }]);
});

test('a proxy that refuses is named, and tried again', async () => {
  const transport = await behindProxy();
  proxy.status = 403;
  service.grantSession('session_a');
  const bench = start({ run: 'true', transport });
  const { error } = await bench.until('session.disconnected');
  expect(error.message).toMatch(/the proxy 127\.0\.0\.1:\d+ answered CONNECT with 403/);
  proxy.status = 200;
  await bench.until('session.ended');
});
