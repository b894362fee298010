import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { zipOf, type ZipEntry } from '../testing/zip.ts';
import { checkZip } from './zip-check.ts';

async function check(bytes: Buffer) {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-zip-'));
  try {
    const path = join(directory, 'bundle.zip');
    writeFileSync(path, bytes);
    return await checkZip(path);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const log = { name: 'log.txt', content: 'a line\n'.repeat(1000), deflate: true };
const good = zipOf(log, { name: 'logs/', content: '' }, { name: 'logs/b.txt', content: 'stored' });
const MiB = 1024 ** 2;

test('a good one, and what honest logs look like', async () => {
  expect(await check(good)).toEqual({ entries: 3 });
  // A thousand to one, as repeated lines are, and small.
  expect(await check(zipOf({ name: 'a', content: Buffer.alloc(8 * MiB), deflate: true }))).toEqual({
    entries: 1,
  });
  expect(await check(zipOf({ name: 'Gesprächs–日志.txt' }))).toEqual({ entries: 1 });
});

const lying = (says: ZipEntry['says'], name = 'a'): Buffer => zipOf({ name, content: 'x', says: says ?? {} });

test.each<[string, Buffer, string]>([
  ['text', Buffer.from('this is no archive, but a text that is long enough'), 'is not a sound ZIP file'],
  ['no bytes', Buffer.alloc(0), 'is not a sound ZIP file'],
  ['the start of one', good.subarray(0, 100), 'is not a sound ZIP file'],
  ['one without its last byte', good.subarray(0, -1), 'is not a sound ZIP file'],
  ['one with bytes after it', Buffer.concat([good, Buffer.from('tail')]), 'is not a sound ZIP file'],
  ['one without entries', zipOf(), 'is an empty ZIP'],
  ['../', zipOf({ name: '../a' }), 'is not a sound ZIP file'],
  ['a/../../b', zipOf({ name: 'a/../../b' }), 'is not a sound ZIP file'],
  ['/', zipOf({ name: '/etc/a' }), 'is not a sound ZIP file'],
  ['C:/', zipOf({ name: 'C:/a' }), 'is not a sound ZIP file'],
  ['backslashes', zipOf({ name: '..\\a' }), 'is not a sound ZIP file'],
  ['NUL in a name', zipOf({ name: 'a\0.txt' }), 'has a name with control characters'],
  ['a line break in a name', zipOf({ name: 'a\n.txt' }), 'has a name with control characters'],
  ['a name twice', zipOf({ name: 'a' }, { name: 'a' }), 'has a name twice'],
  ['a name twice but for case', zipOf({ name: 'a' }, { name: 'A' }), 'has a name twice'],
  ['a name twice but for its form', zipOf({ name: 'é' }, { name: 'e\u0301' }), 'has a name twice'],
  ['a file and a directory of one name', zipOf({ name: 'a' }, { name: 'a/' }), 'has a name twice'],
  ['a long name', zipOf({ name: 'ä'.repeat(128) }), 'has a name that no file system takes'],
  ['encryption', zipOf({ name: 'a', deflate: true, says: { flags: 0x801 } }), 'is encrypted'],
  ['another method', lying({ method: 12 }), 'is compressed with another method than deflate'],
  ['a symbolic link', lying({ attributes: 0o120777 * 65536 }), 'has a symbolic link'],
  [
    'a bomb',
    zipOf({ name: 'a', content: Buffer.alloc(65 * MiB), deflate: true }),
    'inflates out of proportion',
  ],
  [
    'many small bombs',
    zipOf(
      ...Array.from({ length: 20 }, (_, index) => ({
        name: `${index}`,
        deflate: true,
        says: { uncompressedSize: 60 * MiB },
      })),
    ),
    'inflates to more than 1 GiB',
  ],
  [
    'entries on one another',
    zipOf(
      ...Array.from({ length: 1000 }, (_, index) => ({
        name: `${index}`,
        content: 'x',
        says: { offset: 0 },
      })),
    ),
    'has entries that overlap',
  ],
  [
    'more entries than may be',
    zipOf(...Array.from({ length: 10_001 }, (_, i) => ({ name: `${i}` }))),
    'has more than',
  ],
  [
    'an entry beyond the end',
    zipOf({ name: 'a', deflate: true, says: { compressedSize: 9999 } }),
    'is not a sound ZIP file',
  ],
])('%s is refused', async (_name, bytes, what) => {
  await expect(check(bytes)).rejects.toMatchObject({
    code: 'invalid_request',
    status: 400,
    issues: [{ path: 'bundle', message: expect.stringContaining(what) as string }],
  });
});

test('whatever bytes are changed, it is taken or refused', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-zip-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'bundle.zip');
  const change = fc.record({ at: fc.nat(good.length - 1), to: fc.nat(255) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 4 }),
      fc.nat(good.length),
      async (changes, cut) => {
        const bytes = Buffer.from(good);
        for (const { at, to } of changes) bytes[at] = to;
        writeFileSync(path, cut % 5 === 0 ? bytes.subarray(0, cut) : bytes);
        const code = await checkZip(path).then(
          () => 'taken',
          (error: unknown) => (error as { code?: unknown }).code,
        );
        expect(['taken', 'invalid_request']).toContain(code);
      },
    ),
    { numRuns: 500 },
  );
});
