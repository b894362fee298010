import type { Ids } from '@sallyport/core';
import { halveRecords } from '@sallyport/telemetry/server';
import { plainBody } from './outbox-body.ts';
import type { CountedRequest, Half } from './outbox-ports.ts';

/** A request that is too large for its upstream as two, each with a key of its own; `undefined` where that cannot be. */
export async function halve(request: CountedRequest, ids: Ids): Promise<readonly Half[] | undefined> {
  const plain = await plainBody(request);
  const halves = plain && halveRecords(plain);
  if (plain === undefined || halves === undefined) return undefined;
  const { encode } = plain;
  const parts = halves.map(async ({ bytes: part, records }) => {
    const body = encode ? await encode(part) : part;
    return { headers: [...withoutOwn(request.headers), 'idempotency-key', ids.next('req')], body, records };
  });
  return Promise.all(parts);
}

const ofTheWhole = new Set(['content-length', 'idempotency-key', 'content-md5', 'digest', 'content-digest']);

function withoutOwn(headers: readonly string[]): string[] {
  return headers.filter((_, i) => !ofTheWhole.has(headers[i - (i % 2)]?.toLowerCase() ?? ''));
}
