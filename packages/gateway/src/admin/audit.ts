import { didYouMean, systemClock } from '@sallyport/core';
import { auditLine } from '@sallyport/core/audit-line';
import { auditActions, type AuditAction } from '@sallyport/core/contract';
import type { Moment } from '@sallyport/core/duration';
import { shownAuditEntry, type Audit, type AuditQuery } from '@sallyport/oauth/server';
import { findAccount } from './accounts.ts';
import { withAuthorizationServer } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';
import { printList } from './json-document.ts';
import { organizationNamed } from './organization-named.ts';

export interface AuditFlags extends ConfigFlags {
  readonly since?: Moment;
  readonly org?: string;
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

/** `admin audit`: what happened in the whole installation, or in one organization, the newest first. */
export function printAudit(flags: AuditFlags): Promise<void> {
  const { org, actor, limit, json = false } = flags;
  const since = flags.since?.(systemClock.now());
  const action = isAction(flags.action) ? flags.action : undefined;
  return withAuthorizationServer(flags, async (server) => {
    // An address that is nobody's is a slip of the pen, and no answer to what was asked.
    if (actor?.includes('@')) await findAccount(server, actor, flags);
    const only = org === undefined ? undefined : await organizationNamed(server, org, flags);
    const page = (query: AuditQuery) =>
      only === undefined ? server.audit.queryAll(query) : server.audit.query(only.id, query);
    const entries = entriesOf(page, { since, actor, action, limit });
    if (json || !process.stdout.isTTY) return printList(entries);
    const shown = only === undefined ? await server.organizations.list() : [only];
    const names = new Map(shown.map(({ id, name }) => [id, name]));
    // Whoever looks at one alone need not be told on every line.
    const organizationOf = ({ organization_id: id }: ShownEntry) =>
      id === null || (names.size === 1 && names.has(id)) ? '' : (names.get(id) ?? id);
    let isEmpty = true;
    for await (const entry of entries) {
      isEmpty = false;
      process.stdout.write(`${auditLine(entry, organizationOf(entry))}\n`);
    }
    if (isEmpty) process.stderr.write('No entry matches.\n');
  });
}

async function* entriesOf(
  page: Audit['queryAll'],
  { limit, ...query }: AuditQuery,
): AsyncIterable<ShownEntry> {
  let left = limit;
  let offset: string | undefined;
  do {
    const { items, next } = await page({ ...query, limit: Math.min(left, pageEntries), offset });
    yield* items.map(shownAuditEntry);
    left -= items.length;
    offset = next;
  } while (left > 0 && offset !== undefined);
}
