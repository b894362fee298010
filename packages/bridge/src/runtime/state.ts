import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFull, whyNotWritten } from '@sallyport/core';
import { makeDirectory } from '@sallyport/core/directory';
import { replaceFileSync } from '@sallyport/core/replace-file';
import type { ProcessIdentity } from '@sallyport/core/process-identity';
import { lockDirectory, lockHolder } from './directory-lock.ts';
import { RuntimeError } from './runtime-error.ts';

/** Whose files they are: the service's address, the directory, and the bridge's name. */
export interface BridgeIdentity {
  readonly base_url: string;
  readonly directory: string;
  readonly name: string;
}

/** Which environment this bridge is: what a restart goes on with. */
export interface Pointer {
  readonly environment_id: string;
  readonly worker_id: string;
  /** Rises with each registration. */
  readonly generation: number;
  /** Where the service gives it hints. */
  readonly bridge_ws_url?: string;
}

/**
 * A session that is, or is about to be, the work of this bridge: written before its work is acknowledged. `process` is added
 * in the same tick in which it was spawned.
 */
export interface SessionRecord {
  readonly session_id: string;
  readonly work_id: string;
  readonly environment_id: string;
  /**
   * What a later bridge finds of it is to be ended: its process may have been spawned, or the bridge gave it up. Without it
   * nothing of it ever was, and it is still to be run.
   */
  readonly must_end?: true;
  readonly process?: ProcessIdentity;
}

/**
 * The files of one bridge, `STATE_DIR/<key>/{bridge.json, pointer.json, lock.db, holder.json, sessions/<id>.json}`; the key is
 * made of service, directory and name, which `bridge.json` tells. Writing is synchronous, so that a process and the record
 * of it appear in one tick.
 */
export class BridgeState {
  readonly #folder: string;
  readonly #sessions: string;
  readonly #identity: readonly string[];

  constructor(stateDir: string, identity: readonly string[]) {
    this.#identity = identity;
    const key = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
    this.#folder = join(stateDir, key);
    this.#sessions = join(this.#folder, 'sessions');
    explaining(this.#folder, () => makeDirectory(this.#sessions));
  }

  /**
   * Makes this process the only bridge on these files; gives the release. `conflict`: another one lives; `state_failed`:
   * they cannot be written.
   */
  lock(): () => void {
    const [base_url = '', directory = '', name = ''] = this.#identity;
    const identity: BridgeIdentity = { base_url, directory, name };
    return explaining(this.#folder, () => {
      const unlock = lockDirectory(this.#folder);
      try {
        replaceFileSync(join(this.#folder, 'bridge.json'), JSON.stringify(identity));
        return unlock;
      } catch (error) {
        unlock();
        throw error;
      }
    });
  }

  /** Where whatever else the bridge keeps has its place. */
  get folder(): string {
    return this.#folder;
  }

  /** The process that has the lock now, which is the bridge itself. */
  get holder(): number | undefined {
    return lockHolder(this.#folder);
  }

  get pointer(): Pointer | undefined {
    const pointer = read(join(this.#folder, 'pointer.json')) as Partial<Pointer> | undefined;
    if (typeof pointer?.environment_id !== 'string' || typeof pointer.worker_id !== 'string')
      return undefined;
    return {
      environment_id: pointer.environment_id,
      worker_id: pointer.worker_id,
      generation: Number(pointer.generation) || 0,
      ...(typeof pointer.bridge_ws_url === 'string' && { bridge_ws_url: pointer.bridge_ws_url }),
    };
  }

  savePointer(pointer: Pointer): void {
    replaceFileSync(join(this.#folder, 'pointer.json'), JSON.stringify(pointer));
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
    replaceFileSync(join(this.#sessions, `${record.session_id}.json`), JSON.stringify(record));
  }

  removeSession(sessionId: string): void {
    rmSync(join(this.#sessions, `${sessionId}.json`), { force: true });
  }
}

/** The bridges that were ever run on these files; a folder that is none of theirs is passed over. */
export function knownBridges(stateDir: string): readonly BridgeIdentity[] {
  if (!existsSync(stateDir)) return [];
  return readdirSync(stateDir)
    .map((key) => read(join(stateDir, key, 'bridge.json')) as Partial<BridgeIdentity> | undefined)
    .filter((identity): identity is BridgeIdentity => typeof identity?.directory === 'string');
}

/** Says of what the file system refuses where it was, and what to do. */
function explaining<T>(folder: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof RuntimeError) throw cause;
    const nextStep = isDiskFull(cause)
      ? 'make room on that disk'
      : 'make the folder writable for this account';
    throw new RuntimeError(
      'state_failed',
      `The bridge's files in ${folder} cannot be written: ${whyNotWritten(cause)}; ${nextStep}.`,
      { cause },
    );
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
