import { execFile as execFileWithCallback } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const execFile = promisify(execFileWithCallback);

/** What every process of one session's work carries in its environment. */
export interface Mark {
  readonly sessionId: string;
  readonly workId: string;
}

export function markVariables({ sessionId, workId }: Mark): Record<string, string> {
  return { SALLYPORT_SESSION_ID: sessionId, SALLYPORT_WORK_ID: workId };
}

/** Ends a whole process group; `false`: there is none. Only for a group that was made for the purpose. */
export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/**
 * Kills all of a session: what carries the mark, then the group. In this order, because the watcher (`lifeline.ts`) is of the
 * group and not marked: if this process is killed in between, the watcher is there to finish.
 */
export async function killTree(leader: number, mark: Mark): Promise<void> {
  await sweep(mark);
  signalGroup(leader, 'SIGKILL');
}

/**
 * Kills what carries the mark, wherever it moved to: `setsid` leaves the group but keeps the environment. Looks again until
 * nothing is found, for processes that fork meanwhile.
 */
export async function sweep(mark: Mark, platform: NodeJS.Platform = process.platform): Promise<void> {
  const entries = Object.entries(markVariables(mark)).map(([name, value]) => `${name}=${value}`);
  for (let round = 0; round < 5; round += 1) {
    const found = await (platform === 'linux' ? markedOfProc(entries) : markedOfPs(entries));
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
  }
}

async function markedOfProc(entries: readonly string[]): Promise<number[]> {
  // Out of file descriptors nobody can be looked for: the group is ended nevertheless.
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const marked = pids.map(async (pid) => {
    // Another user's process, or one that is gone by now, is none of ours.
    const text = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    const variables = text.split('\0');
    return entries.every((entry) => variables.includes(entry));
  });
  const isMarked = await Promise.all(marked);
  return pids.filter((pid, index) => isMarked[index] === true && pid !== process.pid);
}

/** macOS: `-E` has each command's environment behind it. A system without such a `ps` has the group alone. */
async function markedOfPs(entries: readonly string[]): Promise<number[]> {
  const ps = execFile('ps', ['-axEww', '-o', 'pid=,command='], { maxBuffer: 64 * 1024 * 1024 });
  const { stdout } = await ps.catch(() => ({ stdout: '' }));
  return stdout.split('\n').flatMap((line) => {
    const words = line.trim().split(' ');
    return entries.every((entry) => words.includes(entry)) ? [Number(words[0])] : [];
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it went by itself
  }
}
