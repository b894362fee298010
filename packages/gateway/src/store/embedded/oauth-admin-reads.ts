import { readPart } from '@sallyport/core';
import type {
  Account,
  AdminReads,
  ApiKey,
  AuditEntry,
  AuditFilter,
  NewestFirst,
  OfAccount,
  Owned,
  Role,
  Session,
  TrustedDevice,
} from '@sallyport/oauth/storage';
import {
  accountColumns,
  apiKeyColumns,
  asIs,
  clientColumns,
  familyColumns,
  sessionColumns,
  toClient,
  toFamily,
  trustedDeviceColumns,
  type ClientRow,
  type FamilyRow,
} from './oauth-rows.ts';
import type { Reader } from './reader.ts';

type AuditRow = Omit<AuditEntry, 'details'> & { readonly details: string };

const auditColumns = `e.id, e.at, e.action, e.outcome, e.actor_type AS actorType, e.actor_id AS actorId,
  e.account_id AS accountId, e.organization_id AS organizationId, e.subject, e.details, e.address,
  e.request_id AS requestId, actor.email AS actorEmail, account.email AS accountEmail`;
const auditNames = `LEFT JOIN account AS actor ON actor.id = e.actor_id
  LEFT JOIN account ON account.id = e.account_id`;

/** What admins and operators look at, on SQLite. */
export function adminReads(reader: Pick<Reader, 'query'>): AdminReads {
  const members = reader.query<Account & { readonly role: Role }>(
    `SELECT ${accountColumns}, membership.role FROM membership JOIN account ON account.id = membership.account_id
     WHERE membership.organization_id = ? AND (account.created_at, account.id) > (?, ?)
     ORDER BY account.created_at, account.id LIMIT ?`,
  );
  const clients = reader.query<ClientRow>(
    `SELECT ${clientColumns} FROM oauth_client WHERE (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`,
  );
  const apiKeys = reader.query<Owned<ApiKey>>(
    ofMembers('api_key', apiKeyColumns, {
      where: `api_key.organization_id = ?1 AND api_key.revoked_at IS NULL
        AND coalesce(api_key.expires_at > ?5, TRUE)`,
    }),
  );
  const devices = reader.query<Owned<TrustedDevice>>(
    ofMembers('trusted_device', trustedDeviceColumns, {
      where: 'trusted_device.organization_id = ?1 AND trusted_device.revoked_at IS NULL',
    }),
  );
  const logins = reader.query<FamilyRow & { readonly email: string; readonly clientName: string | null }>(
    ofMembers('oauth_family', `${familyColumns}, clientName`, {
      as: 'family',
      more: '(SELECT name FROM oauth_client WHERE oauth_client.id = client_id) AS clientName',
      where: `family.organization_id = ?1 AND family.revoked_at IS NULL AND family.expires_at > ?5
        AND family.idle_expires_at > ?5`,
    }),
  );
  const sessions = reader.query<Owned<Session>>(
    ofMembers('account_session', sessionColumns, { where: 'account_session.expires_at > ?5' }),
  );
  const ofAccount = <Row>(table: string, columns: string) => {
    const query = reader.query<Row>(
      `SELECT ${columns} FROM ${table} WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?`,
    );
    return ({ accountId, after, limit }: OfAccount) => query.each(accountId, after, limit + 1);
  };
  const accountSessions = ofAccount<Session>('account_session', sessionColumns);
  const accountLogins = ofAccount<FamilyRow>('oauth_family AS family', familyColumns);
  const accountApiKeys = ofAccount<ApiKey>('api_key', apiKeyColumns);
  const accountDevices = ofAccount<TrustedDevice>('trusted_device', trustedDeviceColumns);
  const part = (column: string) =>
    `SELECT * FROM (SELECT * FROM audit_entry WHERE ${column} = ?1 AND id > ?2 ORDER BY id LIMIT ?3)`;
  const accountAudit = reader.query<AuditRow>(
    `SELECT ${auditColumns} FROM (${part('account_id')} UNION ${part('actor_id')}) AS e ${auditNames}
     ORDER BY e.id LIMIT ?3`,
  );

  return {
    members: async ({ organizationId, after, limit }) =>
      readPart(members.each(organizationId, after?.createdAt ?? -1, after?.id ?? '', limit + 1), limit, asIs),
    clients: async ({ after, limit }) =>
      readPart(clients.each(after?.createdAt ?? -1, after?.id ?? '', limit + 1), limit, toClient),
    organizationApiKeys: async ({ organizationId, now, ...page }) =>
      readPart(apiKeys.each(organizationId, ...place(page), now), page.limit, asIs),
    organizationDevices: async ({ organizationId, ...page }) =>
      readPart(devices.each(organizationId, ...place(page)), page.limit, asIs),
    organizationLogins: async ({ organizationId, endedBefore, ...page }) =>
      readPart(logins.each(organizationId, ...place(page), endedBefore), page.limit, (row) => ({
        ...toFamily(row),
        email: row.email,
        clientName: row.clientName,
      })),
    memberSessions: async ({ organizationId, now, ...page }) =>
      readPart(sessions.each(organizationId, ...place(page), now), page.limit, asIs),
    auditEntries: async (filter) => {
      const { sql, parameters } = auditQuery(filter);
      return readPart(reader.query<AuditRow>(sql).each(...parameters), filter.limit, toAuditEntry);
    },
    accountSessions: async (part) => readPart(accountSessions(part), part.limit, asIs),
    accountLogins: async (part) => readPart(accountLogins(part), part.limit, toFamily),
    accountApiKeys: async (part) => readPart(accountApiKeys(part), part.limit, asIs),
    accountDevices: async (part) => readPart(accountDevices(part), part.limit, asIs),
    accountAudit: async ({ accountId, after, limit }) =>
      readPart(accountAudit.each(accountId, after, limit + 1), limit, toAuditEntry),
  };
}

