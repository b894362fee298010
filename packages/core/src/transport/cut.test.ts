import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { TransportError } from '../errors.ts';
import { http1Transport } from './http1.ts';
import { readServerSentEvents } from './sse.ts';
import { undiciTransport } from './undici.ts';

const body = 'id: 1\ndata: "a"\n\nid: 2\ndata: "b"\n\n';
const half = body.length / 2;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const answers = {
  'content-length': `content-length: ${body.length}\r\n\r\n${body}`,
  chunked: `transfer-encoding: chunked\r\n\r\n${chunk(body.slice(0, half))}${chunk(body.slice(half))}0\r\n\r\n`,
};
const endings = {
  closed: (socket: Socket, bytes: string) => socket.end(bytes),
  reset: (socket: Socket, bytes: string) => socket.write(bytes, () => socket.resetAndDestroy()),
};

/** Gives the first n bytes of `answer` to `GET /n`, then the connection ends. */
async function cuttingServer(answer: string, end: (socket: Socket, bytes: string) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (head) => end(socket, answer.slice(0, Number.parseInt(head.toString().slice(5)))));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const transports = { node: http1Transport, undici: undiciTransport };
type Case = [keyof typeof transports, keyof typeof answers, keyof typeof endings];
const cases = Object.keys(transports).flatMap((over) =>
  Object.keys(answers).flatMap((form) => Object.keys(endings).map((ending) => [over, form, ending] as Case)),
);

test.each(cases)(
  '%s: an answer (%s) that is %s after any of its bytes is whole or fails',
  async (over, form, ending) => {
    const answer = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${answers[form]}`;
    const url = await cuttingServer(answer, endings[ending]);
    const transport = transports[over]({ proxyFromEnvironment: false });
    onTestFinished(() => transport.close());
    const read = async (bytes: number) => {
      const request = { method: 'GET', url: `${url}/${bytes}`, headers: {}, timeoutMs: 10_000, idleMs: 0 };
      const data: string[] = [];
      for await (const event of readServerSentEvents((await transport.send(request)).stream()))
        data.push(event.data);
      return data;
    };
    for (let bytes = 0; bytes < answer.length; bytes += 1)
      await expect(read(bytes)).rejects.toThrow(TransportError);
    // A reset may overtake the last bytes.
    if (ending === 'closed') expect(await read(answer.length)).toEqual(['"a"', '"b"']);
  },
);
