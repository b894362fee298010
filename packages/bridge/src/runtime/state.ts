import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '@sallyport/core';
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts';

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
 * The files of one bridge, `STATE_DIR/<key>/{pointer.json, lock.json, sessions/<id>.json}`; the key is made of service,
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

  /** Makes this process the only bridge on these files; gives the release. `conflict`: another one lives. */
  lock(): () => void {
    const file = join(this.#folder, 'lock.json');
    const own = JSON.stringify(identify(process.pid));
    for (let attempt = 0; ; attempt += 1) {
      try {
        const descriptor = openSync(file, 'wx', 0o600);
        writeFileSync(descriptor, own);
        closeSync(descriptor);
        return () => rmSync(file, { force: true });
      } catch (error) {
        if (!isExisting(error) || attempt === 3) throw error;
        const holder = read(file) as ProcessIdentity | undefined;
        if (holder?.pid !== undefined && isAlive(holder))
          throw new ServiceError('conflict', `a bridge for this directory runs already (pid ${holder.pid})`);
        rmSync(file, { force: true });
      }
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

function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

/** A missing or torn file counts as none: all of them can be made anew. */
function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function replace(file: string, value: unknown): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, JSON.stringify(value), { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}
