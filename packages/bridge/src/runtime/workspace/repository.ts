import { createHash } from 'node:crypto';
import { existsSync, realpathSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeDirectory } from '@sallyport/core/directory';
import { GitError, type Git } from './git.ts';
import {
  isLocalAddress,
  ownRepository,
  sameRepository,
  withoutCredentials,
  type GitSource,
} from './git-source.ts';

/** Where a source's commits are on this machine. */
export interface Repository {
  readonly directory: string;
  /** A remote or an address to fetch from first; none: what is asked for is here. */
  readonly fetchFrom?: string;
  /** Whether all that it has came from this machine. */
  readonly isLocal: boolean;
  /** It is a cache of ours, not the person's own. */
  readonly isCache?: boolean;
}

/** What was fetched last into a cache: the next fetch asks only for what is new. */
const lastFetched = 'refs/sallyport/fetched/last';

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
  if (top === undefined) {
    if (url !== ownRepository) return undefined;
    throw new GitError(`the environment's directory ${directory} is in no git repository`);
  }
  const remotes = (await git('remote', '--verbose')).split('\n').flatMap((line) => {
    const [name = '', address] = line.split(/\s+/);
    return address === undefined ? [] : [{ name, address }];
  });
  const own = { directory: top.trim(), isLocal: remotes.every(({ address }) => isLocalAddress(address)) };
  if (url === ownRepository || localPath(url) === realpathSync(own.directory)) return own;
  const remote = remotes.find(({ address }) => sameRepository(address, url));
  return remote && { ...own, fetchFrom: remote.name };
}

function localPath(url: string): string | undefined {
  try {
    if (url.startsWith('/')) return realpathSync(url);
    return url.startsWith('file:') ? realpathSync(fileURLToPath(url)) : undefined;
  } catch {
    return undefined; // git says what is wrong with it
  }
}

/** Where the cache of an address is: a bare repository beside the bridge's files. */
export function cacheOf(url: string, folder: string): Repository {
  const name = `${createHash('sha256').update(url).digest('hex').slice(0, 16)}.git`;
  return { directory: join(folder, name), fetchFrom: url, isLocal: isLocalAddress(url), isCache: true };
}

/** Makes a cache ready, and has it count as used now. */
export async function openCache(
  { directory, fetchFrom: url = '' }: Repository,
  gitAt: (folder: string) => Git,
  now: Date,
): Promise<void> {
  if (!existsSync(join(directory, 'HEAD'))) {
    makeDirectory(directory);
    await gitAt(directory)('init', '--quiet', '--bare');
  }
  const git = gitAt(directory);
  // `git push origin` of the session's command goes where its commits came from.
  const remotes = await git('remote');
  if (!remotes.split('\n').includes('origin')) await git('remote', 'add', 'origin', '--', url);
  // In the worktrees of a cache the session's own `git submodule` knows those that are checked out.
  await git('config', 'submodule.active', '.');
  utimesSync(directory, now, now);
}

/** The commit that a source means, which is in the repository then. `scratch`: the name of a ref that is free. */
export async function resolveCommit(
  { fetchFrom, isCache = false }: Repository,
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
    if (isCache && commit !== undefined) await git('update-ref', lastFetched, commit);
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
