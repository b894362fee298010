import { copyFileSync, lstatSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Clock } from '@sallyport/core';
import { makeProcessFolder } from '@sallyport/core/process-folder';
import type { PatchedChanges } from '../../protocol/changes.ts';
import type { UnknownChanges } from '../../protocol/events.ts';
import { toError } from '../failure.ts';
import { Redactor } from '../redactor.ts';
import { FileList } from './file-list.ts';
import { GitError, unlessGit, type TakeOutput } from './git.ts';
import { Patch } from './patch.ts';
import type { CheckedOut } from './record.ts';
import {
  gitIn,
  nestedRepositories,
  readGitIn,
  submoduleTree,
  treeOf,
  type Tree,
  type TreeCall,
} from './worktree-git.ts';

const limitMs = 60_000;

/** What a session changed in one source, as `git diff` shows it. */
export interface Difference extends PatchedChanges {
  readonly directory: string;
}

/** How much is kept of a difference, in bytes. */
export interface DiffBounds {
  readonly patch: number;
  readonly list: number;
}

const defaultBounds: DiffBounds = { patch: 64 * 1024 * 1024, list: 16 * 1024 * 1024 };

export interface DiffOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** With the contents of binary files, without which `git apply` refuses them. */
  readonly binary?: boolean;
  /** Default: as much as a person may want to see. */
  readonly bounds?: DiffBounds;
  /** What is replaced by `***`. */
  readonly secrets?: readonly string[];
}

/** Whatever a person's configuration says, or the session's: no program is run, and `git apply` takes the patch. */
const fixed = [
  ...['--no-ext-diff', '--no-textconv', '--no-color', '--find-renames', '--unified=3'],
  // Git would look into a repository within, by programs of that one's configuration.
  ...['--submodule=short', '--ignore-submodules=dirty'],
];
/** Nobody reads a text of more, and git has all of it in memory to compare it. */
const largestText = ['-c', 'core.bigFileThreshold=16m'];

/**
 * All that a worktree and its submodules have more than the commits at which their session began: committed, changed and new
 * files. Their own indexes stay as they are, and no content is written into their repositories.
 */
export async function diffOf(source: CheckedOut, options: DiffOptions): Promise<Difference> {
  const { url, directory, branch, base, submodules = [] } = source;
  const { clock, signal, bounds = defaultBounds } = options;
  const call = { clock, signal, timeoutMs: limitMs };
  const into = { files: new FileList(bounds.list), patch: new Patch(bounds.patch), isRedacted: false };
  const tree = await treeOf(source, call);
  await addChanges({ tree, base, prefix: '' }, options, into);
  for (const submodule of submodules) {
    const within = submoduleTree(submodule, directory);
    if (!within) continue; // the difference of what it was in says that it is gone
    await addChanges({ tree: within, base: submodule.commit, prefix: `${submodule.path}/` }, options, into);
  }
  const head = await gitIn(tree, call)('rev-parse', '--verify', '--quiet', 'HEAD').catch(unlessGit);
  const { files, patch, isRedacted } = into;
  return {
    ...{ url, directory, branch, base, ...(head !== undefined && { head: head.trim() }) },
    ...{ files: files.files, file_count: files.count, added: files.added, removed: files.removed },
    ...{ patch: patch.bytes, patch_bytes: patch.bytes.length },
    ...(patch.isTruncated && { truncated: true }),
    ...(isRedacted && { redacted: true }),
  };
}

/** Several sources within one bound, the first ones first. Rejects with the signal's reason, if that is none of git's. */
export async function differencesOf(
  sources: readonly CheckedOut[],
  options: DiffOptions,
): Promise<readonly (Difference | UnknownChanges)[]> {
  const found: (Difference | UnknownChanges)[] = [];
  let { patch, list } = options.bounds ?? defaultBounds;
  for (const source of sources) {
    const { url, branch, base } = source;
    try {
      const difference = await diffOf(source, { ...options, bounds: { patch, list } });
      patch -= difference.patch.length;
      list -= Buffer.byteLength(JSON.stringify(difference.files));
      found.push(difference);
    } catch (error) {
      if (options.signal.aborted && !(error instanceof GitError)) throw error;
      found.push({ url, branch, base, error: toError(error).message });
    }
  }
  return found;
}

