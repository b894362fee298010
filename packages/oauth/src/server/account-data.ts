import { toTimestamp, type AccountData, type Part } from '@sallyport/core';
import { unknownAccount } from './accounts.ts';
import type { OfAccount } from './admin-ports.ts';
import { shownAuditEntry } from './audit.ts';
import type { Context } from './context.ts';
import { tellRevocation } from './grants.ts';
import { checkOutcome } from './members.ts';
import { scopeToWire } from './wire-scopes.ts';

/** What the authorization server keeps of an account. */
export interface OAuthAccountData extends Pick<AccountData, 'export'> {
  /**
   * The first step of an erasure: nobody can call as the account any more, so that nothing of it is added while it is
   * erased elsewhere. Throws `not_found`, `conflict` for the last admin of an organization.
   */
  close(accountId: string): Promise<void>;
  /** The last step: the account itself. Until it is done, all of an erasure can be repeated. */
  erase(accountId: string): Promise<void>;
}

const pageRows = 500;

export function createAccountData(context: Context): OAuthAccountData {
  const { store, dialect, log } = context;
  const { acts, reads } = store;

  return {
    export: (accountId) => ({
      memberships: (async function* () {
        for (const { organization, role } of await reads.memberships({ accountId }))
          yield { organization: { id: organization.id, name: organization.name }, role };
      })(),
      sign_ins: shown(
        accountId,
        (part) => reads.accountSessions(part),
        ({ id, createdAt, expiresAt }) => ({
          id,
          created_at: toTimestamp(createdAt),
          expires_at: toTimestamp(expiresAt),
        }),
      ),
      logins: shown(
        accountId,
        (part) => reads.accountLogins(part),
        (login) => ({
          id: login.id,
          client_id: login.clientId,
          organization_id: login.organizationId,
          scope: scopeToWire(login.scope, dialect),
          created_at: toTimestamp(login.createdAt),
          refreshed_at: orNull(login.rotations[0] ?? null),
          expires_at: toTimestamp(login.expiresAt),
          revoked_at: orNull(login.revokedAt),
        }),
      ),
      api_keys: shown(
        accountId,
        (part) => reads.accountApiKeys(part),
        (key) => ({
          id: key.id,
          organization_id: key.organizationId,
          name: key.name,
          scope: scopeToWire(key.scope, dialect),
          created_at: toTimestamp(key.createdAt),
          expires_at: orNull(key.expiresAt),
          last_used_at: orNull(key.lastUsedAt),
        }),
      ),
      trusted_devices: shown(
        accountId,
        (part) => reads.accountDevices(part),
        (device) => ({
          id: device.id,
          organization_id: device.organizationId,
          display_name: device.displayName,
          created_at: toTimestamp(device.createdAt),
          last_used_at: orNull(device.lastUsedAt),
          revoked_at: orNull(device.revokedAt),
        }),
      ),
      audit: audit(accountId),
    }),

    async close(accountId) {
      checkOutcome((await acts.closeAccount({ accountId })).outcome, unknownAccount);
      tellRevocation(context);
    },

    async erase(accountId) {
      await acts.eraseAccount({ accountId });
      log.info({ accountId }, 'an account was erased');
    },
  };

  async function* audit(accountId: string): AsyncIterable<object> {
    for (let after = 0; ;) {
      const { items, isLast } = await reads.accountAudit({ accountId, after, limit: pageRows });
      yield* items.map(shownAuditEntry);
      after = items.at(-1)?.id ?? after;
      if (isLast) return;
    }
  }
}

async function* shown<Item extends { readonly id: string }>(
  accountId: string,
  read: (part: OfAccount) => Promise<Part<Item>>,
  show: (item: Item) => object,
): AsyncIterable<object> {
  for (let after = ''; ;) {
    const { items, isLast } = await read({ accountId, after, limit: pageRows });
    yield* items.map(show);
    after = items.at(-1)?.id ?? after;
    if (isLast) return;
  }
}

function orNull(at: number | null): string | null {
  return at === null ? null : toTimestamp(at);
}
