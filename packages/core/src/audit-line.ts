import { stripVTControlCharacters } from 'node:util';
import { printable } from './printable.ts';
import type { AuditEntry } from './schemas/admin.ts';

/** What an entry says besides, as far as a person asks for it; the ids are for programs. */
const tellingDetails = [
  'role',
  'name',
  'organization_type',
  'rate_limit_tier',
  'capabilities',
  'grant',
  'reason',
  'sessions',
  'until',
] as const;

/**
 * An entry for a person: `2026-01-01T00:00:00.000Z  membership.set  by ann@example.com  of bob@example.com  role admin  from 10.0.0.7`.
 * `organization`: whose it is, where it may be of several.
 */
export function auditLine(entry: AuditEntry, organization = ''): string {
  const { at, action, outcome, actor, account, subject, details, address } = entry;
  const who = actor.email ?? (actor.type === 'unknown' ? 'somebody' : `${actor.type} ${actor.id ?? ''}`);
  const isOwn = account === null || account.id === actor.id;
  const parts = [
    at,
    outcome === 'done' ? action : `${action} failed`,
    `by ${who}`,
    isOwn ? '' : `of ${account.email ?? account.id}`,
    organization === '' ? '' : `in ${organization}`,
    subject ?? '',
    ...tellingDetails.map((name) => shownDetail(name, details[name])),
    address === null ? '' : `from ${address}`,
  ];
  // Names come from others: nothing of them may move the cursor.
  return printable(stripVTControlCharacters(parts.filter((part) => part !== '').join('  ')));
}

function shownDetail(name: string, value: unknown): string {
  const text = Array.isArray(value) ? value.join(', ') : value;
  const isShown = typeof text === 'number' || (typeof text === 'string' && text !== '');
  return isShown ? `${name.replaceAll('_', ' ')} ${text}` : '';
}
