import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '@sallyport/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scratch } from '../../test/batcher.ts';
import { parseLines, toLine } from './lines.ts';
import { openSpool, type SpoolOptions } from './spool.ts';

function makeSpool(options: Partial<SpoolOptions> = {}) {
  const clock = new ManualClock();
  const directory = options.directory ?? scratch().spoolDir;
  return { directory, clock, spool: openSpool({ directory, clock, ...options }) };
}

const line = (name: string) => JSON.stringify({ name });

test('nothing exists before the first event; then only the owner can read it', () => {
  const { directory, spool } = makeSpool();
  expect(spool.claim()).toBeUndefined();
  expect(() => statSync(directory)).toThrow('ENOENT');
  spool.append([line('a'), line('b')]);
  const [file, ...others] = readdirSync(directory);
  expect(others).toEqual([]);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(join(directory, file!)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(directory, file!), 'utf8')).toBe(toLine(line('a')) + toLine(line('b')));
});

test('a segment is claimed once, the oldest first, and is gone when it is settled', async () => {
  const { directory, spool, clock } = makeSpool();
  const other = openSpool({ directory, clock });
  spool.append([line('a')]);
  await clock.advance(1);
  spool.append([line('b')]);
  const [first, second] = [spool.claim(), other.claim()];
  expect([first?.events, second?.events, spool.claim()]).toEqual([[line('a')], [line('b')], undefined]);
  first?.settle([]);
  second?.settle([]);
  expect(readdirSync(directory)).toEqual([]);
});

test('whoever looks sees all events, those on their way included, and changes nothing', () => {
  const { spool, clock, directory } = makeSpool();
  spool.append([line('a'), line('b')]);
  spool.claim();
  expect(openSpool({ directory, clock }).peek()).toEqual([line('a'), line('b')]);
  expect(openSpool({ directory: '/nowhere', clock }).peek()).toEqual([]);
});

test('what was not sent goes back, as old as it was', async () => {
  const { spool, clock } = makeSpool({ maxAgeMs: 10_000 });
  spool.append([line('a'), line('b')]);
  await clock.advance(9000);
  spool.claim()?.settle([line('b')]);
  const again = spool.claim();
  expect(again?.events).toEqual([line('b')]);
  again?.settle([line('b')]);
  await clock.advance(1001);
  expect([spool.claim(), spool.takeRemoved(), spool.takeRemoved()]).toEqual([undefined, 1, 0]);
});

test('a claim without a sign of life is taken over after 120 s; a renewed one is not', async () => {
  const { spool, clock } = makeSpool();
  spool.append([line('a')]);
  const claim = spool.claim();
  await clock.advance(119_000);
  claim?.renew();
  await clock.advance(119_000);
  expect(spool.claim()).toBeUndefined();
  await clock.advance(1000);
  expect(spool.claim()?.events).toEqual([line('a')]);
});

test('who takes a claim over goes on where it stood; what is done with is neither seen nor counted', async () => {
  const { spool, clock } = makeSpool({ maxAgeMs: 300_000 });
  spool.append(['a', 'b', 'c', 'd', 'e'].map(line));
  const first = spool.claim();
  first?.progress(1);
  first?.progress(2);
  first?.renew();
  expect(spool.peek()).toEqual(['c', 'd', 'e'].map(line));
  await clock.advance(120_000);
  const second = spool.claim();
  expect(second?.events).toEqual(['c', 'd', 'e'].map(line));
  second?.progress(1);
  // Whoever has lost a claim has no say in it.
  expect(() => first?.progress(3)).toThrow('ENOENT');
  expect(spool.peek()).toEqual(['d', 'e'].map(line));
  await clock.advance(180_001);
  expect([spool.claim(), spool.takeRemoved(), spool.peek()]).toEqual([undefined, 2, []]);
});

test('a file whose writer died is sent up to its torn line', async () => {
  const { directory, spool, clock } = makeSpool();
  spool.append([line('a'), line('b')]);
  const [file] = readdirSync(directory);
  truncateSync(join(directory, file!), toLine(line('a')).length + 14);
  const claim = spool.claim();
  expect(claim).toMatchObject({ events: [line('a')], damaged: 1 });

  const part = join(directory, `${clock.now()}-0123456789abcdef.part`);
  writeFileSync(part, `${toLine(line('c'))}${toLine(line('d')).slice(0, 20)}`);
  utimesSync(part, clock.now() / 1000, clock.now() / 1000);
  expect(spool.claim()).toBeUndefined();
  await clock.advance(120_000);
  const late = [spool.claim(), spool.claim()].flatMap((each) => each?.events ?? []);
  expect(late.sort()).toEqual([line('a'), line('c')]);
});

