import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { ServiceError } from '@sallyport/core';
import type { HeldBytes } from '../http/body-budget.ts';

/**
 * A request's body on its way to an upstream, with the back-pressure of both. A stream apart from the request, because the
 * body of a request that fails is destroyed, and Node destroys the connection of a request that is: there would be nothing
 * left to answer on.
 */
export class Upload extends Readable {
  readonly #request: IncomingMessage;
  readonly #maxBytes: number;
  /** How many have come from the caller. */
  bytes = 0;

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
    // It may break off before anybody reads it; without a listener that would end the process.
    this.on('error', ignore);
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
    this.bytes += chunk.length;
    if (this.#maxBytes > 0 && this.bytes > this.#maxBytes) this.destroy(tooLarge(this.#maxBytes));
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

/** How much of a body waits until it is whole. */
export interface Collected {
  readonly bytes: number;
  /** Whether a body that does not say how long it is waits, too, and is refused beyond that length. */
  readonly unsaid: boolean;
  /** What counts them, where they are more than a connection holds anyhow. */
  readonly held?: HeldBytes;
}

/**
 * What of a body goes to the upstream: nothing, all of it at once, or a stream. Throws, or rejects with,
 * `payload_too_large`; rejects with `overloaded` where all together are too much.
 */
export function bodyOf(
  request: IncomingMessage,
  maxBytes: number,
  collected: Collected = { bytes: smallBytes, unsaid: false },
): null | Promise<Buffer> | Upload {
  const { headers } = request;
  const length = Number(headers['content-length'] ?? 0);
  if (headers['transfer-encoding'] === undefined && length === 0) return null;
  if (maxBytes > 0 && length > maxBytes) throw tooLarge(maxBytes);
  const streams = headers['transfer-encoding'] === undefined ? length > collected.bytes : !collected.unsaid;
  return streams ? new Upload(request, maxBytes) : collect(request, collected.bytes, collected.held);
}

/**
 * All of a body. Rejects with `payload_too_large`, and with what `held` throws when there is no memory for more. Never
 * settles where the caller hangs up: there is nobody to answer.
 */
export function collect(request: IncomingMessage, limit: number, held?: HeldBytes): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) => {
      request.off('data', take).pause();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limit) return refuse(tooLarge(limit));
      try {
        held?.take(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        refuse(error instanceof Error ? error : new Error(String(error)));
      }
    };
    request
      .on('error', ignore)
      .on('data', take)
      .once('end', () => resolve(Buffer.concat(chunks)));
  });
}

export function tooLarge(limit: number): ServiceError {
  return new ServiceError('payload_too_large', `The body must not be larger than ${limit} bytes.`);
}

const ignore = () => undefined;
