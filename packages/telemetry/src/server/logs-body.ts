import {
  jsonExcess,
  maxBodyNames,
  maxBodyValues,
  nestsTooDeep,
  parseExactJson,
  ServiceError,
} from '@sallyport/core';
import { Judging } from './judging.ts';
import { judgeLogsRequest, type JudgedLogs, tooMany } from './logs-request.ts';
import type { OtlpEncoding } from './otlp-answer.ts';
import { decodeLogsRequest } from './otlp-protobuf.ts';
import { MalformedProtobuf, TooManyMessages } from './protobuf-reader.ts';

/** The body of a logs request as it came, decompressed. */
export interface LogsBody {
  readonly encoding: OtlpEncoding;
  readonly bytes: Uint8Array;
}

/** Decodes and judges a logs request: the same records, whichever encoding they came in. Throws `invalid_otlp` (400). */
export function decodeLogs({ encoding, bytes }: LogsBody, receivedAt: number): JudgedLogs {
  return encoding === 'json' ? fromJson(bytes, receivedAt) : fromProtobuf(bytes, receivedAt);
}

function fromProtobuf(bytes: Uint8Array, receivedAt: number): JudgedLogs {
  let request: unknown;
  try {
    request = decodeLogsRequest(bytes, maxBodyValues);
  } catch (cause) {
    if (cause instanceof TooManyMessages) throw tooMany(maxBodyValues, 'values');
    if (cause instanceof MalformedProtobuf) throw unreadable('protobuf', cause);
    throw cause;
  }
  return judgeLogsRequest(request, new Judging(), receivedAt);
}

// Not fatal: a bad text must not lose a batch.
const decoder = new TextDecoder();

/**
 * JSON may nest without an end, which is dear to look for in the text. So it is looked for where the judgement cannot tell:
 * where it found no fault and passed nothing over, nothing nests deeper than values may.
 */
function fromJson(bytes: Uint8Array, receivedAt: number): JudgedLogs {
  const text = decoder.decode(bytes);
  if (bytes.byteLength > maxBodyValues) refuseExcess(text); // each value takes a byte at least
  const judging = new Judging();
  let isSound = false;
  try {
    const judged = judgeLogsRequest(parse(text), judging, receivedAt);
    isSound = judging.found === 0 && !judging.hasUnknown;
    return judged;
  } finally {
    if (!isSound) refuseDeep(text);
  }
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (cause) {
    throw unreadable('JSON', cause);
  }
}

function refuseDeep(text: string): void {
  if (nestsTooDeep(text)) throw tooDeep();
}

function refuseExcess(text: string): void {
  const excess = jsonExcess(text);
  if (excess === 'depth') throw tooDeep();
  if (excess === 'values') throw tooMany(maxBodyValues, 'values');
  if (excess === 'names') throw tooMany(maxBodyNames, 'names of members');
}

function tooDeep(): ServiceError {
  return unreadable('JSON', new SyntaxError('nests too deeply'));
}

function unreadable(name: string, cause: unknown): ServiceError {
  return new ServiceError('invalid_otlp', `The body is not valid ${name}, though its content type says so.`, {
    cause,
  });
}
