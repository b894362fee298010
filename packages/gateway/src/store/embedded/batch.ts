import type { DatabaseSync } from 'node:sqlite';
import type { BatchLimits, Call, Reply } from './protocol.ts';
import { select } from './query.ts';
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
  const rollback = db.prepare('ROLLBACK');
  const savepoint = db.prepare('SAVEPOINT act');
  const release = db.prepare('RELEASE act');
  const undo = db.prepare('ROLLBACK TO act');
  const changes = select<{ made: number }>(db, 'SELECT total_changes() AS made');

  const valueOf = ({ area, act, argument }: Call) => (areas[area] as Acts)[act]?.(argument);
  const made = () => changes.get()?.made;

  /**
   * Gives nothing where the act has written and then thrown: it can only be undone with all that went before. Nearly all
   * judge first, and a savepoint keeps a copy of each page that is written after it.
   */
  function runBare(call: Call): Reply | undefined {
    const before = made();
    try {
      return { id: call.id, value: valueOf(call) };
    } catch (error) {
      // A full disk or an I/O error makes SQLite roll the whole transaction back (sqlite.org/lang_transaction.html).
      if (!db.isTransaction) throw error;
      return made() === before ? refusal(call, error) : undefined;
    }
  }

  function runApart(call: Call): Reply {
    savepoint.run();
    try {
      const value = valueOf(call);
      release.run();
      return { id: call.id, value };
    } catch (error) {
      if (!db.isTransaction) throw error;
      undo.run();
      release.run();
      return refusal(call, error);
    }
  }

  return (queue) => {
    let taken = 0;

    function runAll(run: (call: Call) => Reply | undefined): Reply[] | undefined {
      const replies: Reply[] = [];
      taken = 0;
      begin.run();
      const until = performance.now() + limits.ms;
      for (const call of queue) {
        taken++;
        const reply = run(call);
        if (reply === undefined) return undefined;
        replies.push(reply);
        if (taken >= limits.acts || performance.now() >= until) break;
      }
      return replies;
    }

    try {
      let replies = runAll(runBare);
      if (replies === undefined) {
        rollback.run();
        replies = runAll(runApart) ?? [];
      }
      commit.run();
      queue.splice(0, taken);
      return replies;
    } catch (error) {
      if (db.isTransaction) rollback.run();
      const thrown = toThrown(storeUnavailable(error) ?? error);
      // Not even begun: all that wait have waited as long, and would wait again one after the other.
      return queue.splice(0, taken || queue.length).map(({ id }) => ({ id, thrown }));
    }
  };
}

function refusal({ id }: Call, error: unknown): Reply {
  return { id, thrown: toThrown(storeUnavailable(error) ?? error) };
}