/** What is of members of the organization `?1`, newest first from the place `?2`, `?3` on; `?4` is the limit. */
function ofMembers(
  table: string,
  columns: string,
  {
    as = table,
    more = 'NULL',
    where,
  }: { readonly as?: string; readonly more?: string; readonly where: string },
): string {
  return `SELECT ${columns}, email FROM (
      SELECT ${as}.*, account.email, ${more} FROM ${table} AS ${as}
        JOIN membership ON membership.account_id = ${as}.account_id AND membership.organization_id = ?1
        JOIN account ON account.id = ${as}.account_id
      WHERE ${where} AND (${as}.created_at, ${as}.id) < (?2, ?3)
      ORDER BY ${as}.created_at DESC, ${as}.id DESC LIMIT ?4) AS ${as}`;
}

function place({ before, limit }: NewestFirst): [number, string, number] {
  return [before?.createdAt ?? Number.MAX_SAFE_INTEGER, before?.id ?? '', limit + 1];
}

/** The text has no more than is asked for: so each filter has its index. */
function auditQuery(filter: AuditFilter): { sql: string; parameters: (string | number)[] } {
  const { organizationId, actorId, action, since, until, before, limit } = filter;
  const conditions = [
    ['organization_id = ?', organizationId],
    ['actor_id = ?', actorId],
    ['action = ?', action],
    ['at >= ?', since],
    ['at < ?', until],
    ['(at, id) < (?, ?)', before?.at, before?.id],
  ].filter((condition): condition is [string, ...(string | number)[]] => condition[1] !== undefined);
  const where = ['TRUE', ...conditions.map(([text]) => text)].join(' AND ');
  const source = organizationId === undefined ? 'audit_entry' : 'audit_view';
  return {
    sql: `SELECT ${auditColumns} FROM (SELECT id FROM ${source} WHERE ${where} ORDER BY at DESC, id DESC LIMIT ?) AS found
        JOIN audit_entry AS e ON e.id = found.id ${auditNames} ORDER BY e.at DESC, e.id DESC`,
    parameters: [...conditions.flatMap(([, ...values]) => values), limit + 1],
  };
}

function toAuditEntry(row: AuditRow): AuditEntry {
  return { ...row, details: JSON.parse(row.details) as AuditEntry['details'] };
}
