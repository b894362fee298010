import { readPart } from '@sallyport/core';
import type {
  Account,
  ApiKey,
  DeviceGrant,
  OAuthReads,
  Role,
  Session,
  SigningKey,
  TrustedDevice,
} from '@sallyport/oauth/storage';
import { adminReads } from './oauth-admin-reads.ts';
import {
  accountColumns,
  apiKeyColumns,
  asIs,
  clientColumns,
  deviceGrantColumns,
  familyColumns,
  keyColumns,
  organizationColumns,
  sessionColumns,
  toClient,
  toFamily,
  toOrganization,
  trustedDeviceColumns,
  type ClientRow,
  type FamilyRow,
  type MembershipRow,
  type OrganizationRow,
} from './oauth-rows.ts';
import type { Reader } from './reader.ts';

/** The authorization server's reads on SQLite. */
export function oauthReads(reader: Pick<Reader, 'query'>): OAuthReads {
  const keys = reader.query<SigningKey>(
    `SELECT ${keyColumns} FROM oauth_key WHERE published_until IS NULL OR published_until > ?`,
  );
  const organization = reader.query<OrganizationRow>(
    `SELECT ${organizationColumns} FROM organization WHERE id = ?`,
  );
  // From the very first, and from there on, after the one that the page before ended with.
  const organizations = reader.query<OrganizationRow>(
    `SELECT ${organizationColumns} FROM organization WHERE (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`,
  );
  const settings = reader.query<{ readonly name: string; readonly value: string }>(
    'SELECT name, value FROM organization_setting WHERE organization_id = ? ORDER BY name LIMIT ?',
  );
  const accounts = reader.query<Account>(
    `SELECT ${accountColumns} FROM account WHERE (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`,
  );
  const account = reader.query<Account>(`SELECT ${accountColumns} FROM account WHERE id = ?`);
  const accountByEmail = reader.query<Account>(`SELECT ${accountColumns} FROM account WHERE email = ?`);
  const accountEmails = reader.query<Pick<Account, 'id' | 'email'>>(
    'SELECT id, email FROM account WHERE id IN (SELECT value FROM json_each(?))',
  );
  const oldestAccount = reader.query<Account>(
    `SELECT ${accountColumns} FROM account ORDER BY created_at, rowid LIMIT 1`,
  );
  const memberships = reader.query<MembershipRow>(
    `SELECT ${organizationColumns}, membership.role FROM membership
       JOIN organization ON organization.id = membership.organization_id
     WHERE membership.account_id = ? ORDER BY organization.created_at, organization.id LIMIT 1000`,
  );
  const setupAccount = reader.query<Account>(
    `SELECT ${accountColumns} FROM setup_token JOIN account ON account.id = setup_token.account_id
     WHERE setup_token.hash = ? AND setup_token.expires_at > ?`,
  );
  const session = reader.query<Session>(
    `SELECT ${sessionColumns} FROM account_session WHERE hash = ? AND expires_at > ?`,
  );
  const sessions = reader.query<Session>(
    `SELECT ${sessionColumns} FROM account_session WHERE account_id = ? AND expires_at > ?
     ORDER BY created_at DESC, id LIMIT ?`,
  );
  const client = reader.query<ClientRow>(`SELECT ${clientColumns} FROM oauth_client WHERE id = ?`);
  const family = reader.query<FamilyRow>(`SELECT ${familyColumns} FROM oauth_family AS family WHERE id = ?`);
  const families = reader.query<FamilyRow & { readonly clientName: string }>(
    `SELECT ${familyColumns}, coalesce(client.name, family.client_id) AS clientName FROM oauth_family AS family
       JOIN membership USING (account_id, organization_id)
       LEFT JOIN oauth_client AS client ON client.id = family.client_id
     WHERE family.account_id = ? AND family.organization_id = ? AND family.revoked_at IS NULL
       AND min(family.idle_expires_at, family.expires_at) > ?
     ORDER BY family.created_at DESC, family.id LIMIT ?`,
  );
  const standing = reader.query<{ readonly role: Role }>(
    `SELECT membership.role FROM oauth_family AS family
       JOIN membership ON membership.account_id = family.account_id
         AND membership.organization_id = family.organization_id
     WHERE family.id = ? AND family.revoked_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM oauth_revoked_token WHERE jti = ?)`,
  );
  const deviceGrant = reader.query<DeviceGrant>(
    `SELECT ${deviceGrantColumns} FROM oauth_device_grant WHERE user_code = ? AND expires_at > ?`,
  );
  const trustedDevice = reader.query<TrustedDevice>(
    `SELECT ${trustedDeviceColumns} FROM trusted_device WHERE hash = ?`,
  );
  const trustedDevices = reader.query<TrustedDevice>(
    `SELECT ${trustedDeviceColumns} FROM trusted_device
     WHERE account_id = ? AND organization_id = ? AND revoked_at IS NULL ORDER BY created_at DESC LIMIT ?`,
  );
  // A key's expiry is part of the condition that it stands; `TRUE` is that of a key without one.
  const apiKeyStands = 'api_key.revoked_at IS NULL AND coalesce(api_key.expires_at > ?, TRUE)';
  const apiKey = reader.query<ApiKey & { readonly role: Role }>(
    `SELECT ${apiKeyColumns}, membership.role FROM api_key
       JOIN membership ON membership.account_id = api_key.account_id
         AND membership.organization_id = api_key.organization_id
     WHERE api_key.hash = ? AND ${apiKeyStands}`,
  );
  const standingGrants = reader.query<{ readonly id: string; readonly role: Role }>(
    `SELECT family.id, role FROM json_each(?1) JOIN oauth_family AS family ON family.id = value
       JOIN membership USING (account_id, organization_id)
     WHERE family.revoked_at IS NULL AND min(family.idle_expires_at, family.expires_at) > ?2
     UNION ALL
     SELECT api_key.id, role FROM json_each(?1) JOIN api_key ON api_key.id = value
       JOIN membership USING (account_id, organization_id)
     WHERE api_key.revoked_at IS NULL AND coalesce(api_key.expires_at > ?3, TRUE)
     UNION ALL
     SELECT trusted_device.id, role FROM json_each(?1) JOIN trusted_device ON trusted_device.id = value
       JOIN membership USING (account_id, organization_id)
     WHERE trusted_device.revoked_at IS NULL`,
  );
  const revokedTokens = reader.query<{ readonly jti: string }>(
    'SELECT jti FROM oauth_revoked_token WHERE jti IN (SELECT value FROM json_each(?))',
  );
  const apiKeys = reader.query<ApiKey>(
    `SELECT ${apiKeyColumns} FROM api_key WHERE account_id = ? AND organization_id = ? AND ${apiKeyStands}
     ORDER BY created_at DESC, id LIMIT ?`,
  );

  return {
    ...adminReads(reader),
    signingKeys: async ({ now }) => keys.all(now),
    async organization({ organizationId }) {
      const row = organization.get(organizationId);
      return row && toOrganization(row);
    },
    organizations: async ({ after, limit }) =>
      readPart(organizations.each(after?.createdAt ?? -1, after?.id ?? '', limit + 1), limit, toOrganization),
    settings: async ({ organizationId, limit }) => settings.all(organizationId, limit),
    accounts: async ({ after, limit }) =>
      readPart(accounts.each(after?.createdAt ?? -1, after?.id ?? '', limit + 1), limit, asIs),
    account: async ({ accountId }) => account.get(accountId),
    accountByEmail: async ({ email }) => accountByEmail.get(email),
    accountEmails: async ({ accountIds }) => accountEmails.all(JSON.stringify(accountIds)),
    defaultAccount: async () => oldestAccount.get(),
    memberships: async ({ accountId }) =>
      memberships.all(accountId).map((row) => ({ organization: toOrganization(row), role: row.role })),
    setupAccount: async ({ hash, now }) => setupAccount.get(hash, now),
    session: async ({ hash, now }) => session.get(hash, now),
    sessions: async ({ accountId, now, limit }) => sessions.all(accountId, now, limit),
    async client({ clientId }) {
      const row = client.get(clientId);
      return row && toClient(row);
    },
    async family({ familyId }) {
      const row = family.get(familyId);
      return row && toFamily(row);
    },
    families: async ({ accountId, organizationId, endedBefore, limit }) =>
      families
        .all(accountId, organizationId, endedBefore, limit)
        .map((row) => ({ ...toFamily(row), clientName: row.clientName })),
    standing: async ({ familyId, jti }) => standing.get(familyId, jti),
    deviceGrant: async ({ userCode, now }) => deviceGrant.get(userCode, now),
    trustedDevice: async ({ hash }) => trustedDevice.get(hash),
    apiKey: async ({ hash, now }) => apiKey.get(hash, now),
    standingGrants: async ({ grantIds, endedBefore, now }) =>
      standingGrants.all(JSON.stringify(grantIds), endedBefore, now),
    revokedTokens: async ({ tokenIds }) => revokedTokens.all(JSON.stringify(tokenIds)).map(({ jti }) => jti),
    apiKeys: async ({ accountId, organizationId, now, limit }) =>
      apiKeys.all(accountId, organizationId, now, limit),
    trustedDevices: async ({ accountId, organizationId, limit }) =>
      trustedDevices.all(accountId, organizationId, limit),
  };
}
