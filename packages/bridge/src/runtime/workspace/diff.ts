import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { Clock } from '@sallyport/core';
import type { Git } from './git.ts';
import type { CheckedOut } from './record.ts';
import { nestedRepositories, submoduleGit, worktreeGit } from './worktree-git.ts';

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
 * All that a worktree and its submodules have more than the commits at which their session began: committed, changed and new
 * files. Their own indexes stay as they are.
 */
export async function diffOf(
  source: CheckedOut,
  { clock, signal, color = false }: DiffOptions,
): Promise<Difference> {
  const { url, directory, branch, base, submodules = [] } = source;
  const call = { clock, signal, timeoutMs: limitMs };
  const style = color ? '--color=always' : '--no-color';
  const texts = [await changesOf(directory, base, [style], (env) => worktreeGit(source, { ...call, env }))];
  for (const submodule of submodules) {
    const { path, commit } = submodule;
    const place = join(directory, path);
    if (!existsSync(place)) continue; // the difference of what it was in says that it is gone
    const options = [style, `--src-prefix=a/${path}/`, `--dst-prefix=b/${path}/`];
    texts.push(
      await changesOf(place, commit, options, (env) => submoduleGit(submodule, directory, { ...call, env })),
    );
  }
  return { url, directory, branch, base, text: texts.join('') };
}

async function changesOf(
  directory: string,
  base: string,
  options: readonly string[],
  gitWith: (env: Readonly<Record<string, string>>) => Git | Promise<Git>,
): Promise<string> {
  const git = await gitWith({});
  const index = resolve(directory, (await git('rev-parse', '--git-path', 'index')).trim());
  const draft = join(tmpdir(), `sallyport-index-${randomUUID()}`);
  try {
    copyFileSync(index, draft);
    const drafting = await gitWith({ GIT_INDEX_FILE: draft });
    const others = (await nestedRepositories(drafting)).map((path) => `:(exclude,top,literal)${path}`);
    await drafting('add', '--all', '--', '.', ...others);
    return await drafting('diff', '--cached', '--no-ext-diff', ...options, base);
  } finally {
    rmSync(draft, { force: true });
  }
}
