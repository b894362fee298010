import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '@sallyport/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scratch } from '../../test/batcher.ts';
import { parseLines } from './lines.ts';
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
  expect(readFileSync(join(directory, file!), 'utf8')).toBe(`${line('a')}\n${line('b')}\n`);
});

test('a segment is claimed once, the oldest first, and is gone when it is settled', async () => {
  const { directory, spool, clock } = makeSpool();
  const other = openSpool({ directory, clock });
  spool.append([line('a')]);
  await clock.advance(1);
  spool.append([line('b')]);
  const [first, second] = [spool.claim(), other.claim()];
  expect([first?.lines, second?.lines, spool.claim()]).toEqual([[line('a')], [line('b')], undefined]);
  first?.settle([]);
  second?.settle([]);
  expect(readdirSync(directory)).toEqual([]);
});

test('what was not sent goes back, as old as it was', async () => {
  const { spool, clock } = makeSpool({ maxAgeMs: 10_000 });
  spool.append([line('a'), line('b')]);
  await clock.advance(9000);
  spool.claim()?.settle([line('b')]);
  const again = spool.claim();
  expect(again?.lines).toEqual([line('b')]);
  again?.settle([line('b')]);
  await clock.advance(1001);
  expect([spool.claim(), spool.removed()]).toEqual([undefined, 1]);
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
  expect(spool.claim()?.lines).toEqual([line('a')]);
});

test('a file whose writer died is sent up to its torn line', async () => {
  const { directory, spool, clock } = makeSpool();
  spool.append([line('a'), line('b')]);
  const [file] = readdirSync(directory);
  truncateSync(join(directory, file!), line('a').length + 5);
  const claim = spool.claim();
  expect(claim).toMatchObject({ lines: [line('a')], damaged: 1 });

  const part = join(directory, `${clock.now()}-0123456789abcdef.part`);
  writeFileSync(part, `${line('c')}\n{"na`);
  utimesSync(part, clock.now() / 1000, clock.now() / 1000);
  expect(spool.claim()).toBeUndefined();
  await clock.advance(120_000);
  const late = [spool.claim(), spool.claim()].flatMap((each) => each?.lines ?? []);
  expect(late.sort()).toEqual([line('a'), line('c')]);
});

test('damage of any kind costs the damaged lines alone', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string()),
      fc.nat(),
      fc.string({ unit: 'binary', maxLength: 20 }),
      (names, at, noise) => {
        const text = names.map((name) => `${line(name)}\n`).join('');
        const place = at % (text.length + 1);
        const damaged = text.slice(0, place) + noise + text.slice(place + noise.length);
        const { lines } = parseLines(damaged);
        for (const each of lines) expect(typeof JSON.parse(each)).toBe('object');
        const untouched = names.map(line).filter((each) => damaged.split('\n').includes(each));
        expect(lines).toEqual(expect.arrayContaining(untouched));
      },
    ),
  );
});

test('the oldest makes room; a claim in use is left alone', async () => {
  const { spool, clock } = makeSpool({ maxBytes: 3 * 101 });
  const long = (name: string) => line(name.padEnd(89, '.'));
  for (const name of ['a', 'b', 'c']) {
    spool.append([long(name)]);
    await clock.advance(1);
  }
  const claim = spool.claim();
  spool.append([long('d')]);
  expect(claim?.lines).toEqual([long('a')]);
  expect(spool.claim()?.lines).toEqual([long('c')]);
  expect(spool.removed()).toBe(1);
  expect(() => spool.append([long('e'), long('f'), long('g'), long('h')])).toThrow(RangeError);
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

test('other files in the directory are none of its business', () => {
  const { spoolDir } = scratch();
  mkdirSync(spoolDir, { recursive: true });
  for (const name of ['notes.jsonl', '123-abc.jsonl', '.hidden'])
    writeFileSync(join(spoolDir, name), line('x'));
  chmodSync(spoolDir, 0o755);
  const { spool } = makeSpool({ directory: spoolDir });
  expect(spool.claim()).toBeUndefined();
  spool.append([line('a')]);
  spool.clear();
  expect(readdirSync(spoolDir).sort()).toEqual(['.hidden', '123-abc.jsonl', 'notes.jsonl']);
});
