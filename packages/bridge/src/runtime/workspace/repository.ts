import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeDirectory } from '@sallyport/core/directory';
import { GitError, type Git } from './git.ts';
import { ownRepository, sameRepository, withoutCredentials, type GitSource } from './git-source.ts';

/** Where a source's commits are on this machine. */
export interface Repository {
  readonly directory: string;
  /** A remote or an address to fetch from first; none: what is asked for is here. */
  readonly fetchFrom?: string;
}

const fullCommit = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const perhapsCommit = /^[0-9a-f]{7,64}$/;

/**
 * The repository that `directory` is in, where the source means that one: by `.`, by its path, or by the address of one of
 * its remotes, whatever the protocol. `gitAt` runs git there.
 */
export async function findOwn(
  { url }: GitSource,
  directory: string,
  git: Git,
): Promise<Repository | undefined> {
  const top = await git('rev-parse', '--show-toplevel').catch((error: unknown) => {
    if (error instanceof GitError) return undefined;
    throw error;
  });
  const own: Repository | undefined = top === undefined ? undefined : { directory: top.trim() };
  if (url === ownRepository) {
    if (own) return own;
    throw new GitError(`the environment's directory ${directory} is in no git repository`);
  }
  if (!own) return undefined;
  if (localPath(url) === realpathSync(own.directory)) return own;
  const remotes = (await git('remote', '--verbose')).split('\n').map((line) => line.split(/\s+/));
  const [remote] = remotes.find(([, address]) => address !== undefined && sameRepository(address, url)) ?? [];
  return remote === undefined ? undefined : { ...own, fetchFrom: remote };
}

function localPath(url: string): string | undefined {
  try {
    if (url.startsWith('/')) return realpathSync(url);
    return url.startsWith('file:') ? realpathSync(fileURLToPath(url)) : undefined;
  } catch {
    return undefined; // git says what is wrong with it
  }
}

/** A bare repository beside the bridge's files, which keeps what was fetched for the next session. */
export async function openCache(
  url: string,
  folder: string,
  gitAt: (folder: string) => Git,
): Promise<Repository> {
  const directory = join(folder, `${createHash('sha256').update(url).digest('hex').slice(0, 16)}.git`);
  if (!existsSync(join(directory, 'HEAD'))) {
    makeDirectory(directory);
    await gitAt(directory)('init', '--quiet', '--bare');
  }
  // `git push origin` of the session's command goes where its commits came from.
  const remotes = await gitAt(directory)('remote');
  if (!remotes.split('\n').includes('origin')) await gitAt(directory)('remote', 'add', 'origin', '--', url);
  return { directory, fetchFrom: url };
}

/** The commit that a source means, which is in the repository then. `scratch`: the name of a ref that is free. */
export async function resolveCommit(
  { fetchFrom }: Repository,
  { url, revision = 'HEAD' }: GitSource,
  git: Git,
  scratch: string,
): Promise<string> {
  const find = async (name: string) => {
    const commit = await git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).catch(
      (error: unknown) => {
        if (error instanceof GitError) return '';
        throw error;
      },
    );
    return commit.trim() || undefined;
  };
  const unknown = () =>
    new GitError(`there is no revision ${JSON.stringify(revision)} in ${withoutCredentials(url)}`);
  const isHash = perhapsCommit.test(revision);
  if (fetchFrom === undefined || isHash) {
    const here = await find(revision);
    if (here !== undefined) return here;
    if (fetchFrom === undefined) throw unknown();
  }
  const fetch = (...refs: string[]) =>
    git('fetch', '--quiet', '--no-tags', '--no-write-fetch-head', fetchFrom, ...refs);
  try {
    // Not every service gives a commit by its name alone, and none by a part of it.
    if (isHash && !fullCommit.test(revision)) throw new GitError('no full name');
    await fetch(`+${revision}:${scratch}`);
    const commit = await find(scratch);
    await git('update-ref', '-d', scratch);
    if (commit !== undefined) return commit;
  } catch (error) {
    if (!isHash || !(error instanceof GitError)) throw error;
    await fetch('+refs/heads/*:refs/sallyport/heads/*', '+refs/tags/*:refs/sallyport/tags/*');
    // A branch may be called like a hash.
    const commit =
      (await find(`refs/sallyport/heads/${revision}`)) ??
      (await find(`refs/sallyport/tags/${revision}`)) ??
      (await find(revision));
    if (commit !== undefined) return commit;
  }
  throw unknown();
}
