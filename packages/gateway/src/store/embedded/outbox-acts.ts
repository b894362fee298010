import type { DatabaseSync } from 'node:sqlite';
import type { Amount, OutboxActs, OutboxBounds } from '../../passthrough/outbox-ports.ts';
import type { Sync } from './acts.ts';
import { deadLetterActs } from './outbox-dead-letter-acts.ts';
import { outboxTable, removedAtOnce, sized, type Added } from './outbox-table.ts';
import { roomIn } from './room.ts';

/** Of the bounds: what one organization does not take, so that one that floods does not shut others out. */
const othersShare = 1 / 8;

/** The outbox's acts on SQLite. */
export function outboxActs(db: DatabaseSync): Sync<OutboxActs> {
  const table = outboxTable(db);
  const room = roomIn(db);
  const remove = db.prepare('DELETE FROM telemetry_outbox WHERE id = ?');
  const removeOldest = db.prepare(
    `DELETE FROM telemetry_outbox WHERE id = (
       SELECT id FROM telemetry_outbox
       WHERE organization_id = (SELECT organization_id FROM telemetry_outbox_queue ORDER BY bytes DESC LIMIT 1)
       ORDER BY came, part LIMIT 1)`,
  );
  const expire = db.prepare(
    `DELETE FROM telemetry_outbox WHERE id IN
       (SELECT id FROM telemetry_outbox WHERE received_at < ? ORDER BY received_at LIMIT ?)`,
  );
  const eraseBy = (column: 'account_id' | 'organization_id') => ({
    waiting: eraseFrom(db, 'telemetry_outbox', column),
    dead_letters: eraseFrom(db, 'telemetry_dead_letter', column),
  });
  const [eraseByAccount, eraseByOrganization] = [eraseBy('account_id'), eraseBy('organization_id')];
  const { head } = table;

  /** Whether one more would be too much for the disk, or for the bounds; the first that waits may be larger than those. */
  function isFull(added: Added, bounds: Omit<OutboxBounds, 'whenFull'>): boolean {
    const now = head();
    return (
      (now.requests > 0 && passes(sum(now, added), bounds, 1)) ||
      room.left() - added.bytes < bounds.reserveBytes ||
      !room.claim(added.bytes)
    );
  }

  function leavesNothing(added: Added, bounds: OutboxBounds): boolean {
    const own = sum(table.queue(added.organizationId), added);
    return passes(own, bounds, othersShare) && passes(sum(head(), added), bounds, 1 - othersShare);
  }

  return {
    keep({ bounds, headers, ...request }) {
      const added = sized({ ...request, headers: JSON.stringify(headers) });
      let dropped = 0;
      if (bounds.whenFull === 'drop_oldest')
        while (isFull(added, bounds) && removeOldest.run().changes > 0) dropped++;
      const isKept =
        !isFull(added, bounds) && (bounds.whenFull === 'drop_oldest' || !leavesNothing(added, bounds));
      if (isKept) table.add(added);
      return { ...head(), isKept, dropped };
    },
    settle({ id }) {
      remove.run(id);
      return head();
    },
    split({ id, halves }) {
      const whole = table.take(id);
      if (whole === undefined) return head();
      for (const [index, { headers, body, records }] of halves.entries()) {
        const place = { came: whole.came, part: `${whole.part}${index}` };
        table.add(sized({ ...whole, headers: JSON.stringify(headers), body, records }), place);
      }
      return head();
    },
    expire({ receivedBefore }) {
      const dropped = Number(expire.run(receivedBefore, removedAtOnce).changes);
      return { ...head(), dropped, done: dropped < removedAtOnce };
    },
    eraseOf(of) {
      const [erase, id] =
        'accountId' in of ? [eraseByAccount, of.accountId] : [eraseByOrganization, of.organizationId];
      const erased = Number(erase[of.among].run(id, removedAtOnce).changes);
      return { erased, done: erased < removedAtOnce };
    },
    ...deadLetterActs(db, { table, isFull }),
  };
}

function eraseFrom(db: DatabaseSync, table: 'telemetry_outbox' | 'telemetry_dead_letter', column: string) {
  return db.prepare(`DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ${column} = ? LIMIT ?)`);
}

type Size = Pick<Amount, 'records' | 'bytes'>;

function sum(one: Size, other: Size): Size {
  return { records: one.records + other.records, bytes: one.bytes + other.bytes };
}

function passes(
  { records, bytes }: Size,
  bounds: Pick<OutboxBounds, 'maxBytes' | 'maxRecords'>,
  share: number,
): boolean {
  return bytes > bounds.maxBytes * share || records > bounds.maxRecords * share;
}
