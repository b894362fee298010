import { join } from 'node:path';
import Long from 'long';
import protobufjs from 'protobufjs';

// OTLP's own .proto files, unchanged (https://github.com/open-telemetry/opentelemetry-proto, Apache-2.0), compiled by a
// library that this project has no part in: what its encoder and decoder are compared with.
// It looks for `long` in a way that modules do not have, and would round 64-bit integers without it.
protobufjs.util.Long = Long;
protobufjs.configure();
const root = new protobufjs.Root();
root.resolvePath = (_origin, target) => join(import.meta.dirname, 'proto', target);
root.loadSync('opentelemetry/proto/collector/logs/v1/logs_service.proto');
const request = root.lookupType('opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest');

/** `ExportLogsServiceRequest` by the reference; the object has protobuf's own forms: ids are bytes, enums numbers. */
export function referenceEncode(form: object): Uint8Array {
  return request.encode(request.fromObject(form)).finish();
}

/** In the form of protobuf's JSON mapping: 64-bit integers are digits, bytes base64; what is not set is left out. */
export function referenceDecode(bytes: Uint8Array): unknown {
  return request.toObject(request.decode(bytes), { longs: String, bytes: String, enums: Number, json: true });
}

/** Decoding alone, as fast as the library does it. */
export function referenceDecoder(): (bytes: Uint8Array) => unknown {
  return (bytes) => request.decode(bytes);
}
