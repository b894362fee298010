import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Difference } from '../workspace/diff.ts';
import { temporaryFolder } from './bench.ts';

export function git(directory: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd: directory, encoding: 'utf8' }).trim();
}

/** A repository whose commits are called `one` and `two`; the branch `old` is at the first. */
export function repository(): string {
  const directory = temporaryFolder();
  git(directory, 'init', '--quiet', '--initial-branch=main');
  for (const name of ['one', 'two']) {
    writeFileSync(join(directory, name), name);
    git(directory, 'add', '.');
    git(directory, 'commit', '--quiet', '-m', name);
  }
  git(directory, 'branch', 'old', 'HEAD~1');
  git(directory, 'tag', '-a', 'v1', '-m', 'v1', 'HEAD~1');
  return directory;
}

/** A source as the service tells of it. */
export const source = (url: string, revision?: string) => ({
  type: 'git_repository',
  url,
  ...(revision && { revision }),
});

/** A patch as text. */
export const textOf = ({ patch }: Difference) => Buffer.from(patch).toString();
