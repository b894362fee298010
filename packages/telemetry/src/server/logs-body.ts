import { ServiceError } from '@sallyport/core';
import { judgeLogsRequest, type JudgedLogs } from './logs-request.ts';
import type { OtlpEncoding } from './otlp-answer.ts';
import { parseOtlpJson } from './otlp-json.ts';
import { decodeLogsRequest } from './otlp-protobuf.ts';
import { MalformedProtobuf } from './protobuf-reader.ts';

/** The body of a logs request as it came, decompressed. */
export interface LogsBody {
  readonly encoding: OtlpEncoding;
  readonly bytes: Uint8Array;
}

/** Decodes and judges a logs request: the same records, whichever encoding they came in. Throws `invalid_otlp` (400). */
export function decodeLogs(body: LogsBody, receivedAt: number): JudgedLogs {
  return judgeLogsRequest(parse(body), receivedAt);
}

function parse({ encoding, bytes }: LogsBody): unknown {
  try {
    return encoding === 'json' ? parseOtlpJson(bytes) : decodeLogsRequest(bytes);
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof MalformedProtobuf)) throw cause;
    const name = encoding === 'json' ? 'JSON' : 'protobuf';
    throw new ServiceError(
      'invalid_otlp',
      `The body is not valid ${name}, though its content type says so.`,
      { cause },
    );
  }
}
