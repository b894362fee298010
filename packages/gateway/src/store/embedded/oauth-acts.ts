import type { DatabaseSync } from 'node:sqlite';
import type { Client, OAuthActs, Organization, SigningKey } from '@sallyport/oauth/storage';
import type { Sync } from './acts.ts';
import { adminActs } from './oauth-admin-acts.ts';
import { withAudit } from './oauth-audit-acts.ts';
import { accountActs } from './oauth-account-acts.ts';
import { apiKeyActs } from './oauth-key-acts.ts';
import { newAccounts } from './oauth-new-account.ts';
import { organizationActs } from './oauth-organization-acts.ts';
import { deviceActs, loginActs } from './oauth-login-acts.ts';

/** The authorization server's acts on SQLite: each loads, lets the domain judge, saves, and writes its audit entry. */
export function oauthActs(db: DatabaseSync): Sync<OAuthActs> {
  return withAudit(db, {
    ...installationActs(db),
    ...accountActs(db),
    ...loginActs(db),
    ...deviceActs(db),
    ...apiKeyActs(db),
    ...organizationActs(db),
    ...adminActs(db),
    sweep: sweepAct(db),
  });
}

function installationActs(
  db: DatabaseSync,
): Sync<
  Pick<
    OAuthActs,
    'install' | 'keepSecret' | 'addFirstKey' | 'rotateKeys' | 'addOrganization' | 'addAccount' | 'addClient'
  >
> {
  const anyOrganization = db.prepare('SELECT 1 FROM organization LIMIT 1');
  const insertOrganization = db.prepare(
    `INSERT INTO organization (id, name, type, rate_limit_tier, capabilities, zero_data_retention, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const accounts = newAccounts(db);
  const upsertClient = db.prepare(
    `INSERT INTO oauth_client (id, name, redirect_uris, grant_types, scope, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, redirect_uris = excluded.redirect_uris,
       grant_types = excluded.grant_types, scope = excluded.scope`,
  );
  const keepSecret = db.prepare(
    'INSERT INTO oauth_secret (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const secret = db.prepare('SELECT value FROM oauth_secret WHERE name = ?');
  const insertKey = db.prepare(
    'INSERT INTO oauth_key (kid, private_jwk, signs_from, published_until) VALUES (?, ?, ?, ?)',
  );
  const anyKey = db.prepare('SELECT 1 FROM oauth_key LIMIT 1');
  const nextKey = db.prepare('SELECT 1 FROM oauth_key WHERE signs_from > ? LIMIT 1');
  const retireKeys = db.prepare('UPDATE oauth_key SET published_until = ? WHERE published_until IS NULL');
  const dropKeys = db.prepare('DELETE FROM oauth_key WHERE published_until <= ?');

  function addOrganization(one: Organization): void {
    const flag = one.zeroDataRetention ? 1 : 0;
    const capabilities = JSON.stringify(one.capabilities);
    insertOrganization.run(one.id, one.name, one.type, one.rateLimitTier, capabilities, flag, one.createdAt);
  }
  function addClient({ id, name, redirectUris, grantTypes, scope, createdAt }: Client): void {
    upsertClient.run(id, name, JSON.stringify(redirectUris), JSON.stringify(grantTypes), scope, createdAt);
  }
  function addKey({ kid, privateJwk, signsFrom, publishedUntil }: SigningKey): void {
    insertKey.run(kid, privateJwk, signsFrom, publishedUntil);
  }

  return {
    install({ organization, owner, clients }) {
      const isNew = anyOrganization.get() === undefined;
      if (isNew) {
        addOrganization(organization);
        accounts.add({ account: owner, organizationId: organization.id, role: 'admin' });
      }
      for (const client of clients) addClient(client);
      return { isNew };
    },
    keepSecret({ name, value }) {
      keepSecret.run(name, value);
      return secret.get(name)?.['value'] as string;
    },
    addFirstKey({ key }) {
      if (anyKey.get() === undefined) addKey(key);
    },
    rotateKeys({ next, retireAt, now }) {
      if (nextKey.get(now) !== undefined) return false;
      dropKeys.run(now);
      retireKeys.run(retireAt);
      addKey(next);
      return true;
    },
    addOrganization: ({ organization }) => addOrganization(organization),
    addAccount: ({ account, organizationId, role }) => accounts.add({ account, organizationId, role }),
    addClient: ({ client }) => addClient(client),
  };
}

function sweepAct(db: DatabaseSync): Sync<OAuthActs>['sweep'] {
  const expiring = {
    account_session: 'id',
    setup_token: 'account_id',
    oauth_code: 'hash',
    oauth_device_grant: 'id',
    oauth_family: 'id',
    oauth_revoked_token: 'jti',
    api_key: 'id',
  };
  const deletions = Object.entries(expiring).map(([table, key]) =>
    db.prepare(
      `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE expires_at <= ? LIMIT ?)`,
    ),
  );
  const forgetEntries = db.prepare(
    'DELETE FROM audit_entry WHERE id IN (SELECT id FROM audit_entry WHERE at <= ? ORDER BY at LIMIT ?)',
  );
  return ({ before, auditBefore, limit }) => {
    const deleted = deletions.map((statement) => statement.run(before, limit).changes);
    deleted.push(forgetEntries.run(auditBefore, limit).changes);
    return deleted.some((count) => count === limit);
  };
}