test('damage of any kind costs the damaged lines alone, and none of them passes for an event', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string()),
      fc.nat(),
      fc.string({ unit: 'binary', maxLength: 20 }),
      (names, at, noise) => {
        const text = names.map((name) => toLine(line(name))).join('');
        const place = at % (text.length + 1);
        const damaged = text.slice(0, place) + noise + text.slice(place + noise.length);
        const lines = damaged.split('\n').map((each) => `${each}\n`);
        const untouched = names.map(line).filter((each) => lines.includes(toLine(each)));
        const { records } = parseLines(damaged);
        expect(names.map(line)).toEqual(expect.arrayContaining(records));
        expect(records).toEqual(expect.arrayContaining(untouched));
      },
    ),
  );
});

test('a digit that flipped is seen, though the line is sound JSON', () => {
  expect(parseLines(toLine('{"count":1}').replace('1}', '7}'))).toEqual({ records: [], damaged: 1 });
});

test('the oldest makes room; a claim in use is left alone', async () => {
  const { spool, clock } = makeSpool({ maxBytes: 3 * 110 });
  const long = (name: string) => line(name.padEnd(89, '.'));
  for (const name of ['a', 'b', 'c']) {
    spool.append([long(name)]);
    await clock.advance(1);
  }
  const claim = spool.claim();
  spool.append([long('d')]);
  expect(claim?.events).toEqual([long('a')]);
  expect(spool.claim()?.events).toEqual([long('c')]);
  expect(spool.takeRemoved()).toBe(1);
});

test('of more than there is room for the newest stay, and each other one is counted', () => {
  const { spool } = makeSpool({ maxBytes: 30 * 110 });
  const long = (index: number) => line(String(index).padEnd(89, '.'));
  const all = Array.from({ length: 40 }, (_, index) => long(index));
  spool.append(all);
  expect(spool.peek()).toEqual(all.slice(-28));
  expect(spool.takeRemoved()).toBe(12);
  expect(spool.claim()?.events).toEqual(all.slice(12, 15));
  spool.append([line('x'.repeat(3300))]);
  expect([spool.peek().length, spool.takeRemoved()]).toEqual([28, 1]);
});

test('where not all of it can be written, nothing of it stays', () => {
  const clock = new ManualClock();
  const { spool } = makeSpool({ maxBytes: 30 * 110, clock });
  const all = Array.from({ length: 9 }, (_, index) => line(String(index).padEnd(89, '.')));
  spool.append(all.slice(0, 1));
  let calls = 0;
  clock.now = () => {
    if (++calls > 3) throw new Error('in the third segment');
    return 0;
  };
  expect(() => spool.append(all)).toThrow('in the third segment');
  expect(spool.peek()).toEqual(all.slice(0, 1));
});

test('a place that cannot be written is an error, and nothing is left there', () => {
  const { directory } = scratch();
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const { spool } = makeSpool({ directory: join(file, 'spool') });
  expect(() => spool.append([line('a')])).toThrow('EEXIST');
  expect(spool.claim()).toBeUndefined();
  spool.clear();
});

test('what has a name of the spool and is no plain file is neither read nor followed nor removed', () => {
  const { directory, spoolDir } = scratch();
  mkdirSync(spoolDir, { recursive: true });
  const outside = join(directory, 'outside');
  writeFileSync(outside, toLine(line('x')));
  utimesSync(outside, 1, 1);
  const named = (last: string, state: string) =>
    join(spoolDir, `1000000000000-000000000000000${last}.${state}`);
  mkdirSync(named('1', 'log'));
  symlinkSync(outside, named('2', 'log'));
  symlinkSync('nowhere', named('3', 'log'));
  if (process.platform !== 'win32')
    for (const state of ['log', 'part', '1.claim']) execFileSync('mkfifo', [named('4', state)]);
  const { spool } = makeSpool({ directory: spoolDir, maxBytes: 200 });
  const before = readdirSync(spoolDir);
  // Both room and age would have the oldest go.
  for (const name of ['a', 'b', 'c']) spool.append([line(name.padEnd(60, '.'))]);
  expect(spool.peek().length).toBeGreaterThan(0);
  for (let claim = spool.claim(); claim; claim = spool.claim()) claim.settle([]);
  expect(readdirSync(spoolDir)).toEqual(before);
  expect(statSync(outside).mtimeMs).toBe(1000);
  spool.clear();
  expect(readFileSync(outside, 'utf8')).toBe(toLine(line('x')));
});

