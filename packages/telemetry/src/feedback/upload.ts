import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { ServiceError, sleep, systemClock, TransportError, type Timer } from '@sallyport/core';
import { readAnswer, send, type ClientOptions, type EncodedBody } from '@sallyport/core/client';
import { contract } from '@sallyport/core/contract';
import { tooLarge } from './bundle.ts';

const { bundle: endpoint } = contract.feedback;

export interface FeedbackUpload {
  /** What it is about: 1 to 20,000 characters. */
  readonly description: string;
  /** A ZIP file. It is only read: whoever made it removes it. */
  readonly bundlePath: string;
  readonly signal?: AbortSignal;
  /** Told as the connection takes the bytes; of a second attempt, from the beginning. */
  readonly onProgress?: (progress: { readonly sent: number; readonly total: number }) => void;
}

/**
 * Sends a description and a bundle, streamed from the disk, within the minute that the contract gives. It is sent again
 * only where the service asks for that with `Retry-After`. Throws `ServiceError` (`payload_too_large`, `zdr_org`,
 * `invalid_request`, ...) or `TransportError`; the file stays, so that the same call can be made again.
 */
export async function uploadFeedback(
  options: ClientOptions,
  upload: FeedbackUpload,
): Promise<{ readonly feedbackId: string }> {
  checkDescription(upload.description);
  await checkBundle(upload.bundlePath);
  const { clock = systemClock } = options;
  const deadline = new AbortController();
  const endAt = clock.monotonic() + endpoint.limits.timeoutMs;
  const timer: Timer = clock.after(endpoint.limits.timeoutMs, () => deadline.abort(), { keepAlive: true });
  const signals = upload.signal ? [upload.signal, deadline.signal] : [deadline.signal];
  const signal = AbortSignal.any(signals);
  try {
    for (;;) {
      try {
        const encodedBody = await encode(upload);
        const answer = await send(options, endpoint, {}, { signal, encodedBody });
        const { feedback_id: feedbackId } = (await readAnswer(options, endpoint, answer)) as {
          feedback_id: string;
        };
        return { feedbackId };
      } catch (error) {
        const pauseMs = pauseAfter(error);
        if (pauseMs === undefined || clock.monotonic() + pauseMs >= endAt) throw error;
        await sleep(clock, pauseMs, signal);
      }
    }
  } catch (error) {
    if (!deadline.signal.aborted || upload.signal?.aborted === true) throw error;
    const seconds = endpoint.limits.timeoutMs / 1000;
    throw new TransportError('timeout', `the upload took longer than ${seconds} s`, { cause: error });
  } finally {
    timer.cancel();
  }
}

function pauseAfter(error: unknown): number | undefined {
  return error instanceof ServiceError && (error.status === 429 || error.status === 503)
    ? error.retryAfterMs
    : undefined;
}

/** Throws `invalid_request` for a description that the service would refuse. */
export function checkDescription(description: string): void {
  const { error } = endpoint.body.shape.description.safeParse(description);
  const message = error?.issues[0]?.message;
  if (message === undefined) return;
  throw new ServiceError('invalid_request', `The description ${message}.`, {
    issues: [{ path: 'description', message }],
  });
}

/** Throws what the service would say after all bytes were sent: `payload_too_large`, or `invalid_request` where it is no ZIP. */
export async function checkBundle(path: string): Promise<void> {
  const { size } = await stat(path);
  if (size > endpoint.limits.bodyBytes) throw tooLarge(size, endpoint.limits.bodyBytes);
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    if (bytesRead === 4 && buffer.readUInt32LE() === zipSignature) return;
  } finally {
    await file.close();
  }
  throw new ServiceError('invalid_request', 'The bundle is not a ZIP file.', {
    issues: [{ path: 'bundle', message: 'is not a ZIP file' }],
  });
}

const zipSignature = 0x04034b50;

/** By hand (RFC 7578): the length is known, and nothing but a chunk is in memory. The description comes first. */
async function encode({ description, bundlePath, onProgress }: FeedbackUpload): Promise<EncodedBody> {
  const boundary = `sallyport-${randomUUID()}`;
  // As browsers write it: https://html.spec.whatwg.org/#multipart-form-data
  const fileName = basename(bundlePath).replace(/["\r\n]/g, encodeURIComponent);
  const head = Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="description"\r\n\r\n${description.toWellFormed()}\r\n` +
      `--${boundary}\r\ncontent-disposition: form-data; name="bundle"; filename="${fileName}"\r\n` +
      'content-type: application/zip\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const { size } = await stat(bundlePath);
  const total = head.length + size + tail.length;
  async function* content(): AsyncIterable<Uint8Array> {
    yield head;
    let sent = head.length;
    for await (const chunk of createReadStream(bundlePath, { highWaterMark: 64 * 1024 })) {
      yield chunk as Buffer;
      sent += (chunk as Buffer).length;
      onProgress?.({ sent, total });
    }
    yield tail;
    onProgress?.({ sent: total, total });
  }
  return { type: `multipart/form-data; boundary=${boundary}`, content, bytes: total };
}
