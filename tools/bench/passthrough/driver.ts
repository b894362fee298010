import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One exchange after the other on one connection: `request` out, until `isWhole` of what came back. */
export interface Exchange {
  readonly name: string;
  readonly request: Buffer;
  /** How many bytes of an answer come, once its head is there; or what it ends with. */
  readonly isWhole: (bytes: number, tail: Buffer) => boolean;
  /** Sent once per connection, before the exchanges; until an answer's head is there. */
  readonly opening?: string;
}

const http = (line: string, headers = '', body = '') =>
  Buffer.from(`${line} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer t\r\n${headers}\r\n${body}`);
const bigBody = 'x'.repeat(64 * 1024);

export const exchanges: readonly Exchange[] = [
  {
    name: 'GET, 79 bytes',
    request: http('GET /v1/models'),
    isWhole: (_bytes, tail) => tail.includes('"end":true}'),
  },
  {
    name: 'POST 64 KiB, and back',
    request: http(
      'POST /v1/messages',
      `Content-Type: text/plain\r\nContent-Length: ${bigBody.length}\r\n`,
      bigBody,
    ),
    isWhole: (bytes) => bytes > bigBody.length,
  },
  {
    name: 'SSE, 1,000 events',
    request: http('GET /v1/messages?stream', 'Accept: text/event-stream\r\n'),
    isWhole: (_bytes, tail) => tail.includes('\r\n0\r\n\r\n'),
  },
  {
    name: 'WebSocket echo',
    opening: http(
      'GET /api/ws/voice/one',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
    ).toString(),
    // A masked text frame with a mask of zeros.
    request: Buffer.from([0x81, 0x85, 0, 0, 0, 0, ...Buffer.from('hello')]),
    isWhole: (bytes) => bytes >= 7,
  },
];

/** A connection that carries one exchange at a time. */
class Caller {
  readonly #socket: Socket;
  readonly #exchange: Exchange;
  #done: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  #bytes = 0;
  #tail: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket, exchange: Exchange) {
    this.#socket = socket;
    this.#exchange = exchange;
    const fail = (error: Error) => this.#done?.reject(error);
    socket.on('error', fail).once('close', () => fail(new Error(`${exchange.name}: closed`)));
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  static async open(port: number, exchange: Exchange): Promise<Caller> {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    if (exchange.opening === undefined) await once(socket, 'connect');
    else {
      socket.write(exchange.opening);
      const [head] = (await once(socket, 'data')) as [Buffer];
      if (!head.toString().startsWith('HTTP/1.1 101')) throw new Error(head.toString());
    }
    return new Caller(socket, exchange);
  }

  call(): Promise<void> {
    this.#bytes = 0;
    this.#socket.write(this.#exchange.request);
    return new Promise((resolve, reject) => (this.#done = { resolve, reject }));
  }

  close(): void {
    this.#done = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#bytes === 0 && chunk[0] === 0x48 && !chunk.includes('HTTP/1.1 200'))
      return this.#done?.reject(new Error(chunk.toString()));
    this.#bytes += chunk.length;
    const tail = chunk.length >= 16 ? chunk : Buffer.concat([this.#tail, chunk]);
    this.#tail = tail.subarray(-16);
    if (this.#exchange.isWhole(this.#bytes, this.#tail)) this.#done?.resolve();
  }
}

const open = (port: number, exchange: Exchange, connections: number) =>
  Promise.all(Array.from({ length: connections }, () => Caller.open(port, exchange)));

/** As many answers as come in a while, over all connections at once: what each took, in milliseconds. */
export async function drive(
  port: number,
  exchange: Exchange,
  connections: number,
  ms: number,
): Promise<number[]> {
  const took: number[] = [];
  const callers = await open(port, exchange, connections);
  const until = performance.now() + ms;
  await Promise.all(
    callers.map(async (caller) => {
      for (let from = performance.now(); from < until; from = performance.now()) {
        await caller.call();
        took.push(performance.now() - from);
      }
      caller.close();
    }),
  );
  return took;
}

/**
 * Answers at a rate that does not wait for them: what each took, in milliseconds, the wait for a connection included, so that
 * one that is late makes those behind it late too.
 */
export async function pace(
  port: number,
  exchange: Exchange,
  connections: number,
  perSecond: number,
  ms: number,
): Promise<number[]> {
  const took: number[] = [];
  const callers = await open(port, exchange, connections);
  const free = [...callers];
  const due: number[] = [];
  const calls = new Set<Promise<void>>();
  const from = performance.now();
  let begun = 0;

  function send(): void {
    for (let at = due[0]; at !== undefined && free.length > 0; at = due[0]) {
      due.shift();
      const caller = free.pop() as Caller;
      const dueAt = at;
      const call = caller.call().then(() => {
        took.push(performance.now() - dueAt);
        free.push(caller);
        calls.delete(call);
        send();
      });
      calls.add(call);
    }
  }

  for (let now = from; now < from + ms; now = performance.now()) {
    // From when it is seen to be due: the timer is no finer than a millisecond, for all alike.
    for (; begun < ((now - from) / 1000) * perSecond; begun++) due.push(now);
    send();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  while (calls.size > 0 || due.length > 0) await Promise.all(calls);
  for (const caller of callers) caller.close();
  return took;
}

/** Milliseconds until the headers of a stream are here whose first event comes a second later. */
export async function headersAfter(port: number): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  const from = performance.now();
  socket.write(http('GET /v1/messages?late'));
  await once(socket, 'data');
  socket.destroy();
  return performance.now() - from;
}
