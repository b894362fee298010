// The thread that owns the one writing connection: an fsync here never stalls a stream there.
import type { DatabaseSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { StoreContents } from './acts.ts';
import { createBatchRunner } from './batch.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import type { Call, FromWriter, Reply, ToWriter, WriterData } from './protocol.ts';
import { checkSoundness } from './soundness.ts';
import { openingError } from './store-error.ts';
import { toThrown } from './thrown.ts';

if (parentPort === null) throw new Error('The writer runs as a worker thread only.');
const port = parentPort;
const { path, contents, limits, migrate: apply, check } = workerData as WriterData;

try {
  const { areas, migrations } = (await import(contents)) as StoreContents;
  serve(open(migrations), areas);
} catch (error) {
  send({ failed: toThrown(openingError(path, error)) });
}

function open(migrations: StoreContents['migrations']): DatabaseSync {
  const db = openDatabase(path);
  try {
    if (check !== undefined) checkSoundness(db, path, check);
    migrate(db, migrations, { now: Date.now(), apply, onNotice: (notice) => send({ notice }) });
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function serve(db: DatabaseSync, areas: StoreContents['areas']): void {
  const acts = Object.fromEntries(Object.entries(areas).map(([area, make]) => [area, make(db)]));
  const runBatch = createBatchRunner(db, acts, limits);
  const queue: Call[] = [];
  let closing = false;

  port.on('message', (first: ToWriter) => {
    take(first);
    do {
      takeWaiting();
      if (queue.length > 0) answer(runBatch(queue));
    } while (queue.length > 0);
    if (!closing) return;
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    port.close();
  });
  send({ ready: Object.fromEntries(Object.entries(acts).map(([area, of]) => [area, Object.keys(of)])) });

  function take(message: ToWriter): void {
    if (message === 'close') closing = true;
    else for (const call of message) queue.push(call);
  }

  /** What came while the last batch was committed makes the next one. */
  function takeWaiting(): void {
    for (let received; (received = receiveMessageOnPort(port) as { message: ToWriter } | undefined);)
      take(received.message);
  }
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
