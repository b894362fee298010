import type { FeedbackBundle, FeedbackReads } from '@sallyport/telemetry/storage';
import type { Reader } from './reader.ts';

/** The feedback's bounded reads on SQLite. */
export function feedbackReads(reader: Reader): FeedbackReads {
  const columns = `id, organization_id AS organizationId, account_id AS accountId, created_at AS createdAt,
    description, file_name AS fileName, bytes, entries, sha256`;
  const list = reader.query<FeedbackBundle>(
    `SELECT ${columns} FROM feedback_bundle ORDER BY created_at DESC, id DESC LIMIT ?`,
  );
  const find = reader.query<FeedbackBundle>(`SELECT ${columns} FROM feedback_bundle WHERE id = ?`);
  const ofAccount = reader.query<FeedbackBundle>(
    `SELECT ${columns} FROM feedback_bundle WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?`,
  );
  const ofOrganization = reader.query<FeedbackBundle>(
    `SELECT ${columns} FROM feedback_bundle WHERE organization_id = ? ORDER BY id LIMIT ?`,
  );
  return {
    listBundles: async ({ limit }) => list.all(limit),
    accountBundles: async ({ accountId, after, limit }) => ofAccount.all(accountId, after, limit),
    organizationBundles: async ({ organizationId, limit }) => ofOrganization.all(organizationId, limit),
    findBundle: async ({ id }) => find.get(id),
  };
}
