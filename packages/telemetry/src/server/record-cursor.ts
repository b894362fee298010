import { ServiceError } from '@sallyport/core';
import type { Place } from './ports.ts';

/** An opaque `offset`. */
export function encodeOffset({ receivedAt, id }: Place): string {
  return Buffer.from(`${receivedAt} ${id}`).toString('base64url');
}

/** Throws `invalid_request`: a bad token is never an empty page. */
export function decodeOffset(offset: string): Place {
  const [, receivedAt, id] =
    /^(\d{1,15}) (\d{1,15})$/.exec(Buffer.from(offset, 'base64url').toString()) ?? [];
  if (receivedAt === undefined)
    throw new ServiceError('invalid_request', 'The offset is not one that this service gave.', {
      issues: [{ path: 'offset', message: 'not a page token' }],
    });
  return { receivedAt: Number(receivedAt), id: Number(id) };
}
