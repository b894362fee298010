// What the proxies of `../passthrough.ts` stand before.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

const small = JSON.stringify({ object: 'list', data: [{ id: 'model-one' }], pad: 'x'.repeat(12), end: true });
const event = `event: delta\ndata: ${JSON.stringify({ text: 'some words ' })}\n\n`;

const server = createServer((request, response) => {
  const url = request.url ?? '';
  if (url.includes('?late')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    setTimeout(() => response.end(event), 1000);
  } else if (url.includes('?stream')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let sent = 0;
    // As a model writes: an event at a time, not all at once.
    const next = () => {
      response.write(event);
      if (++sent < 1000) setImmediate(next);
      else response.end();
    };
    next();
  } else if (request.method === 'POST') {
    response.writeHead(200, { 'content-length': request.headers['content-length'] });
    request.pipe(response);
  } else {
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': small.length })
      .end(small);
  }
});
// Longer than any proxy's turn: else one that does not ask first meets a connection that has just been closed.
server.keepAliveTimeout = 600_000;
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket) => {
  socket.on('error', () => undefined);
  socket.on('message', (data, binary) => socket.send(data, { binary }));
});
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
