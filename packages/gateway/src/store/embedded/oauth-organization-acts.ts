import type { DatabaseSync } from 'node:sqlite';
import type { OAuthActs } from '@sallyport/oauth/storage';
import type { Sync } from './acts.ts';
import { lastAdmin } from './oauth-last-admin.ts';
import { organizationColumns, toOrganization, type OrganizationRow } from './oauth-rows.ts';

/** What organizations are, what they manage, and who is what in them. */
export function organizationActs(
  db: DatabaseSync,
): Sync<
  Pick<
    OAuthActs,
    'changeOrganization' | 'setSetting' | 'unsetSetting' | 'setRole' | 'endMembership' | 'removeAccount'
  >
> {
  const organization = db.prepare(`SELECT ${organizationColumns} FROM organization WHERE id = ?`);
  const change = db.prepare(
    `UPDATE organization SET type = coalesce(?, type), rate_limit_tier = coalesce(?, rate_limit_tier),
       capabilities = coalesce(?, capabilities), zero_data_retention = coalesce(?, zero_data_retention)
     WHERE id = ?`,
  );
  const otherSettings = db.prepare(
    `SELECT count(*) AS count, coalesce(sum(octet_length(name) + octet_length(value)), 0) AS bytes
     FROM organization_setting WHERE organization_id = ? AND name <> ?`,
  );
  const setSetting = db.prepare(
    `INSERT INTO organization_setting (organization_id, name, value) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value`,
  );
  const unsetSetting = db.prepare('DELETE FROM organization_setting WHERE organization_id = ? AND name = ?');
  const account = db.prepare('SELECT 1 FROM account WHERE id = ?');
  const setRole = db.prepare(
    `INSERT INTO membership (account_id, organization_id, role) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET role = excluded.role`,
  );
  const endMembership = db.prepare('DELETE FROM membership WHERE account_id = ? AND organization_id = ?');
  // What was held for the organization ends for good: whoever becomes a member again begins anew.
  const ofMember = 'account_id = ?2 AND organization_id = ?3 AND revoked_at IS NULL';
  const revocations = [
    `UPDATE oauth_family SET revoked_at = ?1 WHERE ${ofMember}`,
    `UPDATE trusted_device SET revoked_at = ?1 WHERE ${ofMember}`,
    `UPDATE api_key SET revoked_at = ?1, expires_at = min(coalesce(expires_at, ?1), ?1) WHERE ${ofMember}`,
  ].map((sql) => db.prepare(sql));
  // Of these nothing has begun yet.
  const withdrawals = ['oauth_code', 'oauth_device_grant'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE account_id = ? AND organization_id = ?`),
  );
  const { present, isLastAdmin, membershipsOf } = lastAdmin(db);
  const removeAccount = db.prepare('DELETE FROM account WHERE id = ?');

  return {
    changeOrganization({ organizationId, changes }) {
      const { type, rateLimitTier, capabilities, zeroDataRetention } = changes;
      const list = capabilities === undefined ? null : JSON.stringify(capabilities);
      const flag = zeroDataRetention === undefined ? null : Number(zeroDataRetention);
      change.run(type ?? null, rateLimitTier ?? null, list, flag, organizationId);
      const row = organization.get(organizationId) as OrganizationRow | undefined;
      return row && toOrganization(row);
    },
    setSetting({ organizationId, name, value, max, maxBytes }) {
      if (organization.get(organizationId) === undefined) return 'unknown';
      const others = otherSettings.get(organizationId, name);
      if (Number(others?.['count']) >= max) return 'too_many';
      const bytes = Number(others?.['bytes']) + Buffer.byteLength(name) + Buffer.byteLength(value);
      if (bytes > maxBytes) return 'too_large';
      setSetting.run(organizationId, name, value);
      return 'set';
    },
    unsetSetting: ({ organizationId, name }) => unsetSetting.run(organizationId, name).changes > 0,
    setRole({ accountId, organizationId, role, membersOnly = false }) {
      if (account.get(accountId) === undefined || organization.get(organizationId) === undefined)
        return 'unknown';
      if (membersOnly && present(accountId, organizationId) === undefined) return 'unknown';
      if (role !== 'admin' && isLastAdmin(accountId, organizationId)) return 'last_admin';
      setRole.run(accountId, organizationId, role);
      return 'done';
    },
    endMembership({ accountId, organizationId, now }) {
      if (isLastAdmin(accountId, organizationId)) return 'last_admin';
      if (endMembership.run(accountId, organizationId).changes === 0) return 'unknown';
      for (const revocation of revocations) revocation.run(now, accountId, organizationId);
      for (const withdrawal of withdrawals) withdrawal.run(accountId, organizationId);
      return 'done';
    },
    removeAccount({ accountId }) {
      const organizationIds = membershipsOf(accountId);
      if (organizationIds.some((id) => isLastAdmin(accountId, id)))
        return { outcome: 'last_admin', organizationIds };
      const isRemoved = removeAccount.run(accountId).changes > 0;
      return { outcome: isRemoved ? 'done' : 'unknown', organizationIds };
    },
  };
}
