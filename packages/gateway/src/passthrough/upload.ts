import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ServiceError } from '@sallyport/core';

/**
 * A request's body on its way to an upstream, with the back-pressure of both. A stream apart from the request, because
 * undici destroys the body of a request that fails, and Node the connection of a request that is destroyed: there would be
 * nothing left to answer on.
 */
export class Upload extends Readable {
  readonly #request: IncomingMessage;
  readonly #maxBytes: number;
  #bytes = 0;

  /** Whether it is the caller who keeps the upload waiting. */
  get waitsForCaller(): boolean {
    return !this.#request.complete && this.readableLength === 0;
  }

  /** `maxBytes`: more fail it with `payload_too_large`; 0: any. */
  constructor(request: IncomingMessage, maxBytes: number) {
    super();
    uploading.add(request.socket);
    this.#request = request;
    this.#maxBytes = maxBytes;
    request.pause();
    request.on('data', this.#onData);
    request.once('end', this.#onEnd);
    request.once('close', this.#onClose);
    request.on('error', ignore);
  }

  override _read(): void {
    this.#request.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    uploading.delete(this.#request.socket);
    this.#request.pause();
    this.#request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    done(error);
  }

  readonly #onData = (chunk: Buffer) => {
    this.#bytes += chunk.length;
    if (this.#maxBytes > 0 && this.#bytes > this.#maxBytes) this.destroy(tooLarge(this.#maxBytes));
    else if (!this.push(chunk)) this.#request.pause();
  };
  readonly #onEnd = () => void this.push(null);
  readonly #onClose = () => {
    if (!this.#request.complete) this.destroy(new ServiceError('invalid_request', 'The body broke off.'));
  };
}

const uploading = new WeakSet<object>();

/** Whether an upload comes over the connection: it may take longer than any other request, as long as it goes on. */
export function isUploading(connection: object): boolean {
  return uploading.has(connection);
}

/** Bodies up to this long are sent in one piece, when they are here: a slow caller holds up no connection to the upstream. */
const smallBytes = 16 * 1024;

/** What of a body goes to the upstream: nothing, all of it at once, or a stream. Throws `payload_too_large`. */
export function bodyOf(request: IncomingMessage, maxBytes: number): null | Promise<Buffer> | Upload {
  const { headers } = request;
  const length = Number(headers['content-length'] ?? 0);
  if (headers['transfer-encoding'] === undefined && length === 0) return null;
  if (maxBytes > 0 && length > maxBytes) throw tooLarge(maxBytes);
  if (headers['transfer-encoding'] !== undefined || length > smallBytes) return new Upload(request, maxBytes);
  return collect(request);
}

/** Never settles where the caller hangs up: there is nobody to answer. */
function collect(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  request.on('error', ignore).on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => request.once('end', () => resolve(Buffer.concat(chunks))));
}

export function tooLarge(limit: number): ServiceError {
  return new ServiceError('payload_too_large', `The body must not be larger than ${limit} bytes.`);
}

const ignore = () => undefined;
