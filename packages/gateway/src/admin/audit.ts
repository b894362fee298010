import { stripVTControlCharacters } from 'node:util';
import { didYouMean, printable } from '@sallyport/core';
import { auditActions, type AuditAction } from '@sallyport/core/contract';
import { shownAuditEntry, type Audit, type AuditQuery } from '@sallyport/oauth/server';
import { withAuthorizationServer } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';
import { printList } from './json-document.ts';

export interface AuditFlags extends ConfigFlags {
  /** Epoch milliseconds. */
  readonly since?: number;
  readonly actor?: string;
  readonly action?: string;
  readonly limit: number;
  readonly json?: boolean;
}

type ShownEntry = ReturnType<typeof shownAuditEntry>;

const pageEntries = 1000;

/** What to say of an action that there is none of. */
export function unknownAction(action: string | undefined): string | undefined {
  if (action === undefined || isAction(action)) return undefined;
  return `there is no action ${action}. ${didYouMean(action, auditActions) ?? ''}`.trimEnd();
}

function isAction(text: string | undefined): text is AuditAction {
  return (auditActions as readonly (string | undefined)[]).includes(text);
}

/** `admin audit`: what happened in the whole installation, the newest first. */
export function printAudit(flags: AuditFlags): Promise<void> {
  const { since, actor, limit, json = false } = flags;
  const action = isAction(flags.action) ? flags.action : undefined;
  return withAuthorizationServer(flags, async ({ audit }) => {
    const entries = entriesOf(audit, { since, actor, action, limit });
    if (json) return printList(entries);
    let isEmpty = true;
    for await (const entry of entries) {
      isEmpty = false;
      process.stdout.write(`${toLine(entry)}\n`);
    }
    if (isEmpty) process.stderr.write('No entry matches.\n');
  });
}

async function* entriesOf(audit: Audit, { limit, ...query }: AuditQuery): AsyncIterable<ShownEntry> {
  let left = limit;
  let offset: string | undefined;
  do {
    const { items, next } = await audit.queryAll({ ...query, limit: Math.min(left, pageEntries), offset });
    yield* items.map(shownAuditEntry);
    left -= items.length;
    offset = next;
  } while (left > 0 && offset !== undefined);
}

/** `2026-01-01T00:00:00.000Z  api_key.revoke  by ann@example.com  of bob@example.com  3f2c...  from 10.0.0.7`. */
function toLine({ at, action, outcome, actor, account, subject, address }: ShownEntry): string {
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
