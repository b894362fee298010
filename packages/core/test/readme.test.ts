import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';

const programs = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8').matchAll(
  /```ts\n([^]*?)```/g,
);

test("the README's program asks an upstream for models, messages, files and voice", async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    void request.toArray().then(
      (chunks) => {
        const body = Buffer.concat(chunks as Buffer[]).toString();
        asked.push(`${method} ${url} ${String(headers.authorization)}`);
        if (method === 'POST' && url === '/v1/messages') {
          expect(headers.accept).toBe('text/event-stream');
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write('event: message_start\ndata: {"n":1}\n\n');
          return void response.end('event: message_stop\ndata: {"n":2}\n\n');
        }
        if (url === '/v1/files/file_1/content') return void response.end('some text\n');
        if (url === '/v1/files') expect(body).toMatch(/name="file"; filename="notes.txt"[^]*some text/);
        return void response.end(
          JSON.stringify({
            id: 'file_1',
            data: [{ id: 'model_1' }],
            input_tokens: JSON.stringify(body).length,
          }),
        );
      },
      () => undefined, // whoever asked hung up amid it
    );
  }).listen(0, '127.0.0.1');
  const said: unknown[] = [];
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, { url, headers }) => {
    asked.push(`WS ${String(url)} ${String(headers.authorization)}`);
    expect(socket.protocol).toBe('v1');
    socket.on('message', (data, isBinary) => {
      said.push([(data as Buffer).toString(), isBinary]);
      socket.send('heard');
    });
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [, program = ''] = [...programs].find(([, text]) => text?.includes('client.models')) ?? [];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['-C', '@sallyport/source', '--input-type=module-typescript', '-e', program.replace(':8787', `:${port}`)],
    { cwd: import.meta.dirname, env: { SALLYPORT_TOKEN: 't1' } },
  );
  sockets.close();
  server.close();
  expect(said).toEqual([['{"type":"start"}', false]]);
  expect(stdout).toMatch(/^\d+ tokens\nmessage_start \{ n: 1 \}\nmessage_stop \{ n: 2 \}\nsome text\n$/);
  expect(asked).toEqual(
    [
      'GET /v1/models?limit=1',
      'POST /v1/messages/count_tokens',
      'POST /v1/messages',
      'POST /v1/files',
      'GET /v1/files/file_1/content',
      'DELETE /v1/files/file_1',
      'WS /api/ws/voice/conversations',
    ].map((line) => `${line} Bearer t1`),
  );
});
