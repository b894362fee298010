import type { Client, Family, GrantType, Organization, Role } from '@sallyport/oauth/storage';

// Columns are read under the records' names: a row is its record, but for lists (JSON) and flags (0 or 1).

/** Of a row that is its record. */
export function asIs<Row>(row: Row): Row {
  return row;
}

export const accountColumns = `account.id, account.email, account.password_hash AS passwordHash,
  account.created_at AS createdAt, account.unlocks`;

export const organizationColumns = `organization.id, organization.name, organization.type,
  organization.rate_limit_tier AS rateLimitTier, organization.capabilities,
  organization.zero_data_retention AS zeroDataRetention, organization.created_at AS createdAt`;

export const sessionColumns = `id, account_id AS accountId, address, user_agent AS userAgent, created_at AS createdAt,
  last_used_at AS lastUsedAt, expires_at AS expiresAt`;

export const clientColumns = `id, name, redirect_uris AS redirectUris, grant_types AS grantTypes, scope,
  created_at AS createdAt`;

export const codeColumns = `hash, client_id AS clientId, account_id AS accountId, organization_id AS organizationId,
  session_id AS sessionId, redirect_uri AS redirectUri, scope, challenge, expires_at AS expiresAt, mismatches,
  used_at AS usedAt, family_id AS familyId`;

export const familyColumns = `family.id, family.client_id AS clientId, family.account_id AS accountId,
  family.organization_id AS organizationId, family.scope, family.address, family.generation, family.rotations,
  family.created_at AS createdAt, family.idle_expires_at AS idleExpiresAt, family.expires_at AS expiresAt,
  family.revoked_at AS revokedAt`;

export const deviceGrantColumns = `hash, user_code AS userCode, client_id AS clientId, scope, address, network,
  created_at AS createdAt, expires_at AS expiresAt, slow_downs AS slowDowns, last_poll_at AS lastPollAt, state,
  account_id AS accountId, organization_id AS organizationId`;

export const trustedDeviceColumns = `id, account_id AS accountId, organization_id AS organizationId,
  display_name AS displayName, created_at AS createdAt, last_used_at AS lastUsedAt, revoked_at AS revokedAt`;

export const apiKeyColumns = `api_key.id, api_key.account_id AS accountId,
  api_key.organization_id AS organizationId, api_key.name, api_key.scope, api_key.created_at AS createdAt,
  api_key.expires_at AS expiresAt, api_key.last_used_at AS lastUsedAt`;

export const keyColumns =
  'kid, private_jwk AS privateJwk, signs_from AS signsFrom, published_until AS publishedUntil';

export interface OrganizationRow extends Omit<Organization, 'capabilities' | 'zeroDataRetention'> {
  readonly capabilities: string;
  readonly zeroDataRetention: number;
}

export interface ClientRow extends Omit<Client, 'redirectUris' | 'grantTypes'> {
  readonly redirectUris: string;
  readonly grantTypes: string;
}

export interface FamilyRow extends Omit<Family, 'rotations'> {
  readonly rotations: string;
}

export type MembershipRow = OrganizationRow & { readonly role: Role };

export function toOrganization(row: OrganizationRow): Organization {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    rateLimitTier: row.rateLimitTier,
    capabilities: JSON.parse(row.capabilities) as string[],
    zeroDataRetention: row.zeroDataRetention === 1,
    createdAt: row.createdAt,
  };
}

export function toClient(row: ClientRow): Client {
  return {
    id: row.id,
    name: row.name,
    redirectUris: JSON.parse(row.redirectUris) as string[],
    grantTypes: JSON.parse(row.grantTypes) as GrantType[],
    scope: row.scope,
    createdAt: row.createdAt,
  };
}

export function toFamily(row: FamilyRow): Family {
  return { ...row, rotations: JSON.parse(row.rotations) as number[] };
}

/** Of a row that an act gives back: whose it was. */
export function owner(
  row: Readonly<Record<string, unknown>> | undefined,
): { readonly accountId: string } | undefined {
  return row && { accountId: row['account_id'] as string };
}
