import type { DatabaseSync } from 'node:sqlite';
import type { Role } from '@sallyport/oauth/storage';
import type { OAuthActsOf } from './oauth-acts.ts';
import { organizationColumns, toOrganization, type OrganizationRow } from './oauth-rows.ts';

/** What organizations are, what they manage, and who is what in them. */
export function organizationActs(
  db: DatabaseSync,
): OAuthActsOf<
  'changeOrganization' | 'setSetting' | 'unsetSetting' | 'setRole' | 'endMembership' | 'removeAccount'
> {
  const organization = db.prepare(`SELECT ${organizationColumns} FROM organization WHERE id = ?`);
  const change = db.prepare(
    `UPDATE organization SET type = coalesce(?, type), rate_limit_tier = coalesce(?, rate_limit_tier),
       capabilities = coalesce(?, capabilities) WHERE id = ?`,
  );
  const otherSettings = db.prepare(
    'SELECT count(*) AS count FROM organization_setting WHERE organization_id = ? AND name <> ?',
  );
  const setSetting = db.prepare(
    `INSERT INTO organization_setting (organization_id, name, value) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value`,
  );
  const unsetSetting = db.prepare('DELETE FROM organization_setting WHERE organization_id = ? AND name = ?');
  const account = db.prepare('SELECT 1 FROM account WHERE id = ?');
  const roleOf = db.prepare('SELECT role FROM membership WHERE account_id = ? AND organization_id = ?');
  const otherAdmin = db.prepare(
    `SELECT 1 FROM membership WHERE organization_id = ? AND account_id <> ? AND role = 'admin' LIMIT 1`,
  );
  const setRole = db.prepare(
    `INSERT INTO membership (account_id, organization_id, role) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET role = excluded.role`,
  );
  const endMembership = db.prepare('DELETE FROM membership WHERE account_id = ? AND organization_id = ?');
  const administered = db.prepare(
    `SELECT organization_id AS id FROM membership WHERE account_id = ? AND role = 'admin'`,
  );
  const removeAccount = db.prepare('DELETE FROM account WHERE id = ?');

  function present(accountId: string, organizationId: string): Role | undefined {
    return roleOf.get(accountId, organizationId)?.['role'] as Role | undefined;
  }
  function isLastAdmin(accountId: string, organizationId: string): boolean {
    return (
      present(accountId, organizationId) === 'admin' &&
      otherAdmin.get(organizationId, accountId) === undefined
    );
  }

  return {
    changeOrganization({ organizationId, changes: { type, rateLimitTier, capabilities } }) {
      const list = capabilities === undefined ? null : JSON.stringify(capabilities);
      change.run(type ?? null, rateLimitTier ?? null, list, organizationId);
      const row = organization.get(organizationId) as OrganizationRow | undefined;
      return row && toOrganization(row);
    },
    setSetting({ organizationId, name, value, max }) {
      if (organization.get(organizationId) === undefined) return 'unknown';
      if (Number(otherSettings.get(organizationId, name)?.['count']) >= max) return 'too_many';
      setSetting.run(organizationId, name, value);
      return 'set';
    },
    unsetSetting: ({ organizationId, name }) => unsetSetting.run(organizationId, name).changes > 0,
    setRole({ accountId, organizationId, role }) {
      if (account.get(accountId) === undefined || organization.get(organizationId) === undefined)
        return 'unknown';
      if (role !== 'admin' && isLastAdmin(accountId, organizationId)) return 'last_admin';
      setRole.run(accountId, organizationId, role);
      return 'done';
    },
    endMembership({ accountId, organizationId }) {
      if (isLastAdmin(accountId, organizationId)) return 'last_admin';
      return endMembership.run(accountId, organizationId).changes > 0 ? 'done' : 'unknown';
    },
    removeAccount({ accountId }) {
      const ids = administered.all(accountId).map(({ id }) => String(id));
      if (ids.some((id) => isLastAdmin(accountId, id))) return 'last_admin';
      return removeAccount.run(accountId).changes > 0 ? 'done' : 'unknown';
    },
  };
}
