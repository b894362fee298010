import type { DatabaseSync } from 'node:sqlite';
import type { Role } from '@sallyport/oauth/storage';

/** An organization keeps an admin. */
export function lastAdmin(db: DatabaseSync) {
  const roleOf = db.prepare('SELECT role FROM membership WHERE account_id = ? AND organization_id = ?');
  const otherAdmin = db.prepare(
    `SELECT 1 FROM membership WHERE organization_id = ? AND account_id <> ? AND role = 'admin' LIMIT 1`,
  );
  const memberships = db.prepare('SELECT organization_id AS id FROM membership WHERE account_id = ?');

  function present(accountId: string, organizationId: string): Role | undefined {
    return roleOf.get(accountId, organizationId)?.['role'] as Role | undefined;
  }
  return {
    present,
    isLastAdmin: (accountId: string, organizationId: string): boolean =>
      present(accountId, organizationId) === 'admin' &&
      otherAdmin.get(organizationId, accountId) === undefined,
    membershipsOf: (accountId: string): string[] => memberships.all(accountId).map(({ id }) => String(id)),
  };
}
