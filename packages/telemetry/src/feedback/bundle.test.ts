import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ManualClock } from '@sallyport/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scratch } from '../../test/batcher.ts';
import { createRedactor } from '../client/redact.ts';
import { checkZip } from '../server/zip-check.ts';
import { readZip } from '../testing/read-zip.ts';
import { buildBundle, type BundleOptions } from './bundle.ts';
import { endOf } from './text-lines.ts';

const linesOf = (...lines: string[]) =>
  async function* () {
    yield* lines;
  };

async function build(options: Partial<BundleOptions>, directory = scratch().directory) {
  const redactor = createRedactor({ home: '/home/jane' });
  return buildBundle({ sources: [], directory, redactor, clock: new ManualClock(), ...options });
}

test('a bundle has its texts without secrets, and a manifest that says what was done', async () => {
  const { directory } = scratch();
  const log = join(directory, 'a.log');
  writeFileSync(
    log,
    'start\r\nopen /home/jane/x\ntoken=hunter2\n-----BEGIN EC PRIVATE KEY-----\nMHcC\nAQEE\n-----END EC PRIVATE KEY-----\n{\n  "tokens": [\n    "a",\n    "b"\n  ]\n}\nend',
  );
  const bundle = await build(
    {
      sources: [
        { name: 'logs/a.log', path: log },
        { name: 'made.txt', lines: linesOf('one', 'two') },
        { name: 'gone.log', path: join(directory, 'gone') },
      ],
    },
    join(directory, 'out'),
  );
  expect(await checkZip(bundle.path)).toEqual({ entries: 3 });
  const files = await readZip(bundle.path);
  expect(files['logs/a.log']).toBe(
    'start\nopen ~/x\ntoken=[redacted]\n[redacted]\n[redacted]\n[redacted]\n[redacted]\n{\n  "tokens": [redacted]\n[redacted]\n[redacted]\n  ]\n}\nend\n',
  );
  expect(files['made.txt']).toBe('one\ntwo\n');
  expect(JSON.parse(files['manifest.json']!)).toEqual(bundle.manifest);
  expect(bundle.manifest.files).toEqual([
    { name: 'logs/a.log', bytes: files['logs/a.log']!.length, redacted_lines: 9, left_out_bytes: 0 },
    { name: 'made.txt', bytes: 8, redacted_lines: 0, left_out_bytes: 0 },
  ]);
  expect(bundle.manifest.omitted).toMatchObject([
    { name: 'gone.log', why: expect.stringContaining('no such file') as string },
  ]);
  expect(readdirSync(join(directory, 'out'))).toEqual([bundle.path.split('/').at(-1)]);
});

test('of what is long the end is taken, in whole lines', async () => {
  const { directory } = scratch();
  const log = join(directory, 'long.log');
  const all = Array.from({ length: 1000 }, (_, index) => `line ${String(index).padStart(4, '0')}`);
  writeFileSync(log, all.join('\n') + '\n');
  const sources = [
    { name: 'file.log', path: log },
    { name: 'made.log', lines: linesOf(...all) },
  ];
  const bundle = await build({ sources, maxFileBytes: 105 }, join(directory, 'out'));
  const files = await readZip(bundle.path);
  const end = all.slice(-10).join('\n') + '\n';
  expect(files).toMatchObject({ 'file.log': end, 'made.log': end });
  expect(bundle.manifest.files.map(({ left_out_bytes }) => left_out_bytes)).toEqual([9900, 9900]);
});

test('a secret that begins before the end that is taken is none of it', async () => {
  const { directory } = scratch();
  const secrets = [
    `-----BEGIN PRIVATE KEY-----\n${'SECRET\n'.repeat(20)}-----END PRIVATE KEY-----\n`,
    `tokens: [\n${'  "SECRET",\n'.repeat(20)}]\n`,
    `password: |\n${'  SECRET\n'.repeat(20)}`,
  ];
  for (const [index, secret] of secrets.entries()) {
    const path = join(directory, `${index}.log`);
    writeFileSync(path, `${'before it\n'.repeat(20_000)}${secret}the end\n`);
    for (const maxFileBytes of [20, 50, 100, 150]) {
      const bundle = await build({ sources: [{ name: 'log', path }], maxFileBytes }, join(directory, 'out'));
      const { log } = await readZip(bundle.path);
      expect(log).toContain('the end');
      expect(log).not.toContain('SECRET');
      expect(bundle.manifest.files[0]?.left_out_bytes).toBeGreaterThan(200_000);
    }
  }
});

test('of a file that is written while it is read, there is what it had', async () => {
  const path = join(scratch().directory, 'busy.log');
  writeFileSync(path, 'first\nsecond\n');
  const { lines } = await endOf(path, 1000);
  const read: string[] = [];
  for await (const line of lines) {
    read.push(line);
    appendFileSync(path, 'more\n'.repeat(100_000));
  }
  expect(read).toEqual(['first', 'second']);
});

