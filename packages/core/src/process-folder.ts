import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { identify } from './process-identity.ts';

/**
 * Makes a folder for this process alone, in `parent`. Its name says whose it is: where a process was killed before it removed
 * its own, the next one that makes a folder of that `kind` does.
 */
export function makeProcessFolder(parent: string, kind: string): string {
  for (const name of readdirSync(parent)) {
    const [, pid, mark] = name.startsWith(kind) ? (ownedName.exec(name.slice(kind.length)) ?? []) : [];
    if (pid !== undefined && markOf(Number(pid)) !== mark) remove(join(parent, name));
  }
  return mkdtempSync(join(parent, `${kind}${process.pid}-${markOf(process.pid)}-`));
}

/** What `mkdtemp` adds is six letters and digits. */
const ownedName = /^(\d+)-([0-9a-f]{12})-\w{6}$/;

/** Tells a process from another one of the same pid; a text that none has where there is no such process. */
function markOf(pid: number): string {
  const identity = identify(pid);
  if (identity === undefined) return '';
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 12);
}

/** Another user's, or one that somebody else removes at the moment, stays as it is. */
function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It is looked at again by whoever comes next.
  }
}
