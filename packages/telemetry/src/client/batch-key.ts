import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Batch } from './batch.ts';

/**
 * The idempotency key of a batch, of nothing but its contents, so that the same batch sent again, by another process too, is
 * stored once. Its first event, which has an id of its own, tells it from all batches that begin with another one; number and
 * checksum tell it from those that begin with the same: what a refusal left of it, or a segment of the spool cut elsewhere.
 * A digest of the whole would tell no more, and cost a tenth of all that sending an event does.
 */
export function batchKey({ body, ends }: Pick<Batch, 'body' | 'ends'>): string {
  const first = hash('sha256', body.subarray(0, ends[0]), 'base64url');
  return `${first}-${ends.length}-${crc32(body).toString(36)}`;
}
