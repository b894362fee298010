import type { DatabaseSync } from 'node:sqlite';
import type { BridgeActs } from '@sallyport/bridge/storage';
import type { AuditStamp } from '@sallyport/oauth/storage';
import type { Sync } from './acts.ts';
import { auditWriter } from './oauth-audit-acts.ts';

/** Where the call carries a stamp. */
type DeleteSession = Parameters<BridgeActs['deleteSession']>[0] & { readonly stamp?: AuditStamp };

/**
 * The bridge's acts, of which one is audited: who deletes another's session. The record says who created a session; once it
 * is gone, nothing else would say who took it away.
 */
export function withBridgeAudit(db: DatabaseSync, acts: Sync<BridgeActs>): Sync<BridgeActs> {
  const write = auditWriter(db);
  return {
    ...acts,
    deleteSession({ stamp, ...argument }: DeleteSession) {
      const deleted = acts.deleteSession(argument);
      if (!deleted || !stamp || stamp.actor?.id === deleted.accountId) return deleted;
      const { accountId, organizationId, environmentId } = deleted;
      write(
        {
          action: 'session.delete',
          outcome: 'done',
          by: 'unknown',
          accountId,
          organizationId,
          subject: argument.sessionId,
          details: { environment_id: environmentId },
        },
        stamp,
      );
      return deleted;
    },
  };
}
