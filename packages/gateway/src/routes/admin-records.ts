import { toTimestamp, type Dialect } from '@sallyport/core';
import {
  scopeToWire,
  type ApiKey,
  type Client,
  type Oversight,
  type OrganizationMember,
} from '@sallyport/oauth/server';

// What administration shows of records; of secrets there is nothing in them.

type Listed<Name extends 'apiKeys' | 'devices' | 'logins' | 'sessions'> = Awaited<
  ReturnType<Oversight[Name]>
>['items'][number];

export function shownPerson({ id, email, role, hasPassword, createdAt }: OrganizationMember) {
  return { id, email, role, has_password: hasPassword, created_at: toTimestamp(createdAt) };
}

/** In the words of RFC 7591. */
export function shownClient(client: Client, dialect: Dialect) {
  const { id, name, redirectUris, grantTypes, scope, createdAt } = client;
  return {
    client_id: id,
    client_name: name,
    redirect_uris: [...redirectUris],
    grant_types: [...grantTypes],
    scope: scopeToWire(scope, dialect),
    created_at: toTimestamp(createdAt),
  };
}

export function shownApiKey(key: Listed<'apiKeys'>, dialect: Dialect) {
  return { ...shownKey(key, dialect), account: owner(key) };
}

/** A key as its owner is shown it. */
export function shownKey(key: ApiKey, dialect: Dialect) {
  const { id, name, scope, createdAt, expiresAt, lastUsedAt } = key;
  return {
    id,
    name,
    scope: scopeToWire(scope, dialect),
    created_at: toTimestamp(createdAt),
    expires_at: orNull(expiresAt),
    last_used_at: orNull(lastUsedAt),
  };
}

export function shownDevice(device: Listed<'devices'>) {
  const { id, displayName, createdAt, lastUsedAt } = device;
  return {
    id,
    account: owner(device),
    display_name: displayName,
    created_at: toTimestamp(createdAt),
    last_used_at: orNull(lastUsedAt),
  };
}

export function shownLogin(login: Listed<'logins'>, dialect: Dialect) {
  const { id, clientId, clientName, scope, address, createdAt, rotations, idleExpiresAt, expiresAt } = login;
  return {
    id,
    account: owner(login),
    client_id: clientId,
    client_name: clientName,
    scope: scopeToWire(scope, dialect),
    address,
    created_at: toTimestamp(createdAt),
    refreshed_at: orNull(rotations[0] ?? null),
    expires_at: toTimestamp(Math.min(idleExpiresAt, expiresAt)),
  };
}

export function shownSession(session: Listed<'sessions'>) {
  const { id, address, userAgent, createdAt, expiresAt } = session;
  return {
    id,
    account: owner(session),
    address,
    user_agent: userAgent,
    created_at: toTimestamp(createdAt),
    expires_at: toTimestamp(expiresAt),
  };
}

function owner({ accountId, email }: { readonly accountId: string; readonly email: string }) {
  return { id: accountId, email };
}

function orNull(at: number | null): string | null {
  return at === null ? null : toTimestamp(at);
}
