import type {
  Account,
  DeviceGrant,
  OAuthReads,
  Role,
  Session,
  SigningKey,
  TrustedDevice,
} from '@sallyport/oauth/storage';
import {
  accountColumns,
  clientColumns,
  deviceGrantColumns,
  keyColumns,
  organizationColumns,
  sessionColumns,
  toClient,
  toOrganization,
  trustedDeviceColumns,
  type ClientRow,
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
  const account = reader.query<Account>(`SELECT ${accountColumns} FROM account WHERE id = ?`);
  const accountByEmail = reader.query<Account>(`SELECT ${accountColumns} FROM account WHERE email = ?`);
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
  const client = reader.query<ClientRow>(`SELECT ${clientColumns} FROM oauth_client WHERE id = ?`);
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
    `SELECT ${trustedDeviceColumns} FROM trusted_device WHERE account_id = ? AND revoked_at IS NULL
     ORDER BY created_at DESC LIMIT ?`,
  );

  return {
    signingKeys: async ({ now }) => keys.all(now),
    async organization({ organizationId }) {
      const row = organization.get(organizationId);
      return row && toOrganization(row);
    },
    account: async ({ accountId }) => account.get(accountId),
    accountByEmail: async ({ email }) => accountByEmail.get(email),
    defaultAccount: async () => oldestAccount.get(),
    memberships: async ({ accountId }) =>
      memberships.all(accountId).map((row) => ({ organization: toOrganization(row), role: row.role })),
    setupAccount: async ({ hash, now }) => setupAccount.get(hash, now),
    session: async ({ hash, now }) => session.get(hash, now),
    async client({ clientId }) {
      const row = client.get(clientId);
      return row && toClient(row);
    },
    standing: async ({ familyId, jti }) => standing.get(familyId, jti),
    deviceGrant: async ({ userCode, now }) => deviceGrant.get(userCode, now),
    trustedDevice: async ({ hash }) => trustedDevice.get(hash),
    trustedDevices: async ({ accountId, limit }) => trustedDevices.all(accountId, limit),
  };
}