test('a claim of before the clock was set back is taken over as one that has grown stale', async () => {
  const { spool, clock, directory } = makeSpool();
  spool.append([line('a')]);
  spool.claim();
  const [name] = readdirSync(directory);
  const future = clock.now() / 1000 + 10 * 365 * 86_400;
  utimesSync(join(directory, name!), future, future);
  expect(spool.claim()?.events).toEqual([line('a')]);
});

test('what goes back unsent is there once, whenever the process is killed, and for one process', async () => {
  const { spool, clock, directory } = makeSpool();
  spool.append(['a', 'b', 'c'].map(line));
  const lost = spool.claim();
  await clock.advance(120_000);
  const claim = spool.claim();
  claim?.progress(1);
  // The same file as before: nothing was written that a full disk, or a kill, could have cut off.
  const file = () => readdirSync(directory).map((name) => statSync(join(directory, name)).ino);
  const before = file();
  claim?.settle(['b', 'c'].map(line));
  expect([file(), readdirSync(directory)]).toEqual([before, [expect.stringMatching(/\.1\.log$/)]]);
  lost?.settle(['a', 'b', 'c'].map(line));
  expect(spool.peek()).toEqual(['b', 'c'].map(line));
  // Of which some were refused.
  const again = spool.claim();
  again?.settle([line('c')]);
  const last = spool.claim();
  expect(last?.events).toEqual([line('c')]);
});

test('a service on this machine is the same on another port', () => {
  const { directory, clock, spool } = makeSpool({ baseUrl: 'http://127.0.0.1:8787' });
  spool.append([line('a')]);
  expect(openSpool({ directory, clock, baseUrl: 'http://localhost:9' }).peek()).toEqual([line('a')]);
  expect(openSpool({ directory, clock, baseUrl: 'https://one.example' }).peek()).toEqual([]);
});

test('events wait for their own service: another gets none, and sees none; those of no service are for any', async () => {
  const { directory, clock, spool } = makeSpool({ baseUrl: 'https://one.example/' });
  spool.append([line('one')]);
  await clock.advance(1);
  const other = openSpool({ directory, clock, baseUrl: 'https://two.example' });
  expect([other.peek(), other.claim()]).toEqual([[], undefined]);
  openSpool({ directory, clock }).append([line('any')]);
  expect(other.peek()).toEqual([line('any')]);

  const same = openSpool({ directory, clock, baseUrl: 'https://one.example' });
  const claim = same.claim();
  expect(claim?.events).toEqual([line('one')]);
  claim?.settle([line('one')]);
  expect(other.claim()?.events).toEqual([line('any')]);
  expect(other.claim()).toBeUndefined();

  await clock.advance(8 * 24 * 3600 * 1000);
  expect(other.claim()).toBeUndefined();
  expect([other.takeRemoved(), readdirSync(directory)]).toEqual([2, []]);
  spool.append([line('again')]);
  other.clear();
  expect(() => statSync(directory)).toThrow('ENOENT');
});

test('other files in the directory are none of its business', () => {
  const { spoolDir } = scratch();
  mkdirSync(spoolDir, { recursive: true });
  for (const name of ['notes.log', '123-abc.log', '.hidden']) writeFileSync(join(spoolDir, name), line('x'));
  chmodSync(spoolDir, 0o755);
  const { spool } = makeSpool({ directory: spoolDir });
  expect(spool.claim()).toBeUndefined();
  spool.append([line('a')]);
  spool.clear();
  expect(readdirSync(spoolDir).sort()).toEqual(['.hidden', '123-abc.log', 'notes.log']);
});
