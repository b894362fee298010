import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { identify } from '@sallyport/core/process-identity';
import type { EventData, SourceChanges, UnknownChanges } from '../protocol/events.ts';
import { maxFrameBytes } from '../protocol/frames.ts';
import { Changes } from './changes.ts';
import { temporaryFolder } from './testing/bench.ts';
import { logEvent, type FakeFrame, type FakeStream } from './testing/fake-service.ts';
import { git, repository, source } from './testing/repository.ts';
import { useBench } from './testing/use-bench.ts';

const { service, startSession } = useBench();

const commit = 'git -c user.name=T -c user.email=t@e commit --quiet';

const ofType = ({ frames }: FakeStream, type: string) => frames.all.filter((frame) => frame.type === type);

/** What the service was told, with the patches put together. */
function toldOn(stream: FakeStream) {
  const patches: Buffer[] = [];
  for (const { data } of ofType(stream, 'worker.patch')) {
    const { source: at, text, base64 = '' } = data as EventData['worker.patch'];
    const piece = text === undefined ? Buffer.from(base64, 'base64') : Buffer.from(text);
    patches[at] = Buffer.concat([patches[at] ?? Buffer.alloc(0), piece]);
  }
  const told = ofType(stream, 'worker.changes').map(({ data }) => data as EventData['worker.changes']);
  return { told, patches, types: stream.frames.all.map(({ type }: FakeFrame) => type) };
}

/** Runs the session `session_a` in a worktree of `directory` to its end. */
async function run(
  command: string,
  { directory = repository(), ...options }: Parameters<typeof startSession>[1] = {},
) {
  service.sources = [source('.')];
  const { bench, stream } = await startSession(command, { once: true, directory, ...options });
  await bench.until('session.ended');
  await bench.result;
  const { told, ...rest } = toldOn(stream);
  return { ...rest, told, changes: told[0]?.sources[0] as SourceChanges, directory, bench };
}

describe('what a session changed is told before its end', () => {
  test('in commits and without, with new, renamed, deleted and binary files', async () => {
    const directory = repository();
    const lines = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join('');
    writeFileSync(join(directory, 'long'), lines);
    git(directory, 'add', '.');
    git(directory, 'commit', '--quiet', '-m', 'long');
    const { changes, patches, types } = await run(
      `echo more >> one; ${commit} -am mine; git rm --quiet two; git mv long longer; echo new > new; printf '\\0\\1' > binary`,
      { directory, worktrees: 'remove' },
    );
    expect(types.slice(-3)).toEqual(['worker.patch', 'worker.changes', 'worker.exited']);
    expect(changes).toMatchObject({
      url: '.',
      branch: 'sallyport/session_a',
      base: git(directory, 'rev-parse', 'main'),
      head: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
      file_count: 5,
      added: 2,
      removed: 2,
      patch_bytes: patches[0]!.length,
    });
    expect(changes.head).not.toBe(changes.base);
    expect(changes.files).toEqual([
      { path: 'binary' },
      { path: 'longer', from: 'long', added: 0, removed: 0 },
      { path: 'new', added: 1, removed: 0 },
      { path: 'one', added: 1, removed: 1 },
      { path: 'two', added: 0, removed: 1 },
    ]);
    expect(changes).not.toHaveProperty('truncated');
    // Whoever has the base has all of it but the binary file.
    const clone = join(temporaryFolder(), 'clone');
    execFileSync('git', ['clone', '--quiet', directory, clone]);
    execFileSync('git', ['apply', '--exclude=binary'], { cwd: clone, input: patches[0] });
    expect(readFileSync(join(clone, 'one'), 'utf8')).toBe('onemore\n');
    expect(readFileSync(join(clone, 'longer'), 'utf8')).toBe(lines);
    expect(existsSync(join(clone, 'two'))).toBe(false);
  });

  test('or that it changed nothing', async () => {
    const { told, patches } = await run('true');
    expect(told).toEqual([
      { sources: [expect.objectContaining({ files: [], file_count: 0, patch_bytes: 0 })] },
    ]);
    expect(patches).toEqual([]);
  });

  test('but nothing of a session whose directory is not its own', async () => {
    const directory = repository();
    const { bench, stream } = await startSession('echo mine > one', { once: true, directory });
    await bench.result;
    expect(toldOn(stream)).toMatchObject({ told: [], patches: [] });
  });

  test('source by source, and of one that git cannot tell of why', async () => {
    const parent = temporaryFolder();
    const [first, second] = ['app', 'lib'].map((name) => join(parent, name)) as [string, string];
    for (const directory of [first, second]) renameSync(repository(), directory);
    service.sources = [source(`file://${first}`), source(`file://${second}`)];
    const command = 'echo more >> lib/one; rm -r app';
    const { bench, stream } = await startSession(command, { once: true });
    await bench.result;
    const { told, patches } = toldOn(stream);
    expect(told[0]!.sources).toMatchObject([
      { error: expect.stringContaining('is no worktree of') as string },
      { file_count: 1 },
    ]);
    expect(told[0]!.sources.map(({ url }) => url)).toEqual([`file://${first}`, `file://${second}`]);
    expect(Object.keys(patches)).toEqual(['1']);
  });
});

