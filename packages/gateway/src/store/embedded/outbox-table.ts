import type { DatabaseSync } from 'node:sqlite';
import type { Amount, CountedRequest } from '../../passthrough/outbox-ports.ts';
import { selectHead, toHead, type HeadRow } from './outbox-reads.ts';

/** What a request takes beside path, headers and body. */
const rowBytes = 100;
/** Removed by one act at most. */
export const removedAtOnce = 100;

/** A row but for its place. */
export type Added = Omit<CountedRequest, 'headers'> & {
  readonly headers: string;
  readonly bytes: number;
};

/** The queue as the acts of one transaction see it. */
export type OutboxTable = ReturnType<typeof outboxTable>;

export function outboxTable(db: DatabaseSync) {
  const insert = db.prepare(
    `INSERT INTO telemetry_outbox
       (organization_id, account_id, came, part, received_at, records, bytes, path, headers, body)
     VALUES (?, ?, coalesce(?, (SELECT seq FROM sqlite_sequence WHERE name = 'telemetry_outbox') + 1, 1), ?, ?, ?, ?, ?, ?, ?)`,
  );
  const takeRow = db.prepare(
    `DELETE FROM telemetry_outbox WHERE id = ? RETURNING organization_id AS organizationId,
       account_id AS accountId, came, part, received_at AS receivedAt, records, bytes, path, headers, body`,
  );
  const selectQueue = db.prepare(
    'SELECT requests, records, bytes FROM telemetry_outbox_queue WHERE organization_id = ?',
  );
  const headRow = db.prepare(selectHead);
  return {
    /** At the end of its queue, or in the place given. */
    add(added: Added, place?: { readonly came: number; readonly part: string }): void {
      const { organizationId, accountId, receivedAt, records, bytes, path, headers, body } = added;
      const { came = null, part = '' } = place ?? {};
      insert.run(organizationId, accountId, came, part, receivedAt, records, bytes, path, headers, body);
    },
    /** Removed: what goes elsewhere finds its room there, also in a store that is full. */
    take(id: number): (Added & { readonly came: number; readonly part: string }) | undefined {
      return takeRow.get(id) as unknown as (Added & { came: number; part: string }) | undefined;
    },
    queue: (organizationId: string): Amount =>
      (selectQueue.get(organizationId) as unknown as Amount | undefined) ?? {
        requests: 0,
        records: 0,
        bytes: 0,
      },
    head: () => toHead(headRow.get() as unknown as HeadRow),
  };
}

/** With what it takes. */
export function sized<T extends Omit<Added, 'bytes'>>(request: T): T & { readonly bytes: number } {
  const bytes = rowBytes + request.path.length + request.headers.length + request.body.length;
  return { ...request, bytes };
}