test('a pipe is read to its end; one that nobody writes to can be left', async () => {
  const { directory } = scratch();
  const path = join(directory, 'pipe');
  execFileSync('mkfifo', [path]);
  const writing = writeFile(path, 'one\ntoken=SECRET\n');
  const bundle = await build({ sources: [{ name: 'pipe', path }] }, join(directory, 'a'));
  await writing;
  expect((await readZip(bundle.path))['pipe']).toBe('one\ntoken=[redacted]\n');
  const leaving = new AbortController();
  const sources = [
    { name: 'pipe', path },
    { name: 'never', lines: linesOf('x') },
  ];
  const left = build({ sources, signal: leaving.signal }, join(directory, 'b'));
  leaving.abort();
  await expect(left).rejects.toThrow(/abort/);
  expect(readdirSync(join(directory, 'b'))).toEqual([]);
});

test('whatever a file is called, the service takes it, under the name that is listed', async () => {
  const { directory } = scratch();
  const odd = fc.constantFrom(
    '\n',
    '\u001b[31m',
    '\u202e',
    '\\',
    '..',
    ' ',
    '-',
    ':',
    '\u0000',
    '\ud800',
    'é',
    '😀',
  );
  const name = fc.array(fc.oneof(odd, fc.string({ unit: 'binary', maxLength: 200 })), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 5 }), async (names) => {
      const sources = names.map((parts, index) => ({
        name: `files/${index + 1}-${parts.join('').replaceAll('/', '')}`,
        lines: linesOf('x'),
      }));
      const { path, manifest } = await build({ sources }, directory);
      expect(await checkZip(path)).toEqual({ entries: names.length + 1 });
      const listed = manifest.files.map((file) => file.name);
      expect(Object.keys(await readZip(path))).toEqual(['manifest.json', ...listed]);
    }),
    { numRuns: 30 },
  );
});

test('names that lead out of the bundle, or are the same to some file system, cost nothing', async () => {
  const { directory } = scratch();
  const odd = fc.constantFrom(
    'a',
    'A',
    'é',
    'e\u0301',
    '..',
    '.',
    '/',
    '//',
    'C:',
    '\\',
    'manifest.json',
    ' .',
    'a/'.repeat(70),
    '',
    'x'.repeat(300),
  );
  const name = fc.array(odd, { maxLength: 6 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 8 }), async (names) => {
      const sources = names.map((each) => ({ name: each, lines: linesOf('x') }));
      const { path, manifest } = await build({ sources }, directory);
      expect(manifest.files).toHaveLength(names.length);
      expect(await checkZip(path)).toEqual({ entries: names.length + 1 });
    }),
    { numRuns: 50 },
  );
});

test('what ends in a line too long to be taken is left out, and the manifest says why', async () => {
  const { directory } = scratch();
  const long = 'x'.repeat(101);
  const contents = [long, `first\n${long}`, `${long}\n`, `${long}\n\n`];
  const sources = contents.flatMap((content, index) => {
    const path = join(directory, `${index}.log`);
    writeFileSync(path, content);
    const lines = linesOf(...content.split('\n'));
    return [
      { name: `file-${index}`, path },
      { name: `made-${index}`, lines },
    ];
  });
  const empty = { name: 'empty', lines: linesOf() };
  const bundle = await build({ sources: [...sources, empty], maxFileBytes: 100 }, join(directory, 'out'));
  const why = 'its last line is longer than the 100 bytes that are taken';
  expect(bundle.manifest.omitted).toEqual(sources.map(({ name }) => ({ name, why })));
  expect(bundle.manifest.files).toMatchObject([{ name: 'empty', left_out_bytes: 0 }]);
  expect(JSON.parse((await readZip(bundle.path))['manifest.json']!)).toEqual(bundle.manifest);
});

test('where there is no room the oldest goes; what must stay and has no room is an error', async () => {
  const noise = () => linesOf(randomBytes(5000).toString('base64'));
  const { directory } = scratch();
  const sources = [
    { name: 'new.log', modifiedAt: 3, lines: noise() },
    { name: 'old.log', modifiedAt: 1, lines: noise() },
    { name: 'versions.json', lines: linesOf('{}') },
    { name: 'older.log', modifiedAt: 2, lines: noise() },
  ];
  const bundle = await build({ sources, maxBytes: 8000 }, directory);
  expect(bundle.manifest.files.map(({ name }) => name)).toEqual(['new.log', 'versions.json']);
  expect(bundle.manifest.omitted.map(({ name }) => name)).toEqual(['old.log', 'older.log']);
  const failing = build({ sources: [{ name: 'a', lines: noise() }], maxBytes: 1000 }, join(directory, 'b'));
  await expect(failing).rejects.toMatchObject({ code: 'payload_too_large' });
  expect(readdirSync(join(directory, 'b'))).toEqual([]);
});

test('a ZIP that cannot be made says why, and leaves nothing', async () => {
  const { directory } = scratch();
  const lose = async function* () {
    const [workspace] = readdirSync(directory);
    rmSync(join(directory, workspace!, '0'));
    yield 'text';
  };
  const sources = [
    { name: 'lost.txt', lines: linesOf('text') },
    { name: 'next.txt', lines: lose },
  ];
  await expect(build({ sources }, directory)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(readdirSync(directory)).toEqual([]);
});
