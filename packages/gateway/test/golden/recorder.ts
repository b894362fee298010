import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A TCP server that keeps the bytes of each request and gives the answer that was set before it. */
export interface Recorder extends AsyncDisposable {
  readonly port: number;
  answer: string;
  /** The bytes of the last request. */
  request: string;
}

export async function openRecorder(): Promise<Recorder> {
  const server = createServer((socket) => {
    let bytes = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      bytes += chunk.toString();
      const [head = '', body] = bytes.split('\r\n\r\n', 2);
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      recorder.request = bytes;
      bytes = '';
      socket.write(recorder.answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const recorder: Recorder = {
    port: (server.address() as AddressInfo).port,
    answer: '',
    request: '',
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
  return recorder;
}
