import { stripVTControlCharacters } from 'node:util';
import { printable } from './printable.ts';
import type { AuditEntry } from './schemas/admin.ts';

/** An entry for a person: `2026-01-01T00:00:00.000Z  api_key.revoke  by ann@example.com  of bob@example.com  3f2c...  from 10.0.0.7`. */
export function auditLine({ at, action, outcome, actor, account, subject, address }: AuditEntry): string {
  const who = actor.email ?? (actor.type === 'unknown' ? 'somebody' : `${actor.type} ${actor.id ?? ''}`);
  const isOwn = account === null || account.id === actor.id;
  const parts = [
    at,
    outcome === 'done' ? action : `${action} failed`,
    `by ${who}`,
    isOwn ? '' : `of ${account.email ?? account.id}`,
    subject ?? '',
    address === null ? '' : `from ${address}`,
  ];
  // Names come from others: nothing of them may move the cursor.
  return printable(stripVTControlCharacters(parts.filter((part) => part !== '').join('  ')));
}
