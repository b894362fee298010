import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@sallyport/core';
import { describe, expect, test } from 'vitest';
import { localBridges } from './local-bridges.ts';
import { temporaryFolder } from './testing/bench.ts';
import { git, repository, source, textOf } from './testing/repository.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start, startSession } = useBench();

/** Runs the session `session_a` to its end. */
async function run(command: string, options: Parameters<typeof startSession>[1] = {}) {
  const { bench } = await startSession(command, { once: true, ...options });
  const ended = await bench.until('session.ended');
  await bench.result;
  return { bench, ended };
}

describe('worktrees after the end', () => {
  const worktreesOf = (stateDir: string) =>
    readdirSync(stateDir).flatMap((key) => {
      const folder = join(stateDir, key, 'worktrees');
      return existsSync(folder) ? readdirSync(folder) : [];
    });

  test.each([
    ['changed', 'true', []],
    ['changed', 'touch new', ['session_a']],
    ['changed', 'echo >> one', ['session_a']],
    ['changed', 'git -c user.name=T -c user.email=t@e commit --quiet --allow-empty -m mine', ['session_a']],
    ['keep', 'true', ['session_a']],
    ['remove', 'touch new', []],
  ] as const)('%s: after `%s` there are %j', async (worktrees, command, left) => {
    const origin = repository();
    service.sources = [source('.')];
    const { bench, ended } = await run(command, { directory: origin, worktrees });
    expect(worktreesOf(bench.stateDir)).toEqual(left);
    expect(ended.kept === undefined).toBe(left.length === 0);
    expect(git(origin, 'branch', '--list', 'sallyport/*') === '').toBe(left.length === 0);
  });

  test.each([
    [
      'a `.git` that names another repository',
      'H=$(mktemp -d) && git clone --quiet . $H && G=$H/.git && echo "gitdir: $G" > .git',
    ],
    [
      'a repository within',
      'git init --quiet sub && cd sub && echo a > a && git add a && git $AS commit --quiet -m a && cd .. && git add sub && git $AS commit --quiet -m sub && git update-ref refs/heads/$(git branch --show-current) HEAD && G=sub/.git && echo b > sub/a && mkdir -p $G/info && echo "* filter=x" > $G/info/attributes',
    ],
  ])('run nothing that the session has set up for git, by %s', async (_name, command) => {
    const proof = join(temporaryFolder(), 'proof');
    const directory = repository();
    service.sources = [source('.')];
    const setUp = `AS="-c user.name=T -c user.email=t@e"; ${command} && git config --file $G/config filter.x.clean "touch ${proof}; cat" && git config --file $G/config core.fsmonitor "touch ${proof}; false" && echo "* filter=x" > .gitattributes && echo more >> one`;
    const { bench, ended } = await run(setUp, { directory });
    expect(ended).toMatchObject({ exitCode: 0, kept: expect.any(String) as string });
    const [found] = localBridges(bench.stateDir).flatMap((each) => each.workspace('session_a') ?? []);
    const [diff] = await found!.diff({ clock: systemClock, signal: new AbortController().signal });
    expect(textOf(diff!)).toContain('\n+onemore');
    expect(existsSync(proof)).toBe(false);
  });

  test('are settled by the next start, if the bridge was killed', async () => {
    const options = { directory: repository(), stateDir: temporaryFolder() };
    service.sources = [source('.')];
    const { bench } = await startSession('echo up; sleep 1000', options);
    await bench.until('session.output');
    bench.runtime.kill();
    await bench.result;
    expect(worktreesOf(options.stateDir)).toEqual(['session_a']);
    const [key] = readdirSync(options.stateDir);
    const record = join(options.stateDir, key!, 'workspaces/session_torn.json');
    writeFileSync(
      record,
      JSON.stringify({
        session_id: 'session_torn',
        root: join(options.directory, 'torn'),
        sources: [],
        is_ready: false,
      }),
    );
    mkdirSync(join(options.directory, 'torn'));
    const second = start({ ...options, run: 'true' });
    await second.until('polling');
    expect(worktreesOf(options.stateDir)).toEqual([]);
    expect(existsSync(record) || existsSync(join(options.directory, 'torn'))).toBe(false);
    expect(git(options.directory, 'branch', '--list', 'sallyport/*')).toBe('');
  });

  test('are found by who has this machine, with all that the session changed', async () => {
    const directory = repository();
    service.sources = [source('.')];
    const command =
      'echo new > new; echo more >> one; git -c user.name=T -c user.email=t@e commit --quiet -am mine; git rm --quiet two';
    const { bench } = await run(command, { directory });
    const [found] = localBridges(bench.stateDir).flatMap((each) => each.workspace('session_a') ?? []);
    const diff = await found!.diff({ clock: systemClock, signal: new AbortController().signal });
    expect(diff.map(({ branch }) => branch)).toEqual(['sallyport/session_a']);
    expect(textOf(diff[0]!).match(/^[+-][^+-].*$|^[+-]{3} .*$/gm)).toEqual([
      '--- /dev/null',
      '+++ b/new',
      '+new',
      '--- a/one',
      '+++ b/one',
      '-one',
      '+onemore',
      '--- a/two',
      '+++ /dev/null',
      '-two',
    ]);
    expect(git(found!.directory, 'status', '--porcelain')).toBe('D  two\n?? new');
    expect(localBridges(bench.stateDir).flatMap((each) => each.workspace('session_b') ?? [])).toEqual([]);
  });
});
