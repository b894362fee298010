import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Flight } from './flight.ts';
import { lastChunk } from './request-head.ts';

/** A body up to this long is worth a copy: a head and a string go out in one write. */
const joinedBytes = 8 * 1024;

/** Sends a request, with the back-pressure of its connection. */
export class Sending {
  readonly #flight: Flight;
  readonly #socket: Socket;
  readonly #stream: Readable | undefined;
  readonly #failed: (error: Error) => void;
  #sentBytes = 0;
  #isCorked = false;
  /** Whether the server has heard all: only then is the connection good for another request. */
  isWhole = false;

  constructor(flight: Flight, socket: Socket, failed: (error: Error) => void) {
    this.#flight = flight;
    this.#socket = socket;
    this.#failed = failed;
    const { body } = flight.request;
    if (body instanceof Readable) this.#stream = body;
  }

  start(): void {
    const { request, head } = this.#flight;
    const { body } = request;
    if (body instanceof Readable) {
      this.#socket.write(head.text, 'latin1');
      body.on('data', this.#onData).once('end', this.#onEnd).once('error', this.#failed);
      return;
    }
    this.isWhole = true;
    if (body === null || body.length === 0) this.#socket.write(head.text, 'latin1');
    else if (body.length <= joinedBytes) this.#socket.write(head.text + body.toString('latin1'), 'latin1');
    else {
      this.#socket.cork();
      this.#socket.write(head.text, 'latin1');
      this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  /** The connection takes more. */
  drained(): void {
    this.#stream?.resume();
  }

  /** Nobody takes the rest. */
  stop(): void {
    const stream = this.#stream;
    if (this.isWhole || stream === undefined) return;
    stream.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#failed);
    stream.on('error', () => undefined).destroy();
  }

  /**
   * What comes goes out in one write, once the connection was read from: a write to a server that has refused the rest and
   * hung up fails, and with it goes an answer that nobody has read.
   */
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#socket.cork();
    setImmediate(setImmediate, () => {
      this.#isCorked = false;
      this.#socket.uncork();
    });
  }

  readonly #onData = (chunk: Uint8Array) => {
    const { head, handler } = this.#flight;
    const socket = this.#socket;
    this.#sentBytes += chunk.length;
    this.#cork();
    let flows: boolean;
    if (head.framing === 'chunked') {
      socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
      socket.write(chunk);
      flows = socket.write('\r\n', 'latin1');
    } else if (this.#sentBytes > head.framing)
      return this.#failed(new Error('The body is longer than it says.'));
    else flows = socket.write(chunk);
    handler.uploaded?.();
    if (!flows) this.#stream?.pause();
  };

  readonly #onEnd = () => {
    const { head, handler, request } = this.#flight;
    if (head.framing === 'chunked') this.#socket.write(lastChunk(request.trailers?.() ?? []), 'latin1');
    else if (this.#sentBytes < head.framing)
      return this.#failed(new Error('The body is shorter than it says.'));
    this.isWhole = true;
    handler.sent?.();
  };
}
