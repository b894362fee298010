// A model vendor's API as far as its own SDK asks for it, as a process of its own: says its address, then a line per request.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

const message = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'model-1', stop_sequence: null },
  ...{ content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn' },
  usage: { input_tokens: 1, output_tokens: 2 },
};
const file = {
  ...{ id: 'file_1', type: 'file', filename: 'notes.txt', mime_type: 'text/plain', size_bytes: 9 },
  ...{ created_at: '2026-01-01T00:00:00Z', downloadable: true },
};

function streamTo(response: ServerResponse): void {
  const send = (event: { readonly type: string }) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const words = ['Hel', 'lo'].map((text) => ({
    ...{ type: 'content_block_delta', index: 0 },
    delta: { type: 'text_delta', text },
  }));
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  send({ type: 'message_start', ...{ message: { ...message, content: [], stop_reason: null } } });
  send({ type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } });
  send({ type: 'ping' });
  for (const word of words) send(word);
  send({ type: 'content_block_stop', ...{ index: 0 } });
  send({
    type: 'message_delta',
    ...{ delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  });
  send({ type: 'message_stop' });
  response.end();
}

const server = createServer((request, response) => {
  const { method = '', url = '', headers } = request;
  void request.toArray().then(
    (chunks) => {
      const body = Buffer.concat(chunks as Buffer[]).toString('latin1');
      console.log(JSON.stringify({ method, url, headers, body }));
      const json = (value: unknown, status = 200) =>
        void response
          .writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_vendor' })
          .end(JSON.stringify(value));
      const path = url.split('?', 1)[0] ?? '';
      if (path === '/v1/models')
        return json({
          data: [{ type: 'model', id: 'model-1', display_name: 'One', created_at: file.created_at }],
          ...{ has_more: false, first_id: 'model-1', last_id: 'model-1' },
        });
      if (path === '/v1/agents') return json({ data: [], next_page: null });
      if (path === '/v1/messages/count_tokens') return json({ input_tokens: 7 });
      if (path === '/v1/messages' && body.includes('"overload"'))
        return json({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529);
      if (path === '/v1/messages') return body.includes('"stream":true') ? streamTo(response) : json(message);
      if (path === '/v1/files/file_1/content')
        return void response.writeHead(200, { 'content-type': 'text/plain' }).end('some text');
      if (path === '/v1/files/file_1' && method === 'DELETE')
        return json({ id: 'file_1', type: 'file_deleted' });
      if (path === '/v1/files') return json(file);
      return json({ type: 'error', error: { type: 'not_found_error', message: path } }, 404);
    },
    () => undefined, // whoever asked hung up amid it
  );
});
const voices = new WebSocketServer({ noServer: true });
server.on('upgrade', (request, socket, head) => {
  socket.on('error', () => socket.destroy());
  const { method, url = '', headers } = request;
  console.log(JSON.stringify({ method, url, headers, body: '' }));
  const refusal = '{"type":"error","error":{"type":"permission_error","message":"No voice"}}';
  if (url.includes('denied'))
    return socket.end(`HTTP/1.1 403 No\r\ncontent-length: ${refusal.length}\r\n\r\n${refusal}`);
  return voices.handleUpgrade(request, socket, head, (voice) =>
    voice.on('error', () => undefined).on('message', (data, binary) => voice.send(data, { binary })),
  );
});
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