describe('what is told of it', () => {
  test('ends at the end of a line where it is too much, and no event is too large', async () => {
    // Control characters take six bytes in JSON.
    const { changes, patches, bench } = await run(
      `awk 'BEGIN { for (i = 0; i < 9000; i++) printf "%s\\n", "${'\\001'.repeat(80)}" }' > many`,
    );
    expect(changes).toMatchObject({ truncated: true, patch_bytes: patches[0]!.length, added: 9000 });
    expect(patches[0]!.length).toBeGreaterThan(512 * 1024 - 100);
    expect(patches[0]!.length).toBeLessThanOrEqual(512 * 1024);
    expect(patches[0]!.at(-1)).toBe(0x0a);
    const sizes = service.streams.all[0]!.frames.all.map((frame) => JSON.stringify(frame).length);
    expect(Math.max(...sizes)).toBeLessThan(maxFrameBytes);
    expect(bench.of('session.ended')).toMatchObject([{ reason: 'exited', exitCode: 0 }]);
  });

  test('is what the files are, whatever their encoding, in lines longer than an event, too', async () => {
    const { patches } = await run(
      `awk 'BEGIN { for (i = 0; i < 200000; i++) printf "\\351"; printf "\\n" }' > latin`,
    );
    expect(patches[0]!.toString('latin1')).toContain(`\n+${'é'.repeat(200_000)}\n`);
  });

  test('has no secret of the bridge, and says that one is replaced', async () => {
    const environment = { PATH: process.env['PATH'], GH_TOKEN: 'gho_0123456789abcdef' };
    const { changes, patches } = await run(
      'echo gho_0123456789a""bcdef > new; echo > file-gho_0123456789a""bcdef',
      { environment },
    );
    expect(patches[0]!.toString()).toContain('\n+***\n');
    expect(changes).toMatchObject({ redacted: true, files: [{ path: 'file-***' }, { path: 'new' }] });
    expect(JSON.stringify([changes, patches.map(String)])).not.toContain('gho_0123456789abcdef');
  });

  test.each([
    ['files', [expect.objectContaining({ file_count: 1, patch_bytes: 0, withheld: true })]],
    ['none', undefined],
  ] as const)('is what the bridge lets its sessions tell: %s', async (changes, sources) => {
    const { told, patches } = await run('echo new > new', { changes });
    expect(told).toEqual(sources ? [{ sources }] : []);
    expect(patches).toEqual([]);
  });
});

describe('git that hangs', () => {
  /** A session whose changes git cannot tell: a filter of the repository's own does not end. */
  async function hanging() {
    const clock = new ManualClock();
    const proof = join(temporaryFolder(), 'proof');
    const directory = repository();
    git(directory, 'config', 'filter.hang.clean', `echo $$ >> ${proof}; sleep 1000`);
    service.sources = [source('.')];
    const command = 'echo "one filter=hang" > .gitattributes; echo more >> one; exit 3';
    const started = await startSession(command, { directory, clock, worktrees: 'keep' });
    while (!existsSync(proof) || readFileSync(proof, 'utf8') === '')
      await new Promise((resolve) => setImmediate(resolve));
    const pid = Number(readFileSync(proof, 'utf8').split('\n')[0]);
    return { ...started, clock, pid };
  }
  const isThere = (pid: number) => identify(pid) !== undefined;
  const exited = (stream: FakeStream) => stream.frames.until(({ type }) => type === 'worker.exited');

  test('holds the end of the session up for 20 s', async () => {
    const { clock, stream, pid } = await hanging();
    await clock.advance(19_999);
    expect(ofType(stream, 'worker.exited')).toEqual([]);
    await clock.advance(1);
    expect(await exited(stream)).toMatchObject({ data: { exit_code: 3 } });
    const { told } = toldOn(stream);
    expect((told[0]!.sources[0] as UnknownChanges).error).toBe('git was given 20 s, and took longer');
    expect(isThere(pid)).toBe(false);
  });

  test('holds the end of the bridge up for 2 s', async () => {
    const { clock, stream, bench } = await hanging();
    bench.signal();
    await clock.advance(2_000);
    expect(await exited(stream)).toMatchObject({ data: { exit_code: 3 } });
    expect(await bench.result).toMatchObject({ reason: 'stopped', killed: false });
    expect(service.countOf('stop')).toBe(0);
    expect(toldOn(stream).told).toMatchObject([{ sources: [{ error: expect.any(String) as string }] }]);
  });

  test('does not hold a bridge up that is killed', async () => {
    const { stream, bench, pid } = await hanging();
    bench.signal();
    bench.runtime.kill();
    expect(await bench.result).toMatchObject({ killed: true });
    expect(toldOn(stream)).toMatchObject({ told: [] });
    expect(await exited(stream)).toMatchObject({ data: { exit_code: 3 } });
    expect(isThere(pid)).toBe(false);
  });

  test('is ended where the session is stopped by force', async () => {
    const { stream, bench, pid } = await hanging();
    stream.send({
      id: 'e1',
      seq: 1,
      session_id: 's',
      type: 'control.stop',
      data: { force: true, deadline_ms: 10_000 },
      created_at: '2026-01-01T00:00:00.000Z',
    });
    await bench.until('session.ended');
    expect(isThere(pid)).toBe(false);
  });
});

