import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ServiceError } from '@sallyport/core';
import type { ProcessIdentity } from './process-identity.ts';

const SQLITE_BUSY = 5;

/** Which environment this bridge is: what a restart goes on with. */
export interface Pointer {
  readonly environment_id: string;
  readonly worker_id: string;
  /** Rises with each registration. */
  readonly generation: number;
}

/** A session that was started here; `process` is added in the same tick in which it was spawned. */
export interface SessionRecord {
  readonly session_id: string;
  readonly work_id: string;
  readonly environment_id: string;
  readonly process?: ProcessIdentity;
}

/**
 * The files of one bridge, `STATE_DIR/<key>/{pointer.json, lock.db, sessions/<id>.json}`; the key is made of service,
 * directory and name. Writing is synchronous, so that a process and the record of it appear in one tick.
 */
export class BridgeState {
  readonly #folder: string;
  readonly #sessions: string;

  constructor(stateDir: string, identity: readonly string[]) {
    const key = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
    this.#folder = join(stateDir, key);
    this.#sessions = join(this.#folder, 'sessions');
    mkdirSync(this.#sessions, { recursive: true, mode: 0o700 });
  }

  /**
   * Makes this process the only bridge on these files; gives the release. `conflict`: another one lives. The lock is
   * SQLite's own, so the kernel frees it however the holder ends, and no two find it stale.
   */
  lock(): () => void {
    const db = new DatabaseSync(join(this.#folder, 'lock.db'), { timeout: 200 });
    try {
      db.exec('CREATE TABLE IF NOT EXISTS holder (pid INTEGER); BEGIN IMMEDIATE; DELETE FROM holder');
      db.prepare('INSERT INTO holder VALUES (?)').run(process.pid);
      // Committed, so that others can read it beside the lock, which is taken again at once.
      db.exec('COMMIT; BEGIN IMMEDIATE');
      return () => db.close();
    } catch (error) {
      const isHeld = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
      const holder = isHeld ? db.prepare('SELECT pid FROM holder').get() : undefined;
      db.close();
      if (!isHeld) throw error;
      const pid = typeof holder?.['pid'] === 'number' ? ` (pid ${holder['pid']})` : '';
      throw new ServiceError('conflict', `A bridge for this directory runs already${pid}.`);
    }
  }

  get pointer(): Pointer | undefined {
    const pointer = read(join(this.#folder, 'pointer.json')) as Partial<Pointer> | undefined;
    if (typeof pointer?.environment_id !== 'string' || typeof pointer.worker_id !== 'string')
      return undefined;
    return {
      environment_id: pointer.environment_id,
      worker_id: pointer.worker_id,
      generation: Number(pointer.generation) || 0,
    };
  }

  savePointer(pointer: Pointer): void {
    replace(join(this.#folder, 'pointer.json'), pointer);
  }

  removePointer(): void {
    rmSync(join(this.#folder, 'pointer.json'), { force: true });
  }

  get sessions(): readonly SessionRecord[] {
    return readdirSync(this.#sessions)
      .filter((name) => name.endsWith('.json'))
      .map((name) => read(join(this.#sessions, name)) as SessionRecord | undefined)
      .filter((record): record is SessionRecord => typeof record?.session_id === 'string');
  }

  saveSession(record: SessionRecord): void {
    replace(join(this.#sessions, `${record.session_id}.json`), record);
  }

  removeSession(sessionId: string): void {
    rmSync(join(this.#sessions, `${sessionId}.json`), { force: true });
  }
}

/** A missing or torn file counts as none: all of them can be made anew. */
function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Durable before it is in place: a machine that loses power has the old record or the new one. */
function replace(file: string, value: unknown): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, JSON.stringify(value), { mode: 0o600, flag: 'wx', flush: true });
  renameSync(draft, file);
}
