import { decodePlace, pageOf, ServiceError, type Page, type ServiceErrorOptions } from '@sallyport/core';
import { deviceGrantType, firstPartyClient, gatewayClient, scopes } from '@sallyport/core/contract';
import type { Context } from './context.ts';
import { tellRevocation } from './grants.ts';
import type { PageQuery } from './oversight.ts';
import { isRedirectUri } from './redirect-uri.ts';
import type { Client, GrantType } from './records.ts';
import { isWithin } from './scopes.ts';

export const allGrantTypes: readonly GrantType[] = ['authorization_code', 'refresh_token', deviceGrantType];

/** The clients of our own programs as records: public, as all are. */
export const ownClients: readonly Omit<Client, 'createdAt'>[] = [
  { ...firstPartyClient, name: 'Sallyport CLI', grantTypes: allGrantTypes, scope: scopes.join(' ') },
  {
    ...gatewayClient,
    name: 'Sallyport gateway',
    grantTypes: [deviceGrantType, 'refresh_token'],
    scope: scopes.join(' '),
  },
];

/** Programs that may ask for tokens. */
export interface Clients {
  /** Throws `invalid_request` for a bad name, redirect URI or scope. */
  add(input: {
    readonly name: string;
    readonly redirectUris: readonly string[];
    /** Neutral names. Default: all. */
    readonly scope?: string;
  }): Promise<Client>;
  get(clientId: string): Promise<Client | undefined>;
  /** Oldest first. Throws `invalid_request` for a bad offset. */
  list(query: PageQuery): Promise<Page<Client>>;
  /** Revokes its logins, too. Throws `not_found`, `conflict` for those of our own programs. */
  remove(clientId: string): Promise<void>;
  /** Throws `forbidden` but to the installation's first organization: clients are not of one organization alone. */
  checkGovernor(organizationId: string): Promise<void>;
}

export function createClients(context: Context): Clients {
  const { store, ids, clock, log } = context;
  return {
    async add({ name, redirectUris, scope = scopes.join(' ') }) {
      if (name.trim() === '' || name.length > 128 || /\p{C}/u.test(name.trim()))
        throw new ServiceError(
          'invalid_request',
          'The client needs a name of at most 128 characters that can be seen.',
        );
      const bad = redirectUris.findIndex((uri) => !isRedirectUri(uri));
      if (bad >= 0)
        throw new ServiceError(
          'invalid_request',
          'A redirect URI must be https, http to a loopback host, or a private-use scheme with a dot; without fragment or user.',
          { issues: [{ path: `redirectUris/${bad}`, message: 'may not be registered' }] },
        );
      if (!isWithin(scope, scopes.join(' ')))
        throw new ServiceError('invalid_scope', `The scopes are ${scopes.join(', ')}.`);
      const client: Client = {
        id: ids.uuid(),
        name: name.trim(),
        redirectUris,
        grantTypes: allGrantTypes,
        scope,
        createdAt: clock.now(),
      };
      await store.acts.addClient({ client });
      return client;
    },
    get: (clientId) => store.reads.client({ clientId }),
    async list({ limit, offset }) {
      const after = offset === undefined ? undefined : decodePlace(offset);
      return pageOf(await store.reads.clients({ after, limit }));
    },
    async remove(clientId) {
      const own = ownClients.find(({ id }) => id === clientId);
      if (own)
        throw new ServiceError('conflict', `This is the client of the ${own.name}: it cannot be removed.`);
      if ((await store.acts.removeClient({ clientId, now: clock.now() })) === 'unknown')
        throw new ServiceError('not_found', 'There is no such client.');
      tellRevocation(context);
      log.info({ clientId }, 'an OAuth client was removed');
    },
    async checkGovernor(organizationId) {
      const { items } = await store.reads.organizations({ after: undefined, limit: 1 });
      if (items[0]?.id !== organizationId)
        throw new ServiceError(
          'forbidden',
          "OAuth clients are the whole installation's: an admin of its first organization adds and removes them.",
        );
    },
  };
}

export function unknownClient(options?: ServiceErrorOptions): ServiceError {
  return new ServiceError('invalid_client', 'The client is not known.', options);
}

/** Throws `unauthorized_client`. */
export function checkGrantType(client: Client, grantType: GrantType): void {
  if (!client.grantTypes.includes(grantType))
    throw new ServiceError('unauthorized_client', 'The client may not use this grant type.');
}
