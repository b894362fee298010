import { ServiceError } from '@sallyport/core';
import { endedBefore, type Context } from './context.ts';
import { tellRevocation } from './grants.ts';
import type { Client, Family, LoginOwner } from './records.ts';

/** A login as its account is shown it. */
export interface Login extends Pick<
  Family,
  'id' | 'accountId' | 'organizationId' | 'scope' | 'address' | 'createdAt'
> {
  readonly client: Pick<Client, 'id' | 'name'>;
  /** When its tokens were last renewed: a program at work does so every `accessTokenSeconds`. */
  readonly refreshedAt: number | null;
  /** When it ends, unless it is renewed before. */
  readonly expiresAt: number;
}

/** Programs that a person has logged in. */
export interface Logins {
  /** Newest first; at most 1000. */
  list(owner: LoginOwner): Promise<readonly Login[]>;
  /** All tokens of the login end, and what was opened with them. Throws `not_found` where the owner has no such login. */
  revoke(familyId: string, owner: LoginOwner): Promise<void>;
}

/** Most logins that a list shows. */
const maxListed = 1000;

export function createLogins(context: Context): Logins {
  const { store, clock, log } = context;
  return {
    async list({ accountId, organizationId }) {
      const families = await store.reads.families({
        accountId,
        organizationId,
        endedBefore: endedBefore(context),
        limit: maxListed,
      });
      return families.map(shownLogin);
    },
    async revoke(familyId, { accountId, organizationId }) {
      const of = { accountId, organizationId };
      if (!(await store.acts.revokeFamily({ familyId, of, now: clock.now() })))
        throw new ServiceError('not_found', 'There is no such login.');
      tellRevocation(context);
      log.info({ familyId, ...of }, 'a login was revoked');
    },
  };
}

function shownLogin(family: Family & { readonly clientName: string }): Login {
  const { id, accountId, organizationId, scope, address, createdAt, rotations } = family;
  return {
    id,
    accountId,
    organizationId,
    scope,
    address,
    createdAt,
    client: { id: family.clientId, name: family.clientName },
    refreshedAt: rotations[0] ?? null,
    expiresAt: Math.min(family.idleExpiresAt, family.expiresAt),
  };
}
