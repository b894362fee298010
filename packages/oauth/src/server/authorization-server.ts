import {
  neutralDialect,
  randomSecret,
  silentLog,
  systemClock,
  systemRandom,
  createIds,
  createLocalWakeups,
  type Clock,
  type Dialect,
  type Ids,
  type Log,
  type Random,
  type Wakeups,
} from '@sallyport/core';
import type { AuthorizationServerMetadata } from '@sallyport/core/contract';
import { createAccessTokens, type AccessTokens } from './access-token.ts';
import { createAccountData, type OAuthAccountData } from './account-data.ts';
import { createAccounts, newAccount, type Accounts } from './accounts.ts';
import { createApiKeys, type ApiKeys } from './api-keys.ts';
import { createAudit, stampedStore, type Audit } from './audit.ts';
import type { CallOrigin } from './audit-entry.ts';
import { createAuthorization, type Authorization } from './authorize.ts';
import { createClients, ownClients, type Clients } from './clients.ts';
import { defaultOAuthConfig, type OAuthConfig } from './config.ts';
import type { Context } from './context.ts';
import { createDeviceFlow, type DeviceFlow } from './device-flow.ts';
import { createGrants, type Grants } from './grants.ts';
import { createIntrospectionEndpoint, type IntrospectionEndpoint } from './introspect.ts';
import { createLogins, type Logins } from './logins.ts';
import { createManagedSettings, type ManagedSettings } from './managed-settings.ts';
import { createMembers, type Members } from './members.ts';
import { createMetadata } from './metadata.ts';
import { createOrganizationData, type OAuthOrganizationData } from './organization-data.ts';
import { createOrganizations, newOrganization, type Organizations } from './organizations.ts';
import { createOversight, type Oversight } from './oversight.ts';
import type { OAuthStore } from './ports.ts';
import { createProfiles, type Profiles } from './profile.ts';
import { createRevocationEndpoint, type RevocationEndpoint } from './revoke.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createSigner, type Signer } from './signer.ts';
import { createTokenEndpoint, type TokenEndpoint } from './token.ts';
import { createTrustedDevices, type TrustedDevices } from './trusted-devices.ts';

export interface AuthorizationServerOptions {
  readonly store: OAuthStore;
  /** The service's address: `https://gate.example.com`. */
  readonly issuer: string;
  readonly config?: Partial<OAuthConfig>;
  /** The longest life of the tokens of other kinds that the app signs with `signer`; default: it signs none. */
  readonly otherTokenSeconds?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly ids?: Ids;
  readonly dialect?: Dialect;
  readonly log?: Log;
  /** Tells other parts, and other processes, of revocations; default: within this engine. */
  readonly wakeups?: Wakeups;
  /** Who is calling just now, for the audit; default: nobody knows. */
  readonly callOrigin?: () => CallOrigin | undefined;
}

/** The authorization server, without HTTP and without SQL. */
export interface AuthorizationServer {
  /** Without a slash at its end. */
  readonly issuer: string;
  readonly config: OAuthConfig;
  readonly dialect: Dialect;
  /** Whether this start made the store's first organization and owner. */
  readonly isNew: boolean;
  readonly accounts: Accounts;
  readonly accountData: OAuthAccountData;
  readonly organizationData: OAuthOrganizationData;
  readonly members: Members;
  readonly organizations: Organizations;
  readonly managedSettings: ManagedSettings;
  readonly clients: Clients;
  readonly sessions: Sessions;
  readonly logins: Logins;
  readonly authorization: Authorization;
  readonly deviceFlow: DeviceFlow;
  readonly token: TokenEndpoint;
  readonly revoke: RevocationEndpoint;
  readonly introspect: IntrospectionEndpoint;
  readonly accessTokens: AccessTokens;
  readonly apiKeys: ApiKeys;
  readonly grants: Grants;
  readonly trustedDevices: TrustedDevices;
  readonly profiles: Profiles;
  readonly metadata: AuthorizationServerMetadata;
  readonly audit: Audit;
  readonly oversight: Oversight;
  readonly signer: Signer;
  /** Deletes what has expired; to be called every few minutes. */
  sweep(): Promise<void>;
}

/** Rows of each kind that one act deletes: what else waits for the writer waits no longer than this takes. */
const sweepRows = 500;
/** Expired rows are kept for as long as they still tell of a replay, or why a code is dead (RFC 8628 3.5 `expired_token`). */
const keptMs = 3600_000;
const dayMs = 24 * 3600_000;

/**
 * Opens the authorization server over a store, which gets an organization, an owner, keys and the first-party client
 * where it has none.
 */
export async function createAuthorizationServer(
  options: AuthorizationServerOptions,
): Promise<AuthorizationServer> {
  const {
    clock = systemClock,
    random = systemRandom,
    dialect = neutralDialect,
    log = silentLog,
    wakeups = createLocalWakeups(),
    callOrigin = () => undefined,
  } = options;
  const store = stampedStore(options.store, { now: () => clock.now(), callOrigin });
  const ids = options.ids ?? createIds(clock, random);
  const config = { ...defaultOAuthConfig, ...options.config };
  const issuer = options.issuer.replace(/\/+$/, '');

  const { isNew } = await store.acts.install({
    organization: newOrganization({ ids, clock }, 'Default'),
    owner: newAccount({ ids, clock }, 'owner@localhost'),
    clients: ownClients.map((client) => ({ ...client, createdAt: clock.now() })),
  });
  const refreshKey = await store.acts.keepSecret({ name: 'refresh', value: randomSecret(random) });
  const maxLifetimeSeconds = Math.max(config.accessTokenSeconds, options.otherTokenSeconds ?? 0);
  const signer = await createSigner({ store, clock, issuer, maxLifetimeSeconds });

  const context: Context = {
    store,
    clock,
    random,
    ids,
    issuer,
    dialect,
    log,
    wakeups,
    config,
    signer,
    refreshKey,
  };
  const accessTokens = createAccessTokens(context);
  const apiKeys = createApiKeys(context);
  const audit = createAudit(context);
  const accounts = createAccounts(context, { audit });
  const grants = createGrants(context);
  return {
    issuer,
    config,
    dialect,
    isNew,
    accounts,
    accountData: createAccountData(context),
    organizationData: createOrganizationData(context),
    members: createMembers(context, accounts),
    organizations: createOrganizations(context),
    managedSettings: createManagedSettings(context),
    clients: createClients(context),
    sessions: createSessions(context),
    logins: createLogins(context),
    authorization: createAuthorization(context),
    deviceFlow: createDeviceFlow(context),
    token: createTokenEndpoint(context, accessTokens),
    revoke: createRevocationEndpoint(context, accessTokens),
    introspect: createIntrospectionEndpoint(context, { accessTokens, apiKeys }),
    accessTokens,
    apiKeys,
    grants,
    trustedDevices: createTrustedDevices(context, grants),
    profiles: createProfiles(context),
    metadata: createMetadata(context),
    audit,
    oversight: createOversight(context),
    signer,
    async sweep() {
      const now = clock.now();
      const before = now - Math.max(keptMs, config.accessTokenSeconds * 1000);
      const auditBefore = now - config.auditRetentionDays * dayMs;
      while (await store.acts.sweep({ before, auditBefore, limit: sweepRows }));
    },
  };
}
