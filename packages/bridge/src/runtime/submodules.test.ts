import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { systemClock } from '@sallyport/core';
import { describe, expect, test } from 'vitest';
import { localBridges } from './local-bridges.ts';
import { temporaryFolder } from './testing/bench.ts';
import type { FakeStream } from './testing/fake-service.ts';
import { git, repository, source, textOf } from './testing/repository.ts';
import { useBench } from './testing/use-bench.ts';

const { service, startSession } = useBench();

const textsOf = ({ frames }: FakeStream) =>
  frames.all
    .filter(({ type }) => type === 'session.output')
    .flatMap(({ data }) => String(data?.['text']).split('\n'));

/** Runs the session `session_a` to its end, and gives what it said. */
async function run(command: string, options: Parameters<typeof startSession>[1] = {}) {
  const { bench } = await startSession(command, { once: true, ...options });
  const ended = await bench.until('session.ended');
  await bench.result;
  return { bench, ended, texts: service.streams.all.flatMap(textsOf) };
}

/** Puts a repository into another one, as a person does it on a machine of their own. */
function addSubmodule(directory: string, url: string, path: string): void {
  git(directory, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', url, path);
  git(directory, 'commit', '--quiet', '-m', `with ${path}`);
}

/** A repository with the submodule `lib`, which has the submodule `deep/er`. */
function nested(): { readonly app: string; readonly lib: string; readonly deep: string } {
  const [app, lib, deep] = [repository(), repository(), repository()];
  addSubmodule(lib, deep, 'deep/er');
  addSubmodule(app, lib, 'lib');
  return { app, lib, deep };
}

/** The same repositories over http, as any web server has them. */
async function serve(directory: string): Promise<{ readonly url: string; readonly close: () => void }> {
  git(directory, 'update-server-info');
  const server = createServer(({ url = '' }, response) => {
    const file = createReadStream(join(directory, '.git', url.replace(/^\/app\.git|\?.*/g, '')));
    file.once('error', () => response.writeHead(404).end());
    file.pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/app.git`, close: () => server.close() };
}

describe('submodules', () => {
  test.each(['cached', 'own'])('are checked out at their commits, those within, too (%s)', async (how) => {
    const { app, lib } = nested();
    writeFileSync(join(lib, 'later'), 'later');
    git(lib, 'add', '.');
    git(lib, 'commit', '--quiet', '-m', 'later');
    const before = git(app, 'config', '--local', '--list');
    service.sources = [source(how === 'own' ? '.' : `file://${app}`)];
    const { texts, ended } = await run('ls lib lib/deep/er; git status --porcelain', {
      directory: how === 'own' ? app : temporaryFolder(),
    });
    expect(texts).toEqual(['lib:', 'deep', 'one', 'two', '', 'lib/deep/er:', 'one', 'two']);
    expect(ended.kept).toBeUndefined();
    expect(git(app, 'config', '--local', '--list')).toBe(before);
  });

  test('are known to the git of the session, by relative addresses, too', async () => {
    const folder = temporaryFolder();
    const { app, lib } = nested();
    execFileSync('mv', [app, join(folder, 'app')]);
    execFileSync('mv', [lib, join(folder, 'lib')]);
    git(join(folder, 'app'), 'submodule', 'set-url', 'lib', '../lib');
    git(join(folder, 'app'), 'commit', '--quiet', '-am', 'relative');
    service.sources = [source(`file://${folder}/app`)];
    const { texts } = await run('git submodule status --recursive | cut -c1; ls lib');
    expect(texts).toEqual([' ', ' ', 'deep', 'one', 'two']);
  });

  test.each([
    ['a new file', 'touch lib/deep/er/new'],
    [
      'a commit on a branch',
      'cd lib && git switch -q -c x && git $AS commit -q --allow-empty -m mine && git switch -q --detach HEAD~',
    ],
    ['what was stashed', 'cd lib && echo more >> one && git $AS stash --quiet'],
  ])('keep the worktree where the session left in them %s', async (_, command) => {
    const { app } = nested();
    service.sources = [source('.')];
    const { ended, texts } = await run(`AS="-c user.name=T -c user.email=t@e"; ${command}`, {
      directory: app,
    });
    expect(ended.exitCode, texts.join('\n')).toBe(0);
    expect(ended.kept).toBeDefined();
  });

  test.each(['cached', 'own'])('count to what the worktree takes, once (%s)', async (how) => {
    const [app, lib] = [repository(), repository()];
    writeFileSync(join(lib, 'big'), randomBytes(1_000_000));
    git(lib, 'add', '.');
    git(lib, 'commit', '--quiet', '-m', 'big');
    addSubmodule(app, lib, 'lib');
    service.sources = [source(how === 'own' ? '.' : `file://${app}`)];
    const { bench } = await run('touch new', { directory: how === 'own' ? app : temporaryFolder() });
    const left = localBridges(bench.stateDir)[0]!.leftovers(systemClock);
    // What is checked out, and the share in what git has of it: that is linked to where it came from.
    expect(await left.sessions[0]!.bytes()).toBeGreaterThan(1_400_000);
    expect(await left.repositoryBytes()).toBeLessThan(1_000_000);
  });

  test('are part of what a session changed', async () => {
    const { app } = nested();
    service.sources = [source('.')];
    const as = 'git -c user.name=T -c user.email=t@e';
    const command = `cd lib && echo more >> one && ${as} commit -qam mine && echo b > deep/er/new`;
    const { bench } = await run(command, { directory: app });
    const [found] = localBridges(bench.stateDir).flatMap((each) => each.workspace('session_a') ?? []);
    const [diff] = await found!.diff({ clock: systemClock, signal: new AbortController().signal });
    expect(textOf(diff!).match(/^[+-][^+-].*$|^[+-]{3} .*$/gm)).toEqual([
      '--- a/lib',
      '+++ b/lib',
      expect.stringMatching(/^-Subproject commit /),
      expect.stringMatching(/^\+Subproject commit /),
      '--- a/lib/one',
      '+++ b/lib/one',
      '-one',
      '+onemore',
      '--- /dev/null',
      '+++ b/lib/deep/er/new',
      '+b',
    ]);
    const clone = join(temporaryFolder(), 'clone');
    git(app, '-c', 'protocol.file.allow=always', 'clone', '--quiet', '--recursive', app, clone);
    execFileSync('git', ['apply'], { cwd: clone, input: diff!.patch });
    expect(readFileSync(join(clone, 'lib/one'), 'utf8')).toBe('onemore\n');
    expect(readFileSync(join(clone, 'lib/deep/er/new'), 'utf8')).toBe('b\n');
  });

  test('run no hook, be it of the template that every new repository of the person gets', async () => {
    const { app } = nested();
    const [template, home] = [temporaryFolder(), temporaryFolder()];
    mkdirSync(join(template, 'hooks'));
    const hook = `#!/bin/sh\ntouch ${template}/hooked\n`;
    writeFileSync(join(template, 'hooks/post-checkout'), hook, { mode: 0o755 });
    writeFileSync(join(home, 'config'), `[init]\n\ttemplateDir = ${template}\n`);
    process.env['GIT_CONFIG_GLOBAL'] = join(home, 'config');
    try {
      service.sources = [source(`file://${app}`)];
      expect((await run('ls lib/deep/er')).texts).toEqual(['one', 'two']);
      expect(existsSync(join(template, 'hooked'))).toBe(false);
    } finally {
      delete process.env['GIT_CONFIG_GLOBAL'];
    }
  });

  test('without an address are left as git leaves them', async () => {
    const app = repository();
    execFileSync('git', ['clone', '--quiet', repository(), join(app, 'stray')]);
    git(app, '-c', 'advice.addEmbeddedRepo=false', 'add', 'stray');
    git(app, 'commit', '--quiet', '-m', 'stray');
    addSubmodule(app, repository(), 'lib');
    service.sources = [source(`file://${app}`)];
    const { texts, ended } = await run('ls stray lib');
    expect(texts).toEqual(['lib:', 'one', 'two', '', 'stray:']);
    expect(ended.kept).toBeUndefined();
  });

  test("that the person's own configuration leaves out are left out", async () => {
    const { app } = nested();
    git(app, 'config', 'submodule.lib.active', 'false');
    service.sources = [source('.')];
    expect((await run('ls lib', { directory: app })).texts).toEqual([]);
  });
});

