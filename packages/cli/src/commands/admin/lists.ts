import { contract } from '@sallyport/core/contract';
import { ago } from '../../io/ago.ts';
import { listing } from './listing.ts';

// What an admin can look at, one command each.

const { admin } = contract;
const agoOrNever = (at: string | null, now: number) => (at === null ? 'never' : ago(at, now));

export const people = listing(admin.listPeople, {
  header: ['EMAIL', 'ROLE', 'PASSWORD', 'ADDED', 'ID'],
  row: ({ email, role, has_password, created_at, id }, now) => [
    email,
    role,
    has_password ? 'set' : 'not set',
    ago(created_at, now),
    id,
  ],
  none: 'Nobody is a member.',
});

export const keys = listing(admin.listApiKeys, {
  header: ['ID', 'WHOSE', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES', 'SCOPE'],
  row: ({ id, account, name, created_at, last_used_at, expires_at, scope }, now) => [
    id,
    account.email,
    name ?? '-',
    ago(created_at, now),
    agoOrNever(last_used_at, now),
    expires_at ?? 'never',
    scope,
  ],
  none: 'No member has an API key.',
});

export const devices = listing(admin.listDevices, {
  header: ['ID', 'WHOSE', 'NAME', 'CREATED', 'LAST USED'],
  row: ({ id, account, display_name, created_at, last_used_at }, now) => [
    id,
    account.email,
    display_name,
    ago(created_at, now),
    agoOrNever(last_used_at, now),
  ],
  none: 'No member has a trusted device.',
});

export const logins = listing(admin.listLogins, {
  header: ['ID', 'WHOSE', 'PROGRAM', 'FROM', 'CREATED', 'REFRESHED', 'EXPIRES'],
  row: ({ id, account, client_name, client_id, address, created_at, refreshed_at, expires_at }, now) => [
    id,
    account.email,
    client_name ?? client_id,
    address ?? '-',
    ago(created_at, now),
    agoOrNever(refreshed_at, now),
    expires_at,
  ],
  none: 'No member is logged in with a program.',
});

export const signIns = listing(admin.listSignIns, {
  header: ['ID', 'WHOSE', 'FROM', 'CREATED', 'EXPIRES'],
  row: ({ id, account, address, created_at, expires_at }, now) => [
    id,
    account.email,
    address ?? '-',
    ago(created_at, now),
    expires_at,
  ],
  none: 'No member is signed in with a browser.',
});

export const clients = listing(admin.listClients, {
  header: ['ID', 'NAME', 'SCOPE', 'REDIRECT URIS'],
  row: ({ client_id, client_name, scope, redirect_uris }) => [
    client_id,
    client_name,
    scope,
    redirect_uris.join(' '),
  ],
  none: 'No client is registered.',
});
