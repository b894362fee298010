import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '@sallyport/core';
import { retryAfterMs, type Transport } from '@sallyport/core/client';
import type { OtlpEncoding } from '../otlp-answer.ts';
import { fingerprintOf } from '../idempotency.ts';
import type { StoredRecord } from '../ports.ts';
import { toExportGroups } from './export-groups.ts';
import { judgeStatus, rejectedOf, type ExportVerdict } from './export-verdict.ts';
import { encodeLogs } from './logs-encoder.ts';

/** Where stored records go on to: any OTLP/HTTP endpoint. */
export interface ExportConfig {
  /** The whole address, such as `http://collector:4318/v1/logs`. */
  readonly url: string;
  /** Sent with every request, such as `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly encoding: OtlpEncoding;
  readonly compression: 'gzip' | 'none';
  /** Records of one request. */
  readonly maxRecords: number;
  readonly timeoutSeconds: number;
}

/** What has become of one request. */
export interface ExportOutcome {
  readonly verdict: ExportVerdict;
  /** Why the records were not taken. */
  readonly reason: string | undefined;
  /** How long the endpoint asks to wait. */
  readonly waitMs: number;
  /** Records of a success that the endpoint says it left out. */
  readonly rejected: number;
}

const compress = promisify(gzip);

/** Sends records in one request. Throws only where `signal` aborts. */
export function createExportRequest({
  config,
  transport,
  clock,
}: {
  readonly config: ExportConfig;
  readonly transport: Transport;
  readonly clock: Clock;
}): (records: readonly StoredRecord[], signal: AbortSignal) => Promise<ExportOutcome> {
  const { encoding, compression, timeoutSeconds } = config;
  const headers = {
    'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
    ...(compression === 'gzip' && { 'content-encoding': 'gzip' }),
    ...config.headers,
  };
  return async (records, signal) => {
    const plain = encodeLogs(toExportGroups(records), encoding);
    const body = compression === 'gzip' ? await compress(plain, { level: 1 }) : plain;
    // The transport bounds the pauses of an answer, not the whole of it: one that trickles would hold up everything.
    const late = new AbortController();
    const deadline = clock.after(timeoutSeconds * 1000, () => late.abort());
    try {
      const answer = await transport.send({
        method: 'POST',
        url: config.url,
        headers: { ...headers, 'idempotency-key': keyOf(records, plain) },
        body,
        timeoutMs: timeoutSeconds * 1000,
        signal: AbortSignal.any([signal, late.signal]),
      });
      const verdict = judgeStatus(answer.status);
      const said = await bodyOf(answer.stream());
      if (verdict === 'taken') {
        const rejected = Math.min(records.length, rejectedOf(said, encoding));
        return { verdict, reason: undefined, waitMs: 0, rejected };
      }
      const waitMs = retryAfterMs(answer.headers['retry-after'], clock.now()) ?? 0;
      return { verdict, reason: `it answers with ${answer.status}`, waitMs, rejected: 0 };
    } catch (error) {
      if (signal.aborted) throw error;
      const reason = late.signal.aborted ? 'it takes too long to answer' : (error as Error).message;
      return { verdict: 'later', reason, waitMs: 0, rejected: 0 };
    } finally {
      deadline.cancel();
    }
  };
}

/** What is alike in every byte may still be other records. */
function keyOf(records: readonly StoredRecord[], content: Uint8Array): string {
  return `${records[0]?.id}-${records.at(-1)?.id}-${fingerprintOf(content)}`;
}

/** Of an answer: the part that says something. A success whose body breaks off is one all the same. */
async function bodyOf(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      if ((size += chunk.byteLength) > 64 * 1024) break;
      chunks.push(chunk);
    }
  } catch {
    return new Uint8Array();
  }
  return Buffer.concat(chunks);
}
