import type { DatabaseSync } from 'node:sqlite';
import {
  auditEntriesOf,
  type AuditStamp,
  type NewAuditEntry,
  type OAuthActs,
} from '@sallyport/oauth/storage';
import type { Sync } from './acts.ts';

/** The acts, each of which writes its audit entries along with what it does. */
export function withAudit(db: DatabaseSync, acts: Sync<OAuthActs>): Sync<OAuthActs> {
  const write = auditWriter(db);
  const audited = Object.entries(acts).map(([name, act]) => [
    name,
    (argument: { readonly stamp?: AuditStamp }) => {
      const answer = (act as (argument: object) => unknown)(argument);
      const { stamp } = argument;
      if (stamp) for (const entry of auditEntriesOf(name, argument, answer)) write(entry, stamp);
      return answer;
    },
  ]);
  return Object.fromEntries(audited) as Sync<OAuthActs>;
}

/** Writes entries, for whoever may see them, inside the transaction of what they tell of. */
export function auditWriter(db: DatabaseSync): (entry: NewAuditEntry, stamp: AuditStamp) => void {
  const insertEntry = db.prepare(
    `INSERT INTO audit_entry (at, action, outcome, actor_type, actor_id, account_id, organization_id, subject, details,
       address, request_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertView = db.prepare(
    `INSERT INTO audit_view (organization_id, at, id, action, actor_id)
     SELECT value, ?, ?, ?, ? FROM json_each(?) WHERE TRUE ON CONFLICT DO NOTHING`,
  );
  const memberships = db.prepare('SELECT organization_id AS id FROM membership WHERE account_id = ?');

  /** Where it is of no organization: those of the account, as they are now; else the one that the actor acts for. */
  function seenBy({ organizationId, seenBy: said, accountId }: NewAuditEntry, stamp: AuditStamp) {
    if (organizationId !== null) return [organizationId];
    if (said !== undefined) return said;
    if (accountId !== null) return memberships.all(accountId).map(({ id }) => String(id));
    return stamp.actor?.organizationId === undefined ? [] : [stamp.actor.organizationId];
  }

  return (entry: NewAuditEntry, stamp: AuditStamp): void => {
    const { action, outcome, by, accountId, organizationId, subject, details } = entry;
    const { at, address = null, requestId = null } = stamp;
    const itself = by === 'account' && accountId !== null ? { type: 'account', id: accountId } : undefined;
    const { type, id: actorId } = stamp.actor ?? itself ?? { type: 'unknown', id: null };
    const whose = [accountId, organizationId, subject, JSON.stringify(details)] as const;
    const id = insertEntry.run(
      at,
      action,
      outcome,
      type,
      actorId,
      ...whose,
      address,
      requestId,
    ).lastInsertRowid;
    insertView.run(at, id, action, actorId, JSON.stringify(seenBy(entry, stamp)));
  };
}