describe('what a session has changed so far', () => {
  const asked = (seq: number) => logEvent(seq, 'control.changes');
  const told = (stream: FakeStream, count = 1) =>
    stream.frames.until(({ type }) => type === 'worker.changes', count);

  test('is told to whoever asks, and its process hears nothing of that', async () => {
    service.sources = [source('.')];
    const command = `echo 1 > new; echo up; head -n 1; echo 2 >> new; echo on; head -n 1`;
    const options = { directory: repository(), interactive: true, once: true };
    const { bench, stream } = await startSession(command, options);
    await bench.until('session.output');
    stream.send(asked(1));
    expect(await told(stream)).toMatchObject({ data: { sources: [{ added: 1 }] } });
    expect(bench.of('session.output')).toHaveLength(1);
    stream.send(logEvent(2, 'session.message', { text: 'go on' }));
    await bench.events.until((event) => event.type === 'session.output' && event.text === 'on');
    stream.send(asked(3));
    expect(await told(stream, 2)).toMatchObject({ data: { sources: [{ added: 2 }] } });
    stream.send(logEvent(4, 'session.message', { text: 'end' }));
    await bench.result;
    expect(ofType(stream, 'worker.changes')).toHaveLength(3);
  });

  test('is told once to all who ask at a time, and by its end to those who asked just before', async () => {
    service.sources = [source('.')];
    const started = join(temporaryFolder(), 'started');
    const directory = repository();
    git(directory, 'config', 'filter.slow.clean', `echo >> ${started}; while [ -e wait ]; do :; done; cat`);
    const command =
      'echo "one filter=slow" > .gitattributes; touch wait; echo more >> one; echo up; head -n 1';
    const { bench, stream } = await startSession(command, { directory, interactive: true, once: true });
    const { directory: place } = await bench.until('session.workspace');
    await bench.until('session.output');
    for (const seq of [1, 2, 3]) stream.send(asked(seq));
    while (!existsSync(started)) await new Promise((resolve) => setImmediate(resolve));
    stream.send(logEvent(4, 'session.message', { text: 'end' }));
    rmSync(join(place, 'wait'));
    await bench.result;
    const types = stream.frames.all.map(({ type }) => type).filter((type) => /changes|exited/.test(type));
    expect(types.at(-1)).toBe('worker.exited');
    expect(types.length, 'its answer, its end and its exit').toBeLessThanOrEqual(3);
  });

  test('is not told again before the service has the last answer, and then once', async () => {
    const taken: (() => void)[] = [];
    let looked = 0;
    const told: string[] = [];
    const source = { url: '.', branch: 'b', base: 'c', error: 'no git' };
    const changes = new Changes({
      context: { clock: new ManualClock(), killed: new AbortController().signal, log: silentLog },
      places: {
        changes: () => {
          looked += 1;
          return Promise.resolve([source]);
        },
      },
      tellChanges: { shown: 'patch', secrets: [] },
      sessionId: 's',
      gone: new AbortController().signal,
      report: (type) => `${told.push(type)}`,
      settled: () => new Promise((resolve) => taken.push(resolve)),
    });
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    for (let ask = 0; ask < 3; ask += 1) changes.ask();
    await settle();
    for (let ask = 0; ask < 3; ask += 1) changes.ask();
    await settle();
    expect([looked, told]).toEqual([1, ['worker.changes']]);
    taken.pop()?.();
    await settle();
    expect([looked, told]).toEqual([2, ['worker.changes', 'worker.changes']]);
    taken.pop()?.();
    await settle();
    expect(looked).toBe(2);
    await changes.tell({ isLeaving: false });
    changes.ask();
    await settle();
    expect(looked, 'the end is the last word').toBe(3);
  });
});
