import { copyFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { Clock } from '@sallyport/core';
import type { CheckedOut } from './record.ts';
import { nestedRepositories, worktreeGit } from './worktree-git.ts';

const limitMs = 60_000;

/** What a session changed in one source. */
export interface Difference {
  readonly url: string;
  readonly directory: string;
  readonly branch: string;
  /** The commit at which the session began. */
  readonly base: string;
  /** As `git diff` shows it; empty: nothing. */
  readonly text: string;
}

export interface DiffOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly color?: boolean;
}

/**
 * All that a worktree has more than the commit at which its session began: committed, changed and new files. The worktree's
 * own index stays as it is.
 */
export async function diffOf(
  source: CheckedOut,
  { clock, signal, color = false }: DiffOptions,
): Promise<Difference> {
  const { url, directory, branch, base } = source;
  const call = { clock, signal, timeoutMs: limitMs };
  const git = await worktreeGit(source, call);
  const index = resolve(directory, (await git('rev-parse', '--git-path', 'index')).trim());
  const draft = join(tmpdir(), `sallyport-index-${randomUUID()}`);
  try {
    copyFileSync(index, draft);
    const drafting = await worktreeGit(source, { ...call, env: { GIT_INDEX_FILE: draft } });
    const others = (await nestedRepositories(drafting)).map((path) => `:(exclude,top,literal)${path}`);
    await drafting('add', '--all', '--', '.', ...others);
    const style = color ? '--color=always' : '--no-color';
    const text = await drafting('diff', '--cached', '--no-ext-diff', style, base);
    return { url, directory, branch, base, text };
  } finally {
    rmSync(draft, { force: true });
  }
}
