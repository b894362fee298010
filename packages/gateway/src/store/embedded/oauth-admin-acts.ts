import type { DatabaseSync } from 'node:sqlite';
import { toTimestamp } from '@sallyport/core';
import type { Account, AdminActs } from '@sallyport/oauth/storage';
import type { Sync } from './acts.ts';
import { lastAdmin } from './oauth-last-admin.ts';
import { newAccounts } from './oauth-new-account.ts';
import { accountColumns, owner } from './oauth-rows.ts';

/** What a member of an organization calls with there, and at last the membership. */
const ofMembers = [
  'oauth_code',
  'oauth_family',
  'oauth_device_grant',
  'api_key',
  'trusted_device',
  'membership',
] as const;

/** What admins and operators do. */
export function adminActs(db: DatabaseSync): Sync<AdminActs> {
  const accounts = newAccounts(db);
  const accountByEmail = db.prepare(`SELECT ${accountColumns} FROM account WHERE email = ?`);
  const isElsewhere = db.prepare(
    'SELECT 1 FROM membership WHERE account_id = ? AND organization_id <> ? LIMIT 1',
  );
  const deleteClient = db.prepare('DELETE FROM oauth_client WHERE id = ?');
  const endClient = ['DELETE FROM oauth_code', 'DELETE FROM oauth_device_grant'].map((act) =>
    db.prepare(`${act} WHERE client_id = ?`),
  );
  const revokeLogins = db.prepare(
    'UPDATE oauth_family SET revoked_at = ? WHERE client_id = ? AND revoked_at IS NULL',
  );
  const endSession = db.prepare(
    `DELETE FROM account_session WHERE id = ?
       AND account_id IN (SELECT account_id FROM membership WHERE organization_id = ?) RETURNING account_id`,
  );
  const standsFor = ['account_session', 'setup_token', ...ofMembers].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE account_id = ?`),
  );
  const unlock = db.prepare(
    `UPDATE account SET unlocks = unlocks + 1 WHERE id = ?1 AND (?2 IS NULL OR EXISTS
       (SELECT 1 FROM membership WHERE account_id = ?1 AND organization_id = ?2)) RETURNING email`,
  );
  const standingLock = db.prepare(
    `SELECT 1 FROM audit_entry AS lock WHERE action = 'account.lock' AND at > ?2 AND account_id = ?1
       AND details ->> '$.until' > ?3 AND NOT EXISTS
       (SELECT 1 FROM audit_entry WHERE action IN ('account.unlock', 'password.set') AND at > ?2
          AND account_id = ?1 AND id > lock.id)`,
  );
  const dropPassword = db.prepare('UPDATE account SET password_hash = NULL WHERE id = ?');
  const accountById = db.prepare('SELECT 1 FROM account WHERE id = ?');
  const deleteAccount = db.prepare('DELETE FROM account WHERE id = ?');
  // What it did keeps its act; where from and by what name it did it was the person's.
  const forgetActor = db.prepare(
    `UPDATE audit_entry SET address = NULL, details = json_remove(details, '$.name', '$.asked_from')
     WHERE actor_id = ?`,
  );
  const forgetOwner = db.prepare(
    `UPDATE audit_entry SET address = iif(actor_type = 'unknown', NULL, address),
       details = json_remove(details, '$.name', '$.asked_from') WHERE account_id = ?`,
  );
  const organizationById = db.prepare('SELECT 1 FROM organization WHERE id = ?');
  const firstOrganization = db.prepare('SELECT id FROM organization ORDER BY created_at, id LIMIT 1');
  const heldFor = ofMembers.map((table) => db.prepare(`DELETE FROM ${table} WHERE organization_id = ?`));
  const deleteOrganization = db.prepare('DELETE FROM organization WHERE id = ?');
  const { membershipsOf, isLastAdmin } = lastAdmin(db);

  return {
    // The entry is written as any act's is.
    recordAudit: () => undefined,

    addMember({ account: wanted, organizationId, role }) {
      const isNew = accounts.add({ account: wanted, organizationId, role });
      const account = accountByEmail.get(wanted.email) as unknown as Account;
      const isAdded = isNew || accounts.join(account.id, { organizationId, role });
      return {
        outcome: isNew ? 'added' : isAdded ? 'joined' : 'member',
        account: { ...account },
        isUnused: account.passwordHash === null && isElsewhere.get(account.id, organizationId) === undefined,
      };
    },

    removeClient({ clientId, now }) {
      if (deleteClient.run(clientId).changes === 0) return 'unknown';
      for (const act of endClient) act.run(clientId);
      revokeLogins.run(now, clientId);
      return 'done';
    },

    endMemberSession: ({ sessionId, organizationId }) => owner(endSession.get(sessionId, organizationId)),

    unlockAccount({ accountId, organizationId, now, windowMs }) {
      const account = unlock.get(accountId, organizationId ?? null);
      if (!account) return undefined;
      const wasLocked = standingLock.get(accountId, now - windowMs, toTimestamp(now)) !== undefined;
      return { email: account['email'] as string, wasLocked };
    },

    closeAccount({ accountId }) {
      const organizationIds = membershipsOf(accountId);
      if (accountById.get(accountId) === undefined) return { outcome: 'unknown', organizationIds };
      if (organizationIds.some((id) => isLastAdmin(accountId, id)))
        return { outcome: 'last_admin', organizationIds };
      for (const deletion of standsFor) deletion.run(accountId);
      dropPassword.run(accountId);
      return { outcome: 'done', organizationIds };
    },

    eraseAccount({ accountId }) {
      forgetActor.run(accountId);
      forgetOwner.run(accountId);
      return deleteAccount.run(accountId).changes > 0;
    },

    closeOrganization({ organizationId }) {
      if (organizationById.get(organizationId) === undefined) return 'unknown';
      if (firstOrganization.get()?.['id'] === organizationId) return 'first';
      for (const deletion of heldFor) deletion.run(organizationId);
      return 'done';
    },

    eraseOrganization: ({ organizationId }) => deleteOrganization.run(organizationId).changes > 0,
  };
}
