import { DatabaseSync } from 'node:sqlite';
import type { OAuthStore } from '@sallyport/oauth/server';
import { migrations } from '../../src/store/embedded/contents.ts';
import { oauthActs } from '../../src/store/embedded/oauth-acts.ts';
import { oauthReads } from '../../src/store/embedded/oauth-reads.ts';
import { select } from '../../src/store/embedded/query.ts';

/** The real acts and reads over one in-memory database, each act in a transaction of its own, without the writer's thread. */
export function openMemoryStore(): OAuthStore & { readonly db: DatabaseSync } {
  const db = new DatabaseSync(':memory:');
  for (const { sql } of migrations) db.exec(sql);
  const acts = Object.fromEntries(
    Object.entries(oauthActs(db)).map(([name, act]) => [
      name,
      async (argument: never) => {
        db.exec('BEGIN');
        try {
          // As the writer's thread does: nothing but plain data crosses.
          const answer: unknown = structuredClone(
            (act as (input: never) => unknown)(structuredClone(argument)),
          );
          db.exec('COMMIT');
          return answer;
        } catch (error) {
          db.exec('ROLLBACK');
          throw error;
        }
      },
    ]),
  ) as unknown as OAuthStore['acts'];
  const reads = oauthReads({ query: (sql) => select(db, sql) });
  return { db, acts, reads };
}
