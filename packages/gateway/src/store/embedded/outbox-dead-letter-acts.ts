import type { DatabaseSync } from 'node:sqlite';
import type { OutboxActs, OutboxBounds } from '../../passthrough/outbox-ports.ts';
import type { Sync } from './acts.ts';
import { removedAtOnce, sized, type Added, type OutboxTable } from './outbox-table.ts';

/** What is done with what an upstream refuses for good. */
export function deadLetterActs(
  db: DatabaseSync,
  options: {
    readonly table: OutboxTable;
    readonly isFull: (added: Added, bounds: Omit<OutboxBounds, 'whenFull'>) => boolean;
  },
): Sync<Pick<OutboxActs, 'refuse' | 'retryDeadLetter' | 'dropDeadLetter' | 'expireDeadLetters'>> {
  const { table, isFull } = options;
  const insert = db.prepare(
    `INSERT INTO telemetry_dead_letter
       (organization_id, account_id, received_at, refused_at, status, reason, records, bytes, path, headers, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const removeFirst = db.prepare(
    'DELETE FROM telemetry_dead_letter WHERE id = (SELECT min(id) FROM telemetry_dead_letter)',
  );
  const find = db.prepare(
    `SELECT organization_id AS organizationId, account_id AS accountId, records, path, headers, body
     FROM telemetry_dead_letter WHERE id = ?`,
  );
  const remove = db.prepare('DELETE FROM telemetry_dead_letter WHERE id = ?');
  const expire = db.prepare(
    `DELETE FROM telemetry_dead_letter WHERE refused_at < ? AND id IN
       (SELECT id FROM telemetry_dead_letter ORDER BY id LIMIT ?)`,
  );
  return {
    refuse({ id, refusedAt, status, reason, maxBytes }) {
      const letter = table.take(id);
      if (letter === undefined) return { ...table.head(), dropped: 0 };
      const { organizationId, accountId, receivedAt, records, bytes, path, headers, body } = letter;
      const origin = [organizationId, accountId, receivedAt] as const;
      const size = bytes + reason.length;
      let dropped = 0;
      for (let now = table.head(); now.deadLetters.requests > 0; now = table.head()) {
        if (now.deadLetters.bytes + size <= maxBytes) break;
        removeFirst.run();
        dropped++;
      }
      insert.run(...origin, refusedAt, status, reason, records, size, path, headers, body);
      return { ...table.head(), dropped };
    },
    retryDeadLetter({ id, receivedAt, bounds }) {
      const row = find.get(id) as unknown as Omit<Added, 'receivedAt' | 'bytes'> | undefined;
      if (row === undefined) return { outcome: 'gone' };
      const letter = sized({ ...row, receivedAt });
      if (isFull(letter, bounds)) return { outcome: 'full' };
      remove.run(id);
      table.add(letter);
      return { outcome: 'waits' };
    },
    dropDeadLetter: ({ id }) => ({ outcome: remove.run(id).changes > 0 ? 'dropped' : 'gone' }),
    expireDeadLetters({ refusedBefore }) {
      const dropped = Number(expire.run(refusedBefore, removedAtOnce).changes);
      return { ...table.head(), dropped, done: dropped < removedAtOnce };
    },
  };
}
