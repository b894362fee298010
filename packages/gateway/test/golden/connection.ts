import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer as it came: the head's bytes as Latin-1 without the empty line, the body's as UTF-8. */
export interface RawAnswer {
  readonly head: string;
  readonly body: string;
}

/** A plain HTTP/1.1 client over a TCP connection, which is opened anew where an answer closes it. */
export class RawConnection implements Disposable {
  readonly #port: number;
  #socket: Socket | undefined;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(port: number) {
    this.#port = port;
  }

  async exchange(request: string): Promise<RawAnswer> {
    // A reset between two requests is no fault of either: whoever waits for bytes is told.
    this.#socket ??= connect(this.#port, '127.0.0.1').on('error', () => undefined);
    this.#socket.write(request);
    const end = await this.#until(() => this.#bytes.indexOf('\r\n\r\n'));
    const head = this.#take(end + 4)
      .toString('latin1')
      .slice(0, -4);
    const body = await this.#body(head);
    if (/^connection: close$/im.test(head)) this.#close();
    return { head, body };
  }

  /** By `Content-Length`; after a switch of protocols, the payload of the first WebSocket frame, a short or middling text. */
  async #body(head: string): Promise<string> {
    if (/^HTTP\/1\.1 101 /.test(head)) {
      await this.#until(() => (this.#bytes.length >= 4 ? 0 : -1));
      const [opcode, short] = this.#take(2);
      if (opcode !== 0x81) throw new Error(`not a whole text frame: ${opcode}`);
      return this.#text(short === 126 ? this.#take(2).readUInt16BE() : short!);
    }
    return this.#text(Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0));
  }

  async #text(length: number): Promise<string> {
    await this.#until(() => (this.#bytes.length >= length ? 0 : -1));
    return this.#take(length).toString();
  }

  #take(length: number): Buffer {
    const taken = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return taken;
  }

  async #until(found: () => number): Promise<number> {
    while (found() === -1) {
      const [chunk] = (await once(this.#socket!, 'data')) as [Buffer];
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
    }
    return found();
  }

  #close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#bytes = Buffer.alloc(0);
  }

  [Symbol.dispose](): void {
    this.#close();
  }
}
