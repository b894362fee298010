import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from './testing/bench.ts';
import { logEvent, type FakeStream } from './testing/fake-service.ts';
import { git, repository, source } from './testing/repository.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start, startSession } = useBench();

const textsOf = ({ frames }: FakeStream) =>
  frames.all
    .filter(({ type }) => type === 'session.output')
    .flatMap(({ data }) => String(data?.['text']).split('\n'));
const exited = (stream: FakeStream) => stream.frames.until(({ type }) => type === 'worker.exited');
const lastStream = () => service.streams.all.at(-1)!;

/** Runs the session `session_a` to its end, and gives what it said. */
async function run(command: string, options: Parameters<typeof startSession>[1] = {}) {
  const { bench } = await startSession(command, { once: true, ...options });
  const ended = await bench.until('session.ended');
  await bench.result; // or it would take what the next one is to run
  return { bench, ended, texts: service.streams.all.flatMap(textsOf) };
}

describe('a source is checked out', () => {
  test.each([
    ['its default branch', undefined, ['one', 'two']],
    ['a branch', 'old', ['one']],
    ['a tag', 'v1', ['one']],
    ['a full ref', 'refs/heads/old', ['one']],
  ])('at %s, on a branch of the session, which the command runs in', async (_, revision, files) => {
    service.sources = [source(`file://${repository()}`, revision)];
    const { texts } = await run('git branch --show-current; ls');
    expect(texts).toEqual(['sallyport/session_a', ...files]);
    const told = service.streams.all
      .flatMap(({ frames }) => frames.all)
      .find(({ type }) => type === 'worker.workspace');
    expect(told?.data).toMatchObject({
      sources: [{ branch: 'sallyport/session_a', url: service.sources[0]!['url' as never] }],
    });
  });

  test('at a commit, by its whole name or a part of it', async () => {
    const origin = repository();
    const commit = git(origin, 'rev-parse', 'old');
    for (const revision of [commit, commit.slice(0, 10)]) {
      service.sources = [source(`file://${origin}`, revision)];
      expect((await run('git rev-parse HEAD')).texts).toContain(commit);
    }
  });

  test('anew for each session: what was committed meanwhile is there, and fetched once', async () => {
    const origin = repository();
    const shared = { stateDir: temporaryFolder(), directory: temporaryFolder() };
    service.sources = [source(`file://${origin}`)];
    await run('ls', shared);
    writeFileSync(join(origin, 'three'), '3');
    git(origin, 'add', '.');
    git(origin, 'commit', '--quiet', '-m', 'three');
    const bench = start({ ...shared, run: 'ls', once: true });
    service.grantSession('session_b');
    await bench.until('session.ended');
    expect(textsOf(lastStream())).toEqual(['one', 'three', 'two']);
    const [key] = readdirSync(shared.stateDir);
    expect(readdirSync(join(shared.stateDir, key!, 'repositories'))).toHaveLength(1);
  });

  test('of several each has a folder by its name, the same one twice, too', async () => {
    const parent = temporaryFolder();
    const [a, b] = [repository(), repository()];
    execFileSync('sh', ['-c', `mv ${a} ${parent}/app; mv ${b} ${parent}/lib`]);
    service.sources = [
      source(`file://${parent}/app`),
      source(`file://${parent}/lib`),
      source(`file://${parent}/app`, 'old'),
    ];
    const { texts } = await run('ls; ls app-2');
    expect(texts).toEqual(['app', 'app-2', 'lib', 'one']);
  });

  test.each(['.', 'path', 'remote'])(
    'of the environment itself (%s) as a worktree of its repository',
    async (how) => {
      const origin = repository();
      const clone = join(temporaryFolder(), 'clone');
      git('/', 'clone', '--quiet', origin, clone);
      git(clone, 'remote', 'set-url', 'origin', `${origin}/`);
      const directory = join(clone, 'sub');
      mkdirSync(directory);
      service.sources = [source({ '.': '.', path: clone, remote: origin }[how]!)];
      const commit = 'git -c user.name=T -c user.email=t@e commit --quiet --allow-empty -m mine';
      const { texts } = await run(`git rev-parse --git-common-dir; ${commit}`, { directory });
      expect(texts).toEqual([join(clone, '.git')]);
      expect(git(clone, 'log', '-1', '--format=%s', 'sallyport/session_a')).toBe('mine');
      expect(git(clone, 'status', '--porcelain')).toBe('');
    },
  );

  test("and the person's own worktrees are left alone, be they on a disk that is not there", async () => {
    const origin = repository();
    const away = join(temporaryFolder(), 'away');
    git(origin, 'worktree', 'add', '--quiet', '-b', 'mine', away);
    execFileSync('mv', [away, `${away}-unplugged`]);
    service.sources = [source('.')];
    expect((await run('true', { directory: origin })).ended.kept).toBeUndefined();
    expect(git(origin, 'worktree', 'list', '--porcelain').match(/^worktree .*/gm)).toEqual([
      `worktree ${origin}`,
      `worktree ${away}`,
    ]);
  });

  test('and no hook of its repository runs', async () => {
    const origin = repository();
    writeFileSync(join(origin, '.git/hooks/post-checkout'), '#!/bin/sh\ntouch hooked\n', { mode: 0o755 });
    service.sources = [source('.')];
    expect((await run('ls', { directory: origin })).texts).toEqual(['one', 'two']);
  });

  test('before the command gets its events: none is lost, and its input ends', async () => {
    service.sources = [source(`file://${repository()}`)];
    service.backlog = [1, 2, 3].map((seq) => logEvent(seq, 'session.message', { text: `m${seq}` }));
    const { texts } = await run('sed -n \'s/.*"text":"\\([^"]*\\)".*/\\1/p\'');
    expect(texts).toEqual(['m1', 'm2', 'm3']);
  });
});

