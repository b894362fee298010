import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What an upstream does with a connection once the head of a request is there; `rest` is what came after the head. */
export type Script = (socket: Socket, head: string, rest: Buffer) => unknown;

export interface RawUpstream extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The heads of all requests, in order. */
  readonly heads: string[];
  /** What is open now. */
  readonly sockets: ReadonlySet<Socket>;
}

/** An upstream that speaks TCP and leaves HTTP to the test: it can misbehave as no HTTP server would. */
export async function rawUpstream(script: Script): Promise<RawUpstream> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    let bytes = Buffer.alloc(0);
    socket.on('data', function take(chunk: Buffer) {
      bytes = Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = bytes.toString('latin1', 0, end);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      const isSmall = length < 1000 && !/\r\n(transfer-encoding|upgrade):/i.test(head);
      if (isSmall && bytes.length < end + 4 + length) return;
      const rest = bytes.subarray(end + 4);
      bytes = Buffer.alloc(0);
      // All that is small is here, and the connection may carry another request; the rest is for the script.
      if (!isSmall) socket.off('data', take);
      heads.push(head);
      script(socket, head, rest);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    heads,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An answer with a body and its length, in Latin-1. */
export function answer(body = '', { status = '200 OK', headers = '' } = {}): string {
  return `HTTP/1.1 ${status}\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
}

/** Sends bytes, and gives what came back when the other side hung up. */
export async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(bytes, 'latin1');
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += String(chunk);
  return text;
}

/** Until `holds`, looked at whenever the event loop comes round. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

/** Until a count that has begun does not go on, however often the event loop comes round. */
export async function standsStill(count: () => number): Promise<void> {
  let last = 0;
  let rounds = 0;
  await until(() => {
    rounds = count() > 0 && count() === last ? rounds + 1 : 0;
    last = count();
    return rounds > 500;
  });
}
