// One of the servers that `../memory.ts` measures: `server.ts <fastify|ws|gateway>`. Its first line is JSON: where it is, and a
// login; each SIGUSR2 gives another one: the bytes that are held, after a collection.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { startBenchGateway } from '../gateway.ts';

process.on('SIGUSR2', () => {
  global.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  console.log(heapUsed + external);
});
const kinds: Readonly<Record<string, () => Promise<object>>> = {
  gateway: () => startBenchGateway({}, 1),
  ws: bareSockets,
  fastify: barePolls,
};
console.log(JSON.stringify(await kinds[process.argv[2] ?? '']?.()));

/** Open sockets and nothing behind them. */
async function bareSockets() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  new WebSocketServer({ server, perMessageDeflate: false });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, logins: [] };
}

/** Requests that are held: each answer is kept until it is given, or its caller has left. */
async function barePolls() {
  const { default: fastify } = await import('fastify');
  const app = fastify();
  const held = new Set<(answer: null) => void>();
  app.get('/*', (_request, reply) => {
    const { promise, resolve } = Promise.withResolvers<null>();
    held.add(resolve);
    reply.raw.on('close', () => held.delete(resolve));
    return promise;
  });
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), logins: [] };
}