describe('a source that cannot be had', () => {
  test.each([
    ['is not there', 'file:///nowhere', undefined, /nowhere.*\n.*: git ls-remote file:\/\/\/nowhere$/s],
    [
      'is not there, under a name that a shell would read',
      "/no where/it's",
      undefined,
      /: git ls-remote '\/no where\/it'\\''s'$/,
    ],
    ['has no such revision', 'a repository', 'nowhere', /nowhere.*\n.*: git ls-remote file:\/\/\S+$/s],
    [
      'is in no repository',
      '.',
      'v1',
      /no git repository\nTry it in the environment's directory: git rev-parse --verify v1$/,
    ],
    ['would run a command', 'ext::sh -c touch', undefined, /not allowed\nA source is an https.*--source/s],
  ])('ends the session as failed, says that it %s, and what to do', async (_, url, revision, words) => {
    service.sources = [source(url === 'a repository' ? `file://${repository()}` : url, revision)];
    const { bench, texts, ended } = await run('echo never');
    expect(texts.join('\n')).toMatch(/^cannot start: /);
    expect(texts.join('\n')).toMatch(words);
    expect(ended).toMatchObject({ reason: 'exited', exitCode: 127 });
    expect(bench.of('session.started')).toEqual([]);
    const [key] = readdirSync(bench.stateDir);
    expect(readdirSync(join(bench.stateDir, key!, 'sessions'))).toEqual([]);
  });

  /** A command of this machine's git that stands still. */
  function hanging(): Record<string, string> {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, 'git'),
      '#!/bin/sh\ncase "$*" in *fetch*) echo $$ > "$0.pid"; sleep 1000;; *) exec /usr/bin/git "$@";; esac\n',
      { mode: 0o755 },
    );
    return { path: `${folder}:${process.env['PATH'] ?? ''}`, pid: join(folder, 'git.pid') };
  }

  test.each(['time', 'stop'])('in time is given up (%s), and its slot is free again', async (how) => {
    const { path, pid } = hanging();
    const before = process.env['PATH'];
    process.env['PATH'] = path;
    try {
      service.sources = [source(`file://${repository()}`)];
      const clock = new ManualClock();
      const { bench, stream } = await startSession('true', { clock, maxSessions: 1 });
      while (!existsSync(pid!)) await new Promise((resolve) => setImmediate(resolve));
      if (how === 'time') {
        // As the person's own network does it: the service hears from us all the time.
        for (let minute = 0; minute < 31; minute += 1) {
          await clock.advance(20_000);
          for (const { socket } of service.streams.all) socket.ping();
          await new Promise((resolve) => setImmediate(resolve));
        }
      } else stream.send(logEvent(1, 'control.stop', { force: false, deadline_ms: 10_000 }));
      const ended = await bench.until('session.ended');
      if (how === 'time') {
        expect(ended).toMatchObject({ exitCode: 127 });
        expect(service.streams.all.flatMap(textsOf).join()).toContain('git fetch took longer than 600 s');
      } else {
        expect(ended).toMatchObject({ reason: 'stopped', signal: 'SIGINT' });
        expect((await exited(lastStream())).data).toEqual({ exit_code: null, signal: 'SIGINT' });
      }
    } finally {
      process.env['PATH'] = before;
    }
  });

  test('is waited for once, though its session is granted again meanwhile', async () => {
    const origin = repository();
    const folder = temporaryFolder();
    // Fetches when the file `go` is there.
    const script = `#!/bin/sh\ncase "$*" in *fetch*) echo >> ${folder}/asked; while [ ! -e ${folder}/go ]; do sleep 0.02; done;; esac; exec /usr/bin/git "$@"\n`;
    writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
    const before = process.env['PATH'];
    process.env['PATH'] = `${folder}:${before ?? ''}`;
    try {
      service.sources = [source(`file://${origin}`)];
      const { bench } = await startSession('echo once');
      while (!existsSync(join(folder, 'asked'))) await new Promise((resolve) => setImmediate(resolve));
      service.grantSession('session_a');
      await service.called('ack', 2);
      writeFileSync(join(folder, 'go'), '');
      await bench.until('session.ended');
      expect(bench.of('session.started')).toHaveLength(1);
      expect(bench.of('session.output').map(({ text }) => text)).toEqual(['once']);
    } finally {
      process.env['PATH'] = before;
    }
  });

  test('and a service that knows no such question: the session runs in the directory', async () => {
    service.script('session', { status: 404, body: { error: 'not_found' } });
    const directory = temporaryFolder();
    expect((await run('pwd', { directory })).texts).toEqual([directory]);
  });

  test('because the service does not say which is asked for again', async () => {
    service.script('session', { status: 503 }, { raw: '<html>', status: 502 });
    service.sources = [source(`file://${repository()}`)];
    expect((await run('ls')).texts).toEqual(['one', 'two']);
  });
});