interface Part {
  readonly tree: Tree;
  readonly base: string;
  /** Where it is in the session's worktree. */
  readonly prefix: string;
}

interface Sum {
  readonly files: FileList;
  readonly patch: Patch;
  isRedacted: boolean;
}

async function addChanges(
  { tree, base, prefix }: Part,
  { clock, signal, binary = false, secrets = [] }: DiffOptions,
  into: Sum,
): Promise<void> {
  const call = { clock, signal, timeoutMs: limitMs };
  const folder = makeProcessFolder(tmpdir(), 'sallyport-index-');
  try {
    const drafting = { ...call, env: { GIT_INDEX_FILE: await draftIndex(tree, folder, call) } };
    const git = gitIn(tree, drafting);
    const others = [...(await nestedRepositories(git)), ...(await strayRepositories(tree, drafting))];
    // New files are known to the draft by name alone: git reads them where they are.
    const without = others.map((path) => `:(exclude,top,literal)${path}`);
    await git('add', '--intent-to-add', '--', '.', ...without);
    const read = readGitIn(tree, drafting);
    const diff = async (options: readonly string[], take: TakeOutput) => {
      const output = redacted(secrets, take);
      await read([...largestText, 'diff', ...fixed, ...options, base, '--'], output.take);
      into.isRedacted ||= output.end();
    };
    const list = into.files.reader(prefix);
    await diff(['--numstat', '-z'], (chunk) => {
      list(chunk);
      return true;
    });
    if (into.patch.isTruncated) return;
    const names = [`--src-prefix=a/${prefix}`, `--dst-prefix=b/${prefix}`];
    await diff([...names, ...(binary ? ['--binary'] : [])], (chunk) => into.patch.add(chunk));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A copy of the index; where there is none, or what is no file, git begins with an empty one. */
async function draftIndex(tree: Tree, folder: string, call: TreeCall): Promise<string> {
  const index = await gitIn(tree, call)('rev-parse', '--git-path', 'index');
  const [original, draft] = [resolve(tree.directory, index.trim()), join(folder, 'index')];
  if (lstatSync(original, { throwIfNoEntry: false })?.isFile()) copyFileSync(original, draft);
  return draft;
}

/** Repositories that the session made or cloned within, and told git nothing of: as a part of it they would be no difference. */
async function strayRepositories(tree: Tree, call: TreeCall): Promise<readonly string[]> {
  const found: string[] = [];
  let torn = '';
  const take = (chunk: Buffer) => {
    const paths = `${torn}${chunk.toString('latin1')}`.split('\0');
    torn = paths.pop() ?? '';
    // A folder that is not looked into.
    for (const path of paths) if (path.endsWith('/')) found.push(Buffer.from(path, 'latin1').toString());
    return true;
  };
  await readGitIn(tree, call)(['ls-files', '--others', '--exclude-standard', '-z'], take);
  return found;
}

/** `take` without the secrets; `end`: git has printed all that was wanted; gives whether a secret was in it. */
function redacted(secrets: readonly string[], take: TakeOutput): { take: TakeOutput; end: () => boolean } {
  const redactor = new Redactor(secrets);
  let [read, given] = [0, 0];
  const give = (bytes: Buffer) => {
    given += bytes.length;
    return take(bytes);
  };
  return {
    take(chunk) {
      read += chunk.length;
      return give(redactor.write(chunk));
    },
    end() {
      give(redactor.end());
      return read !== given; // none is as short as what stands for it
    },
  };
}
