import { isJsonObject } from '@sallyport/core';
import type { OtlpEncoding } from '../otlp-answer.ts';
import { MalformedProtobuf, ProtobufReader } from '../protobuf-reader.ts';

/**
 * What an answer's status means for the records. `taken`: they are there. `refused`: something is wrong with one of them, or
 * they are too many, which fewer of them will tell. `held`: it is the settings that are wrong, and the records wait until a
 * person has put them right. `later`: the same may work after a while.
 */
export type ExportVerdict = 'taken' | 'refused' | 'held' | 'later';

export function judgeStatus(status: number): ExportVerdict {
  if (status >= 200 && status < 300) return 'taken';
  if (status === 400 || status === 413 || status === 422) return 'refused';
  // More than OTLP would have a client retry: it may drop what it cannot send, this must not.
  if (status === 408 || status === 425 || status === 429 || status >= 500) return 'later';
  return 'held';
}

/** How many records a success says that it left out; 0 where its body cannot be read, since any 2xx is a success. */
export function rejectedOf(body: Uint8Array, encoding: OtlpEncoding): number {
  try {
    const rejected =
      encoding === 'json' ? rejectedInJson(Buffer.from(body).toString()) : rejectedInProtobuf(body);
    return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof MalformedProtobuf) return 0;
    throw error;
  }
}

function rejectedInJson(text: string): number {
  const answer: unknown = text === '' ? {} : JSON.parse(text);
  const partial = isJsonObject(answer) ? answer['partialSuccess'] : undefined;
  return isJsonObject(partial) ? Number(partial['rejectedLogRecords'] ?? 0) : 0;
}

function rejectedInProtobuf(bytes: Uint8Array): number {
  const reader = new ProtobufReader(bytes);
  let rejected = 0;
  while (reader.next()) {
    if (!reader.isField(1, 2)) {
      reader.skip();
      continue;
    }
    const outer = reader.enter();
    while (reader.next())
      if (reader.isField(1, 0)) rejected = Number(reader.int64());
      else reader.skip();
    reader.leave(outer);
  }
  return rejected;
}
