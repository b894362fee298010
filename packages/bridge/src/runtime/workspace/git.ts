import { spawn, type ChildProcess } from 'node:child_process';
import { reasonOf, type Clock, type Timer } from '@sallyport/core';
import { toError } from '../failure.ts';
import { markVariables, signalGroup, type Mark } from '../process-tree.ts';
import { withoutCredentials } from './git-source.ts';

/** The most that a call may print, where all of it is kept. */
const mostOutputBytes = 64 * 1024 * 1024;
const mostWordsBytes = 4 * 1024;

export interface GitCall {
  readonly directory: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Whose session it is for: a bridge that was killed finds the process by it. */
  readonly mark?: Mark;
  readonly env?: Readonly<Record<string, string>>;
}

export type Git = (...args: readonly string[]) => Promise<string>;

/** Git said no, or was too slow; `message` has its own words, without credentials. */
export class GitError extends Error {
  override readonly name = 'GitError';
}

/** For `catch`: what git cannot tell is not known. */
export function unlessGit(error: unknown): undefined {
  if (error instanceof GitError) return undefined;
  throw error;
}

const fixed = [
  // Hooks and monitors of a repository are programs, and the ones of a session's choice.
  ...['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'],
  // Housekeeping in the background would outlive the call.
  ...['-c', 'gc.autoDetach=false', '-c', 'maintenance.autoDetach=false'],
];
/** From SIGTERM, at which git takes its locks away, to SIGKILL. */
const killAfterMs = 2_000;
/** After its end, for what the pipes still hold. */
const pipeGraceMs = 2_000;

/** Runs git once, and gives what it printed. Rejects as `readGit` does, and where that is more than anybody needs whole. */
export async function runGit(args: readonly string[], call: GitCall): Promise<string> {
  const output: Buffer[] = [];
  let size = 0;
  await readGit(args, call, (chunk) => {
    size += chunk.length;
    if (size > mostOutputBytes)
      throw new GitError(`${nameOf(args)} printed more than ${mostOutputBytes / 1024 / 1024} MiB`);
    output.push(chunk);
    return true;
  });
  return Buffer.concat(output).toString('utf8');
}

/** Told what git prints as it comes; gives whether more is wanted: if not git is ended, which is no failure then. */
export type TakeOutput = (chunk: Buffer) => boolean;

/**
 * Runs git once as a child without a terminal, so that it can ask nobody. Rejects with `GitError`, with the signal's reason, and
 * with what `take` throws; nothing of git is left then.
 */
export async function readGit(args: readonly string[], call: GitCall, take: TakeOutput): Promise<void> {
  const { directory, clock, timeoutMs, signal, mark, env } = call;
  signal?.throwIfAborted();
  // Out of file descriptors it has no pipes at all, whatever the type of `spawn` says.
  const child: ChildProcess = spawn('git', [...fixed, ...args], {
    cwd: directory,
    env: { ...gitEnvironment(process.env), ...(mark && markVariables(mark)), ...env },
    // Without a terminal of its own it cannot prompt there either; and a group ends as one.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const name = nameOf(args);
  const timers: Timer[] = [];
  const end = (sent: NodeJS.Signals) => child.pid !== undefined && signalGroup(child.pid, sent);
  const kill = () => {
    end('SIGTERM');
    timers.push(clock.after(killAfterMs, () => end('SIGKILL'), { keepAlive: true }));
  };
  /** What is there already is read before. */
  const leavePipes = () =>
    setImmediate(() => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    });
  /** Why it ends, where that is not its own doing. */
  let why: Error | 'enough' | undefined;
  const endIt = (reason: Error | 'enough') => {
    why ??= reason;
    kill();
  };
  timers.push(
    clock.after(timeoutMs, () => endIt(new GitError(`${name} took longer than ${timeoutMs / 1000} s`))),
  );
  signal?.addEventListener('abort', kill, { once: true });
  let words = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    if (why !== undefined) return;
    try {
      if (!take(chunk)) endIt('enough');
    } catch (error) {
      endIt(toError(error));
    }
  });
  child.stderr?.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-mostWordsBytes)));
  try {
    const code = await new Promise<number | null>((resolve) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        why ??= new GitError(error.code === 'ENOENT' ? 'there is no git on the PATH' : reasonOf(error));
        resolve(null);
      });
      child.once('close', resolve);
      // What it started and left may hold the pipes for ever: the master connection of an ssh, a credential helper's daemon.
      child.once('exit', () => timers.push(clock.after(pipeGraceMs, leavePipes, { keepAlive: true })));
    });
    signal?.throwIfAborted();
    if (why instanceof Error) throw why;
    if (why !== 'enough' && code !== 0)
      throw new GitError(withoutCredentials(words.trim()) || `${name} failed`);
  } finally {
    for (const timer of timers) timer.cancel();
    signal?.removeEventListener('abort', kill);
  }
}

function nameOf(args: readonly string[]): string {
  return `git ${args.find((each) => /^[a-z][a-z-]*$/.test(each)) ?? ''}`;
}

/** The bridge's own, for its agents and credential helpers, less what points git elsewhere or lets it ask. */
function gitEnvironment(inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const pointers =
    /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE|PREFIX)$|^SALLYPORT_/;
  const env = Object.fromEntries(Object.entries(inherited).filter(([name]) => !pointers.test(name)));
  return {
    ...env,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    GIT_ALLOW_PROTOCOL: allowedProtocols({ isLocal: true }),
    GIT_OPTIONAL_LOCKS: '0',
  };
}

/** For `GIT_ALLOW_PROTOCOL`. What came from elsewhere must not name repositories of this machine. */
export function allowedProtocols({ isLocal }: { readonly isLocal: boolean }): string {
  return ['https', 'http', 'ssh', 'git', ...(isLocal ? ['file'] : [])].join(':');
}
