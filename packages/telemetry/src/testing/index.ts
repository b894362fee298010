export {
  bytes,
  encodeLogsRequest,
  encodeRecord,
  encodeValue,
  fixed32,
  fixed64,
  group,
  text,
  varint,
  type LogsRequest,
  type OtlpRecord,
} from './otlp-encoder.ts';
export { mutated, randomBody } from './otlp-mutations.ts';
export { drawsOf, randomLogsRequest } from './otlp-random.ts';
export { zipOf, type ZipEntry } from './zip.ts';
export { readZip } from './read-zip.ts';
export { createRecordReads } from '../server/record-reads.ts';
