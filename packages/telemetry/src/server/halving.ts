import { isJsonObject, mayLoseDigits } from '@sallyport/core';
import type { LogsBody } from './logs-body.ts';
import { encodeMessage } from './protobuf-writer.ts';
import { MalformedProtobuf, ProtobufReader } from './protobuf-reader.ts';

/** A part of a request, in its encoding. */
export interface HalfOfRecords {
  readonly bytes: Uint8Array;
  readonly records: number;
}

/**
 * Halves a logs request, or a batch, by its records: for a receiver to whom it is too large. What is said of all records is
 * said in both halves; digits that a double would lose, and fields that nobody knows, stay as they are. `undefined` where it
 * has fewer than two records, or cannot be read.
 */
export function halveRecords(body: LogsBody): readonly [HalfOfRecords, HalfOfRecords] | undefined {
  const part = body.encoding === 'json' ? jsonParts(body.bytes) : protobufParts(body.bytes);
  const records = part?.(all).records ?? 0;
  if (part === undefined || records < 2) return undefined;
  const middle = Math.ceil(records / 2);
  return [part({ from: 0, to: middle }), part({ from: middle, to: Infinity })];
}

/** Which records, by their place in the request. */
interface Window {
  readonly from: number;
  readonly to: number;
}

const all: Window = { from: 0, to: Infinity };

type Part = (window: Window) => HalfOfRecords;

/** Counts records while a request is gone through. */
interface Walk extends Window {
  at: number;
  taken: number;
}

function takes(walk: Walk): boolean {
  const isIn = walk.at >= walk.from && walk.at < walk.to;
  walk.at++;
  if (isIn) walk.taken++;
  return isIn;
}

const pathOfLogs = ['resourceLogs', 'scopeLogs', 'logRecords'];

function jsonParts(bytes: Uint8Array): Part | undefined {
  let request: unknown;
  try {
    const text = new TextDecoder().decode(bytes);
    request = JSON.parse(text, mayLoseDigits(text) ? keepSource : undefined);
  } catch {
    return undefined;
  }
  if (!isJsonObject(request)) return undefined;
  const path = Array.isArray(request['events']) ? ['events'] : pathOfLogs;
  return (window) => {
    const walk = { ...window, at: 0, taken: 0 };
    const part = jsonPart(request, path, walk);
    return { bytes: new TextEncoder().encode(JSON.stringify(part)), records: walk.taken };
  };
}

function jsonPart(holder: unknown, [member = '', ...inner]: readonly string[], walk: Walk): unknown {
  if (!isJsonObject(holder) || !Array.isArray(holder[member])) return holder;
  const items: readonly unknown[] = holder[member];
  if (inner.length === 0) return { ...holder, [member]: items.filter(() => takes(walk)) };
  const parts: unknown[] = [];
  for (const item of items) {
    const before = walk.taken;
    const part = jsonPart(item, inner, walk);
    if (walk.taken > before) parts.push(part);
  }
  return { ...holder, [member]: parts };
}

/** What TypeScript's library does not know yet (https://tc39.es/proposal-json-parse-with-source/). */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** A number is written as it was: a double may hold fewer digits. */
function keepSource(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value;
}

/** ExportLogsServiceRequest.resource_logs, ResourceLogs.scope_logs, ScopeLogs.log_records. */
const fieldsOfLogs = [1, 2, 2];

function protobufParts(bytes: Uint8Array): Part | undefined {
  const part: Part = (window) => {
    const walk = { ...window, at: 0, taken: 0 };
    return { bytes: protobufPart(new ProtobufReader(bytes), fieldsOfLogs, walk), records: walk.taken };
  };
  try {
    part(all);
  } catch (error) {
    if (error instanceof MalformedProtobuf) return undefined;
    throw error;
  }
  return part;
}

function protobufPart(
  reader: ProtobufReader,
  [field = 0, ...inner]: readonly number[],
  walk: Walk,
): Uint8Array {
  const parts: Uint8Array[] = [];
  while (reader.next()) {
    const isRecord = inner.length === 0 && reader.isField(field, 2);
    if (isRecord || !reader.isField(field, 2)) {
      const raw = reader.raw();
      if (!isRecord || takes(walk)) parts.push(raw);
      continue;
    }
    const before = walk.taken;
    const outer = reader.enter();
    const part = protobufPart(reader, inner, walk);
    reader.leave(outer);
    if (walk.taken > before) parts.push(encodeMessage([[field, part]]));
  }
  return Buffer.concat(parts);
}