describe('a submodule that cannot be had', () => {
  test('ends the session as failed, in words; nothing is left', async () => {
    const { app, lib } = nested();
    execFileSync('mv', [lib, `${lib}-gone`]);
    service.sources = [source(`file://${app}`)];
    const { bench, texts, ended } = await run('echo never');
    expect(texts.join('\n')).toMatch(/^cannot start: its submodules cannot be checked out: .*lib/s);
    expect(ended).toMatchObject({ reason: 'exited', exitCode: 127 });
    const [key] = readdirSync(bench.stateDir);
    expect(readdirSync(join(bench.stateDir, key!, 'worktrees'))).toEqual([]);
  });

  test.each([
    ['the one that it is in is from elsewhere, and it names a place of this machine', 'path'],
    ['it names a program', 'helper'],
  ])('since %s', async (_, kind) => {
    const app = repository();
    const secret = repository();
    addSubmodule(app, secret, 'lib');
    const proof = join(temporaryFolder(), 'proof');
    const url = kind === 'path' ? secret : `ext::touch ${proof}`;
    git(app, 'config', '--file', '.gitmodules', 'submodule.lib.url', url);
    git(app, 'commit', '--quiet', '-am', 'elsewhere', '--allow-empty');
    const { url: address, close } = await serve(app);
    try {
      service.sources = [source(kind === 'helper' ? `file://${app}` : address)];
      const { texts, ended } = await run('echo never');
      expect(texts.join('\n')).toMatch(/cannot be checked out: .*transport '(file|ext)' not allowed/s);
      expect(ended).toMatchObject({ exitCode: 127 });
      expect(existsSync(proof)).toBe(false);
    } finally {
      close();
    }
  });

  test('since it is of this machine, and only the outermost is, too', async () => {
    const { app, lib } = nested();
    const { url: address, close } = await serve(lib);
    try {
      git(app, 'config', '--file', '.gitmodules', 'submodule.lib.url', address);
      git(app, 'commit', '--quiet', '-am', 'over http');
      service.sources = [source(`file://${app}`)];
      expect((await run('echo never')).texts.join('\n')).toContain("transport 'file' not allowed");
    } finally {
      close();
    }
  });

  test('since its update is said to be a program, which does not run', async () => {
    const { app } = nested();
    const proof = join(temporaryFolder(), 'proof');
    git(app, 'config', '--file', '.gitmodules', 'submodule.lib.update', `!touch ${proof}`);
    git(app, 'commit', '--quiet', '-am', 'update');
    service.sources = [source('.')];
    const { ended } = await run('echo never', { directory: app });
    expect(ended).toMatchObject({ exitCode: 127 });
    expect(existsSync(proof)).toBe(false);
  });
});
