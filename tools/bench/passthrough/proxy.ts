// One of the proxies that `../passthrough.ts` measures: `proxy.ts <undici|http-proxy|sallyport> <upstream>`.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [, , kind, upstream = ''] = process.argv;
const connections = 64;

if (kind === 'undici') await bareUndici();
else if (kind === 'http-proxy') await fastifyHttpProxy();
else await sallyport();

/** No more than a proxy cannot do without: no routes, no checks, no headers of its own. */
async function bareUndici(): Promise<void> {
  const { Pool } = await import('undici');
  const pool = new Pool(upstream, { connections, allowH2: false });
  const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'host', 'te']);
  const kept = (raw: readonly string[]) =>
    raw.flatMap((name, i) =>
      i % 2 === 0 && !hopByHop.has(name.toLowerCase()) ? [name, raw[i + 1] ?? ''] : [],
    );
  const server = createServer((request, response) => {
    const { method = 'GET', url = '/', rawHeaders } = request;
    const body = method === 'POST' ? request : null;
    pool.dispatch(
      { method, path: url, headers: kept(rawHeaders), body },
      {
        onRequestStart: () => undefined,
        onResponseStart(controller, status) {
          const raw = Array.isArray(controller.rawHeaders) ? controller.rawHeaders.map(String) : [];
          response.writeHead(status, kept(raw)).flushHeaders();
        },
        onResponseData(controller, chunk) {
          if (response.write(chunk)) return;
          controller.pause();
          response.once('drain', () => controller.resume());
        },
        onResponseEnd: () => void response.end(),
        onResponseError: () => void response.destroy(),
      },
    );
  });
  server.on('upgrade', (request: IncomingMessage, socket, head: Buffer) => {
    const { hostname, port } = new URL(upstream);
    const out = httpRequest({ hostname, port, path: request.url, headers: request.headers });
    out.on('upgrade', (answer, other, rest: Buffer) => {
      const lines = answer.rawHeaders.map((part, i) => (i % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('');
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n`);
      if (head.length > 0) other.write(head);
      if (rest.length > 0) socket.write(rest);
      socket
        .on('error', () => undefined)
        .pipe(other)
        .on('error', () => undefined)
        .pipe(socket);
    });
    out.end();
  });
  server.listen(0, '127.0.0.1', () =>
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  );
}

async function fastifyHttpProxy(): Promise<void> {
  const { default: fastify } = await import('fastify');
  const { default: httpProxy } = await import('@fastify/http-proxy');
  const app = fastify();
  await app.register(httpProxy, { upstream, websocket: true, undici: { connections, pipelining: 1 } });
  console.log(await app.listen({ port: 0, host: '127.0.0.1' }));
}

async function sallyport(): Promise<void> {
  const { loadConfig, startGateway } = await import('@sallyport/gateway');
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  process.once('SIGTERM', () => {
    rmSync(dataDir, { recursive: true });
    process.exit();
  });
  const { config } = loadConfig({
    env: {},
    flags: { port: 0, dataDir, upstream, 'upstream.connections': connections },
  });
  console.log((await startGateway({ config })).url);
}
