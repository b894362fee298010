// The thread that owns the one writing connection: an fsync here never stalls a stream there.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { StoreContents } from './acts.ts';
import { createBatchRunner } from './batch.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import type { Call, FromWriter, Reply, ToWriter, WriterData } from './protocol.ts';
import { openingError } from './store-error.ts';
import { toThrown } from './thrown.ts';

if (parentPort === null) throw new Error('The writer runs as a worker thread only.');
const port = parentPort;
const { path, contents, limits, migrate: apply } = workerData as WriterData;

try {
  const { areas, migrations } = (await import(contents)) as StoreContents;
  const db = openDatabase(path);
  migrate(db, migrations, { now: Date.now(), apply });
  const acts = Object.fromEntries(Object.entries(areas).map(([area, make]) => [area, { ...make(db) }]));
  const runBatch = createBatchRunner(db, acts, limits);
  const queue: Call[] = [];

  port.on('message', (first: ToWriter) => {
    let closing = !take(first);
    do {
      // What came while the last batch was committed makes the next one.
      for (let more; !closing && (more = receiveMessageOnPort(port) as { message: ToWriter } | undefined);)
        closing = !take(more.message);
      if (queue.length > 0) answer(runBatch(queue));
    } while (queue.length > 0);
    if (!closing) return;
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    port.close();
  });

  function take(message: ToWriter): boolean {
    if (message === 'close') return false;
    for (const call of message) queue.push(call);
    return true;
  }

  send({ ready: Object.fromEntries(Object.entries(acts).map(([area, of]) => [area, Object.keys(of)])) });
} catch (error) {
  send({ failed: toThrown(openingError(path, error)) });
}

function answer(replies: Reply[]): void {
  try {
    send(replies);
  } catch {
    // One answer that cannot be cloned must not cost the others theirs.
    for (const reply of replies) {
      try {
        send([reply]);
      } catch (error) {
        send([{ id: reply.id, thrown: toThrown(error) }]);
      }
    }
  }
}

function send(message: FromWriter): void {
  port.postMessage(message);
}
