import { toTimestamp, type AccountData } from '@sallyport/core';
import { plainBody } from './outbox-body.ts';
import { eraseOutbox } from './outbox-erasure.ts';
import type { OfAccount, OutboxReads, OutboxStore } from './outbox-ports.ts';

/** What of an account's telemetry waits for an upstream, and what that has refused. */
export function createOutboxAccountData(store: OutboxStore): AccountData {
  /** One at a time: a request may be as large as its row allows. */
  async function* requests(of: OfAccount): AsyncIterable<object> {
    for (let after = 0; ;) {
      const request = await store.nextOfAccount({ ...of, after });
      if (request === undefined) return;
      yield await shownRequest(request);
      after = request.id;
    }
  }

  return {
    export: (accountId) => ({
      telemetry_waiting: requests({ accountId, among: 'waiting' }),
      telemetry_dead_letters: requests({ accountId, among: 'dead_letters' }),
    }),
    erase: (accountId) => eraseOutbox(store, { accountId }),
  };
}

type Shown = NonNullable<Awaited<ReturnType<OutboxReads['nextOfAccount']>>>;

async function shownRequest(request: Shown): Promise<object> {
  const { organizationId, receivedAt, path, headers, records, refusedAt, status, reason } = request;
  const plain = await plainBody(request);
  const bytes = Buffer.from(plain?.bytes ?? request.body);
  return {
    organization_id: organizationId,
    received_at: toTimestamp(receivedAt),
    ...(refusedAt !== undefined && { refused_at: toTimestamp(refusedAt), status, reason }),
    path,
    headers,
    records,
    ...(plain?.encoding === 'json' ? { body: bytes.toString() } : { body_base64: bytes.toString('base64') }),
  };
}
