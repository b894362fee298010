import { encodeMessage } from './protobuf-writer.ts';

export type OtlpEncoding = 'json' | 'protobuf';

/** What became of a logs request. */
export interface LogsAnswer {
  readonly rejected: number;
  /** Empty where there is nothing to say. */
  readonly message: string;
}

/** `ExportLogsServiceResponse` in its JSON form: `{}` is a full success. */
export function logsAnswerJson({ rejected, message }: LogsAnswer): {
  partialSuccess?: { rejectedLogRecords: string; errorMessage: string };
} {
  if (rejected === 0 && message === '') return {};
  return { partialSuccess: { rejectedLogRecords: String(rejected), errorMessage: message } };
}

/** The same as protobuf: no bytes are a full success. */
export function logsAnswerProtobuf({ rejected, message }: LogsAnswer): Buffer {
  const partialSuccess = encodeMessage([
    [1, rejected],
    [2, message],
  ]);
  return encodeMessage(partialSuccess.length === 0 ? [] : [[1, partialSuccess]]);
}

/** Codes of gRPC that go with HTTP's, as `google/rpc/code.proto` maps them. */
const grpcCodes: Readonly<Record<number, number>> = {
  400: 3, // INVALID_ARGUMENT
  401: 16, // UNAUTHENTICATED
  403: 7, // PERMISSION_DENIED
  404: 5, // NOT_FOUND
  413: 8, // RESOURCE_EXHAUSTED
  415: 3,
  429: 8,
  501: 12, // UNIMPLEMENTED
  503: 14, // UNAVAILABLE
};

/** The code of `google.rpc.Status` for an HTTP status; 13 (INTERNAL) for one that has none. */
export function grpcCodeOf(status: number): number {
  return grpcCodes[status] ?? 13;
}

/** `google.rpc.Status` as protobuf: how OTLP/HTTP has errors answered. */
export function statusProtobuf(code: number, message: string): Buffer {
  return encodeMessage([
    [1, code],
    [2, message],
  ]);
}
