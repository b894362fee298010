import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@sallyport/core';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../testing/bench.ts';
import { git, repository, textOf } from '../testing/repository.ts';
import { diffOf, type DiffOptions } from './diff.ts';
import type { CheckedOut } from './record.ts';

const long = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join('');

/** A worktree as a session has it. */
function worktree(): { readonly origin: string; readonly directory: string } {
  const origin = repository();
  writeFileSync(join(origin, 'long'), long);
  git(origin, 'add', '.');
  git(origin, 'commit', '--quiet', '-m', 'long');
  const directory = join(temporaryFolder(), 'worktree');
  git(origin, 'worktree', 'add', '--quiet', '-b', 'mine', directory);
  return { origin, directory };
}

function diff(
  { origin, directory }: ReturnType<typeof worktree>,
  options: Partial<Omit<DiffOptions, 'clock'>> = {},
) {
  const base = git(origin, 'rev-parse', 'main');
  const source = { url: '.', repository: origin, directory, branch: 'mine', base };
  return diffOf(source, { clock: systemClock, signal: new AbortController().signal, ...options });
}

/** What stands in the difference, applied to what it is of. */
async function applied(place: ReturnType<typeof worktree>): Promise<string> {
  const clone = join(temporaryFolder(), 'clone');
  execFileSync('git', ['clone', '--quiet', place.origin, clone]);
  const { patch } = await diff(place, { binary: true });
  execFileSync('git', ['apply'], { cwd: clone, input: patch });
  return clone;
}

test('a patch applies, whatever the files hold', async () => {
  const place = worktree();
  const files = {
    latin: Buffer.from('\xe9\xe8\n', 'latin1'),
    binary: Buffer.from([0, 1, 2, 255]),
    'no end': Buffer.from('x'),
    'a "quoted"\tname é': Buffer.from('y\r\n'),
    '...\t': Buffer.from('z\n'),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(place.directory, name), content);
  const clone = await applied(place);
  for (const [name, content] of Object.entries(files))
    expect(readFileSync(join(clone, name))).toEqual(content);
});

test.each([
  ['diff.noprefix', 'true'],
  ['diff.mnemonicPrefix', 'true'],
  ['diff.context', '0'],
  ['diff.external', 'touch PROOF'],
  ['diff.x.command', 'touch PROOF'],
  ['diff.x.textconv', 'touch PROOF; cat'],
  ['color.diff', 'always'],
  ['diff.renames', 'false'],
])('a patch applies with %s = %s', async (name, value) => {
  const place = worktree();
  const proof = join(temporaryFolder(), 'proof');
  git(place.origin, 'config', name, value.replace('PROOF', proof));
  writeFileSync(join(place.directory, '.gitattributes'), '* diff=x\n');
  const changed = long.replace('line 9\n', 'other\n');
  writeFileSync(join(place.directory, 'long'), changed);
  expect(readFileSync(join(await applied(place), 'long'), 'utf8')).toBe(changed);
  expect(existsSync(proof)).toBe(false);
});

test.each([
  ['without a commit', []],
  ['with a commit', ['commit', '--quiet', '--allow-empty', '-m', 'x']],
])('a repository that the session made within, %s, is left out', async (_, commit) => {
  const place = worktree();
  const within = join(place.directory, 'within');
  mkdirSync(within);
  git(within, 'init', '--quiet');
  if (commit.length > 0) git(within, ...commit);
  writeFileSync(join(within, 'inside'), 'inside');
  writeFileSync(join(place.directory, 'new'), 'new');
  expect((await diff(place)).files.map(({ path }) => path)).toEqual(['new']);
});

test('a repository within that git was told of is not looked into, whatever the configuration', async () => {
  const place = worktree();
  const proof = join(temporaryFolder(), 'proof');
  const within = join(place.directory, 'within');
  mkdirSync(within);
  git(within, 'init', '--quiet');
  git(within, 'commit', '--quiet', '--allow-empty', '-m', 'x');
  git(place.directory, '-c', 'advice.addEmbeddedRepo=false', 'add', 'within');
  git(within, 'config', 'core.fsmonitor', `touch ${proof}; false`);
  git(within, 'config', 'diff.external', `touch ${proof}; false`);
  writeFileSync(join(within, 'inside'), 'inside');
  git(within, 'add', '.');
  git(within, 'commit', '--quiet', '-m', 'y', '-n');
  git(within, 'config', 'filter.x.clean', `touch ${proof}; cat`);
  writeFileSync(join(within, '.gitattributes'), '* filter=x\n');
  writeFileSync(join(within, 'inside'), 'INSIDE');
  execFileSync('rm', ['-f', proof]);
  git(place.origin, 'config', 'diff.submodule', 'diff');
  git(place.origin, 'config', 'diff.ignoreSubmodules', 'none');
  const { files, patch } = await diff(place);
  expect(files).toEqual([{ path: 'within', added: 1, removed: 0 }]);
  expect(String(Buffer.from(patch))).toMatch(/\n\+Subproject commit [0-9a-f]{40}\n/);
  expect(existsSync(proof)).toBe(false);
});

test('no content is written into the repository, and its index stays', async () => {
  const place = worktree();
  writeFileSync(join(place.directory, 'new'), 'never seen before');
  writeFileSync(join(place.directory, 'one'), 'nor this');
  const status = git(place.directory, 'status', '--porcelain');
  expect((await diff(place)).file_count).toBe(2);
  expect(git(place.directory, 'status', '--porcelain')).toBe(status);
  const names = git(place.directory, 'hash-object', 'new', 'one').split('\n');
  expect(names).toHaveLength(2);
  for (const name of names) expect(() => git(place.origin, 'cat-file', '-e', name)).toThrow('cat-file');
});

