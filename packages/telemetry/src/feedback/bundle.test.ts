import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { scratch } from '../../test/batcher.ts';
import { createRedactor } from '../client/redact.ts';
import { checkZip } from '../server/zip-check.ts';
import { readZip } from '../testing/read-zip.ts';
import { buildBundle, type BundleOptions } from './bundle.ts';

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
    { name: 'gone.log', why: expect.stringContaining('ENOENT') as string },
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
  expect(bundle.manifest.files.map(({ left_out_bytes }) => left_out_bytes)).toEqual([9895, 9900]);
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
