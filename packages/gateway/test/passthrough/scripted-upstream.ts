import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An HTTP upstream whose answers a test changes as it goes. */
export interface ScriptedUpstream extends AsyncDisposable {
  readonly url: string;
  /** All that came, whatever it was answered. */
  readonly seen: SeenRequest[];
  answer: (request: SeenRequest, response: ServerResponse) => void;
}

export async function scriptedUpstream(port = 0): Promise<ScriptedUpstream> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then(
      (chunks) => take(request, Buffer.concat(chunks as Buffer[]), response),
      () => undefined, // whoever asked hung up amid it
    );
  });
  const upstream = {
    url: '',
    seen,
    answer: (_request: SeenRequest, response: ServerResponse) => void response.end('{}'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  function take(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body };
    seen.push(one);
    upstream.answer(one, response);
  }
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  upstream.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return upstream;
}
