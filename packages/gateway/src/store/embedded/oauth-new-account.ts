import type { DatabaseSync } from 'node:sqlite';
import type { NewAccount } from '@sallyport/oauth/storage';

/** How an account comes to be there, and somebody a member. */
export function newAccounts(db: DatabaseSync) {
  const insertAccount = db.prepare(
    `INSERT INTO account (id, email, password_hash, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (email) DO NOTHING`,
  );
  const insertMembership = db.prepare(
    'INSERT INTO membership (account_id, organization_id, role) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );

  /** `false` where it is a member already, whose role stays. */
  function join(accountId: string, { organizationId, role }: Omit<NewAccount, 'account'>): boolean {
    return insertMembership.run(accountId, organizationId, role).changes > 0;
  }
  return {
    join,
    /** `false`, and nothing is done, where its e-mail address is taken. */
    add({ account: { id, email, passwordHash, createdAt }, ...membership }: NewAccount): boolean {
      if (insertAccount.run(id, email, passwordHash, createdAt).changes === 0) return false;
      return join(id, membership);
    },
  };
}