test('without an index, or a commit, there is still something to tell', async () => {
  const place = worktree();
  git(place.directory, 'checkout', '--quiet', '--orphan', 'fresh');
  execFileSync('rm', [git(place.directory, 'rev-parse', '--git-path', 'index')]);
  writeFileSync(join(place.directory, 'one'), 'other');
  const found = await diff(place);
  expect(found.head).toBeUndefined();
  expect(found.files).toEqual([{ path: 'one', added: 1, removed: 1 }]);
});

test('a patch that is too long for its bound is cut at the end of a line', async () => {
  const place = worktree();
  writeFileSync(join(place.directory, 'new'), 'a line\n'.repeat(100));
  const whole = await diff(place);
  const cut = await diff(place, { bounds: { patch: 200, list: 1000 } });
  expect([whole.truncated, cut.truncated]).toEqual([undefined, true]);
  expect(textOf(whole).startsWith(textOf(cut))).toBe(true);
  expect(textOf(cut)).toMatch(/\n\+a line\n$/);
  expect(cut.patch.length).toBeGreaterThan(200 - 8);
  expect(cut).toMatchObject({ file_count: 1, added: 100 });
});

test('no part of a secret stands before the place at which a patch is cut', async () => {
  const place = worktree();
  writeFileSync(join(place.directory, 'new'), 'secret-0123456789\n'.repeat(1000));
  for (let bound = 150; bound < 200; bound += 7) {
    const { patch } = await diff(place, {
      bounds: { patch: bound, list: 1000 },
      secrets: ['secret-0123456789'],
    });
    expect(String(Buffer.from(patch))).not.toContain('secret');
  }
});

test('a commit that stands for the one it began at hides nothing', async () => {
  const place = worktree();
  writeFileSync(join(place.directory, 'long'), 'hidden\n');
  git(place.directory, 'commit', '--quiet', '-am', 'x');
  git(place.directory, 'replace', 'main', 'HEAD');
  expect((await diff(place)).files).toEqual([{ path: 'long', added: 1, removed: 20 }]);
});

describe('what is outside of the worktree is not read', () => {
  /** A worktree with the submodule `in/lib`, and a file outside. */
  function opened() {
    const lib = repository();
    const origin = repository();
    git(origin, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', lib, 'in/lib');
    git(origin, 'commit', '--quiet', '-m', 'with a submodule');
    const directory = join(temporaryFolder(), 'worktree');
    git(origin, 'worktree', 'add', '--quiet', '-b', 'mine', directory);
    git(directory, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
    const outside = join(directory, '..', 'outside');
    mkdirSync(join(outside, 'lib'), { recursive: true });
    for (const folder of [outside, join(outside, 'lib')]) writeFileSync(join(folder, 'key'), 'SECRET\n');
    const gitDir = git(join(directory, 'in/lib'), 'rev-parse', '--absolute-git-dir');
    const commit = git(lib, 'rev-parse', 'main');
    const source: CheckedOut = {
      ...{ url: '.', repository: origin, directory, branch: 'mine', base: git(origin, 'rev-parse', 'main') },
      submodules: [{ path: 'in/lib', git_dir: gitDir, commit }],
    };
    const told = () =>
      diffOf(source, { clock: systemClock, signal: new AbortController().signal }).then(
        ({ patch }) => String(Buffer.from(patch)),
        (error: unknown) => (error as Error).message,
      );
    return { directory, told };
  }

  test.each([
    ['a submodule', 'in/lib', '../../outside'],
    ['the folder of a submodule', 'in', '../outside'],
    ['the worktree', '.', 'outside'],
  ])('by a link in the place of %s', async (_, path, target) => {
    const { directory, told } = opened();
    expect(await told()).toBe('');
    rmSync(join(directory, path), { recursive: true });
    symlinkSync(target, join(directory, path));
    expect(await told()).not.toContain('SECRET');
  });

  test.each(['../outside/key', 'in/../../outside/key', './/../outside/key', '/ABSOLUTE'])(
    'by the path %s in an index that git did not write',
    async (given) => {
      const { directory, told } = opened();
      const path = given.replace('/ABSOLUTE', join(directory, '../outside/key'));
      const honest = path.replaceAll(/[./]/g, 'x');
      writeFileSync(join(directory, honest), '');
      git(directory, 'add', honest);
      const index = join(git(directory, 'rev-parse', '--absolute-git-dir'), 'index');
      const bytes = readFileSync(index);
      bytes.write(path, bytes.indexOf(honest));
      createHash('sha1')
        .update(bytes.subarray(0, -20))
        .digest()
        .copy(bytes, bytes.length - 20);
      writeFileSync(index, bytes);
      expect(await told()).toBe('the index has a path that leads out of the worktree');
    },
  );
});

test.each(['index', 'gitdir'])('a pipe for the %s holds nobody up', async (name) => {
  const place = worktree();
  const path = join(git(place.directory, 'rev-parse', '--absolute-git-dir'), name);
  rmSync(path);
  execFileSync('mkfifo', [path]);
  const told = diff(place).then(
    ({ files }) => files,
    (error: unknown) => (error as Error).message,
  );
  // Nothing is staged; and what has no worktree's name is none.
  expect(await told).toEqual(name === 'index' ? [] : expect.stringContaining('is no worktree of'));
});
