import type { DatabaseSync } from 'node:sqlite';
import type { BatchLimits, Call, Reply } from './protocol.ts';
import { storeUnavailable } from './store-error.ts';
import { toThrown } from './thrown.ts';

type Acts = Readonly<Record<string, (argument: unknown) => unknown>>;

/**
 * Group commit: the returned function takes calls off the head of `queue` until a limit is met, runs them in one
 * transaction and gives a reply for each. An act that throws undoes itself alone. If the transaction cannot begin,
 * hold or commit, none of its acts holds and every reply says so: an act's refusal, too, rested on what is undone.
 */
export function createBatchRunner(
  db: DatabaseSync,
  areas: Readonly<Record<string, object>>,
  limits: BatchLimits,
): (queue: Call[]) => Reply[] {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT act');
  const release = db.prepare('RELEASE act');
  const undo = db.prepare('ROLLBACK TO act');

  function run({ id, area, act, argument }: Call): Reply {
    try {
      savepoint.run();
      const value = (areas[area] as Acts)[act]?.(argument);
      release.run();
      return { id, value };
    } catch (error) {
      // A full disk or an I/O error makes SQLite roll the whole transaction back (sqlite.org/lang_transaction.html).
      if (!db.isTransaction) throw error;
      undo.run();
      release.run();
      return { id, thrown: toThrown(storeUnavailable(error) ?? error) };
    }
  }

  return (queue) => {
    const replies: Reply[] = [];
    let taken = 0;
    try {
      begin.run();
      const until = performance.now() + limits.ms;
      for (const call of queue) {
        taken++;
        replies.push(run(call));
        if (taken >= limits.acts || performance.now() >= until) break;
      }
      commit.run();
      queue.splice(0, taken);
      return replies;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      const thrown = toThrown(storeUnavailable(error) ?? error);
      // Not even begun: all that wait have waited as long, and would wait again one after the other.
      return queue.splice(0, taken || queue.length).map(({ id }) => ({ id, thrown }));
    }
  };
}
