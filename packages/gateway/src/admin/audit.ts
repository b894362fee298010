import { didYouMean } from '@sallyport/core';
import { auditLine } from '@sallyport/core/audit-line';
import { auditActions, type AuditAction } from '@sallyport/core/contract';
import { shownAuditEntry, type Audit, type AuditQuery } from '@sallyport/oauth/server';
import { findAccount } from './accounts.ts';
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
  return withAuthorizationServer(flags, async ({ accounts, audit }) => {
    // An address that is nobody's is a slip of the pen, and no answer to what was asked.
    if (actor?.includes('@')) await findAccount(accounts, actor);
    const entries = entriesOf(audit, { since, actor, action, limit });
    if (json || !process.stdout.isTTY) return printList(entries);
    let isEmpty = true;
    for await (const entry of entries) {
      isEmpty = false;
      process.stdout.write(`${auditLine(entry)}\n`);
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
