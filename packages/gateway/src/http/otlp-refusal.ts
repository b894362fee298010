import type { IncomingMessage } from 'node:http';
import type { ServiceError } from '@sallyport/core';
import { mediaTypes } from '@sallyport/core/contract';
import { grpcCodeOf, statusProtobuf } from '@sallyport/telemetry/server';
import type { Refusal } from './refusal.ts';

/** Whether the request's body is protobuf by its header; parameters and case do not matter. */
export function isProtobuf({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  return mediaTypes.protobuf.includes(type ?? '');
}

/** OTLP/HTTP has errors answered as `google.rpc.Status`, in the request's encoding; in JSON beside what all errors have. */
export function toOtlpRefusal(
  refusal: Refusal,
  { message }: ServiceError,
  request: Pick<IncomingMessage, 'headers'>,
): Refusal {
  const code = grpcCodeOf(refusal.status);
  if (isProtobuf(request)) {
    const headers = { ...refusal.headers, 'content-type': mediaTypes.protobuf[0] };
    return { ...refusal, headers, body: statusProtobuf(code, message) };
  }
  const body = JSON.parse(String(refusal.body)) as object;
  return { ...refusal, body: JSON.stringify({ code, message, ...body }) };
}
