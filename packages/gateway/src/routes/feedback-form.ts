import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { ServiceError, type Clock } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';

export interface FeedbackFormOptions {
  readonly clock: Clock;
  /** Takes the bundle, chunk after chunk; the sender is not read on before a chunk is settled. */
  readonly write: (chunk: Uint8Array) => Promise<void>;
}

export interface ReadForm {
  readonly description: string;
  /** What the sender called the bundle. */
  readonly fileName: string;
}

const { bodyBytes: maxBundleBytes, timeoutMs } = contract.feedback.bundle.limits;
/** 20,000 characters of four bytes, and one more character, which is found out to be too many. */
const maxDescriptionBytes = 80_004;
/** Boundaries, headers and fields that nobody knows. */
const maxBytes = maxBundleBytes + 1024 * 1024;
/** After a start of five seconds, whoever sends slower than this holds a place for nothing. */
const minBytesPerMs = 10;
const slowStartMs = 5000;

/**
 * Reads the form of a feedback upload, its bundle straight through to `write`. Throws 400 for what is no such form, 413 as
 * soon as the bound is passed, 408 where it takes more than 60 seconds or drips in.
 */
export async function readFeedbackForm(
  request: IncomingMessage,
  options: FeedbackFormOptions,
): Promise<ReadForm> {
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => undefined); // it may come late
  const watch = watchPace(request, options.clock, fail);
  try {
    const parser = parserFor(request);
    const form = new Map<string, string>();
    let reading = Promise.resolve();
    parser.on('file', (name, part: Readable, fileName: string | undefined) => {
      part.on('error', fail); // it breaks off
      part.once('limit', () => fail(tooLarge()));
      // One part comes after the other, but the next may begin before the last is written.
      reading = reading.then(() => readPart(name, part, fileName, form, options.write));
      reading.catch(fail);
    });
    parser.once('partsLimit', () => fail(invalidForm('form', 'has too many parts')));
    parser.on('error', (cause: Error) => fail(invalidForm('form', 'breaks off, or is not multipart', cause)));
    const parsed = new Promise<void>((resolve) => parser.once('finish', () => resolve()));
    request.once('error', (cause) => fail(invalidForm('form', 'breaks off', cause)));
    request.once('close', () => request.complete || fail(invalidForm('form', 'breaks off')));
    request.pipe(parser);
    await Promise.race([parsed, failed]);
    await Promise.race([reading, failed]);
    return complete(form);
  } finally {
    watch.end();
    request.unpipe();
  }
}

function parserFor({ headers }: IncomingMessage): BusboyInstance {
  try {
    checkBoundary(headers['content-type'] ?? '');
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      isPartAFile: () => true, // text, too, so that its bytes are judged here
      limits: { fileSize: maxBundleBytes, parts: 100, headerPairs: 20, headerSize: 16 * 1024 },
    });
  } catch (cause) {
    throw invalidForm('form', 'has no boundary in its content type that can be one', cause);
  }
}

/** RFC 2046 5.1.1: 1 to 70 characters, the last no space. The parser takes none, and more. */
function checkBoundary(contentType: string): void {
  const boundary = new MIMEType(contentType).params.get('boundary') ?? '';
  if (!/^.{0,69}\S$/.test(boundary)) throw new RangeError(`it is ${JSON.stringify(boundary)}`);
}

async function readPart(
  name: string | undefined,
  part: Readable,
  fileName: string | undefined,
  form: Map<string, string>,
  write: FeedbackFormOptions['write'],
): Promise<void> {
  const isKnown = name === 'bundle' || name === 'description';
  if (!isKnown && fileName !== undefined) throw invalidForm('form', 'has a file that is not called bundle');
  if (!isKnown) {
    for await (const _chunk of part); // a field of another release
    return;
  }
  if (form.has(name)) throw invalidForm(name, 'must come once');
  if (name === 'description') {
    form.set(name, await readText(part));
    return;
  }
  if (fileName === undefined) throw invalidForm(name, 'must be a file');
  form.set(name, fileName);
  for await (const chunk of part) await write(chunk as Buffer);
}

async function readText(part: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of part as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxDescriptionBytes) throw invalidForm('description', 'is too long');
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw invalidForm('description', 'is not UTF-8 text', cause);
  }
}

function complete(form: ReadonlyMap<string, string>): ReadForm {
  const [description, fileName] = [form.get('description'), form.get('bundle')];
  if (description !== undefined && fileName !== undefined) return { description, fileName };
  const missing = ['description', 'bundle'].filter((name) => !form.has(name));
  throw new ServiceError('invalid_request', `The form lacks ${missing.join(' and ')}.`, {
    issues: missing.map((path) => ({ path, message: 'is required' })),
  });
}

/** Counts what comes in, and fails where it is too much or too slow. */
function watchPace(request: IncomingMessage, clock: Clock, fail: (error: Error) => void): { end(): void } {
  const startedAt = clock.monotonic();
  let size = 0;
  const count = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) fail(tooLarge());
  };
  const check = () => {
    const elapsed = clock.monotonic() - startedAt;
    if (elapsed >= timeoutMs || size < elapsed * minBytesPerMs)
      return fail(
        new ServiceError('invalid_request', 'The upload takes too long: try again on a faster connection.', {
          status: 408,
        }),
      );
    timer = clock.after(1000, check);
  };
  request.on('data', count);
  let timer = clock.after(slowStartMs, check);
  return {
    end() {
      timer.cancel();
      request.off('data', count);
    },
  };
}

function tooLarge(): ServiceError {
  return new ServiceError('payload_too_large', `The bundle must not be larger than ${maxBundleBytes} bytes.`);
}

function invalidForm(path: string, message: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid_request', `The ${path} ${message}.`, {
    issues: [{ path, message }],
    cause,
  });
}
