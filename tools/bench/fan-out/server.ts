// One of the servers that `../fan-out.ts` measures: `server.ts <bare|gateway>`. Its first line is JSON: where it is, and a login.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { startBenchGateway } from '../gateway.ts';

const gateway = () => startBenchGateway({ 'bridge.inboundEventsPerSecond': 1_000_000 }, 1);
console.log(JSON.stringify(await (process.argv[2] === 'bare' ? bare() : gateway())));

/** What comes on one socket goes out on all others; nothing is checked or kept. */
async function bare() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (from) =>
    from.on('message', (data: Buffer) => {
      for (const to of sockets.clients)
        if (to !== from && to.readyState === WebSocket.OPEN) to.send(data, { binary: false });
    }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, logins: [] };
}
