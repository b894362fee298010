import { readPage, ServiceError, type Page } from '@sallyport/core';
import type { Owned } from './admin-ports.ts';
import { endedBefore, type Context } from './context.ts';
import { tellRevocation } from './grants.ts';
import type { ApiKey, Family, Session, TrustedDevice } from './records.ts';

export interface PageQuery {
  readonly limit: number;
  /** Of the page before. */
  readonly offset?: string | undefined;
}

type OwnedLogin = Owned<Family> & { readonly clientName: string | null };

/**
 * What an organization's members may call with, for its admins to see and to end. Lists are newest first, and have what
 * stands alone; ending what the organization has not is `not_found`. A session is the account's for all its organizations:
 * an admin of any of them may end it, which costs the person no more than signing in anew.
 */
export interface Oversight {
  apiKeys(organizationId: string, query: PageQuery): Promise<Page<Owned<ApiKey>>>;
  revokeApiKey(organizationId: string, keyId: string): Promise<void>;
  devices(organizationId: string, query: PageQuery): Promise<Page<Owned<TrustedDevice>>>;
  revokeDevice(organizationId: string, deviceId: string): Promise<void>;
  logins(organizationId: string, query: PageQuery): Promise<Page<OwnedLogin>>;
  revokeLogin(organizationId: string, familyId: string): Promise<void>;
  sessions(organizationId: string, query: PageQuery): Promise<Page<Owned<Session>>>;
  endSession(organizationId: string, sessionId: string): Promise<void>;
}

export function createOversight(context: Context): Oversight {
  const { store, clock, log } = context;
  const { acts, reads } = store;

  function ended(what: string, id: string, organizationId: string, isNew: boolean | undefined): void {
    if (!isNew) throw new ServiceError('not_found', `There is no such ${what}.`);
    tellRevocation(context);
    log.info({ id, organizationId }, `an admin ended a member's ${what}`);
  }

  return {
    apiKeys: (organizationId, query) =>
      readPage(query, (part) => reads.organizationApiKeys({ organizationId, now: clock.now(), ...part })),
    async revokeApiKey(organizationId, keyId) {
      const now = clock.now();
      const key = await acts.revokeApiKey({ keyId, accountId: undefined, organizationId, now });
      ended('API key', keyId, organizationId, key?.isNew);
    },

    devices: (organizationId, query) =>
      readPage(query, (part) => reads.organizationDevices({ organizationId, ...part })),
    async revokeDevice(organizationId, deviceId) {
      const now = clock.now();
      const device = await acts.revokeTrustedDevice({ deviceId, accountId: undefined, organizationId, now });
      ended('trusted device', deviceId, organizationId, device?.isNew);
    },

    logins: (organizationId, query) =>
      readPage(query, (part) =>
        reads.organizationLogins({ organizationId, endedBefore: endedBefore(context), ...part }),
      ),
    async revokeLogin(organizationId, familyId) {
      const revoked = await acts.revokeFamily({ familyId, of: { organizationId }, now: clock.now() });
      ended('login', familyId, organizationId, revoked?.isNew);
    },

    sessions: (organizationId, query) =>
      readPage(query, (part) => reads.memberSessions({ organizationId, now: clock.now(), ...part })),
    async endSession(organizationId, sessionId) {
      const owner = await acts.endMemberSession({ sessionId, organizationId });
      ended('sign-in', sessionId, organizationId, owner !== undefined);
    },
  };
}
