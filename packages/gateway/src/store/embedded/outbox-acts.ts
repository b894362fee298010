import type { DatabaseSync } from 'node:sqlite';
import type { OutboxActs, OutboxHead } from '../../passthrough/outbox-ports.ts';
import type { Sync } from './acts.ts';

/** What a request takes beside path, headers and body. */
const rowBytes = 100;
/** Removed by one act at most. */
const removedAtOnce = 100;

/** The outbox's acts on SQLite. */
export function outboxActs(db: DatabaseSync): Sync<OutboxActs> {
  const insert = db.prepare(
    'INSERT INTO telemetry_outbox (received_at, bytes, path, headers, body) VALUES (?, ?, ?, ?, ?)',
  );
  const selectHead = db.prepare('SELECT requests, bytes FROM telemetry_outbox_head');
  const removeOldest = db.prepare(
    'DELETE FROM telemetry_outbox WHERE id = (SELECT min(id) FROM telemetry_outbox)',
  );
  const remove = db.prepare('DELETE FROM telemetry_outbox WHERE id = ?');
  // In the order in which they came: a clock that was set back makes a few of them wait longer.
  const expire = db.prepare(
    `DELETE FROM telemetry_outbox WHERE received_at < ? AND id IN (SELECT id FROM telemetry_outbox ORDER BY id LIMIT ?)`,
  );
  const head = () => selectHead.get() as unknown as OutboxHead;
  return {
    keep({ receivedAt, path, headers, body, maxBytes, whenFull }) {
      const text = JSON.stringify(headers);
      const bytes = rowBytes + path.length + text.length + body.length;
      let now = head();
      if (whenFull === 'reject' && now.requests > 0 && now.bytes + bytes > maxBytes)
        return { ...now, isKept: false, dropped: 0 };
      insert.run(receivedAt, bytes, path, text, body);
      let dropped = 0;
      now = head();
      for (; now.bytes > maxBytes && now.requests > 1; now = head()) {
        removeOldest.run();
        dropped++;
      }
      return { ...now, isKept: true, dropped };
    },
    settle({ id }) {
      remove.run(id);
      return head();
    },
    expire({ receivedBefore }) {
      const dropped = Number(expire.run(receivedBefore, removedAtOnce).changes);
      return { ...head(), dropped, done: dropped < removedAtOnce };
    },
  };
}
