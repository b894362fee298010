import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { ZipFile as ZipWriter } from 'yazl';
import { unicodeName, zipOf, type ZipEntry } from '../testing/zip.ts';
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
const endBytes = 22;
/** Of the two records that large files have before it. */
const largeBytes = 56 + 20;

test('a good one, and what honest logs look like', async () => {
  expect(await check(good)).toEqual({ entries: 3 });
  // A thousand to one, as repeated lines are, and small.
  expect(await check(zipOf({ name: 'a', content: Buffer.alloc(8 * MiB), deflate: true }))).toEqual({
    entries: 1,
  });
  expect(await check(zipOf({ name: 'Gesprächs–日志.txt' }))).toEqual({ entries: 1 });
  expect(await check(lying({ attributes: 0o010600 * 65536 }))).toEqual({ entries: 1 }); // from a pipe
  const modes = { file: 0o100644 * 65536, directory: 0o040755 * 65536 };
  const directories = ['a/', 'a/b/'].map((name) => ({ name, says: { attributes: modes.directory } }));
  const files = ['a/b/c', 'a/b.', 'd/..e', '...'].map((name) => ({ name, says: { attributes: modes.file } }));
  expect(await check(zipOf(...directories, ...files.toSpliced(1, 1)))).toEqual({ entries: 5 });
  expect(await check(await largeForm('of a service'))).toEqual({ entries: 2 });
  // A mode of -1, as older builds of Maven have it for directories.
  expect(await check(zipOf({ name: 'a/', says: { attributes: 0xffff_0000 } }))).toEqual({ entries: 1 });
  expect(await check(await streamed())).toEqual({ entries: 2 });
  // `zip - FILE | ...` says the size that it knows.
  const later = { flags: 0x808 };
  expect(await check(zipOf({ ...log, says: later, before: { compressedSize: 0 } }))).toEqual({ entries: 1 });
  expect(await check(zipOf({ name: 'a', content: 'x', says: later }))).toEqual({ entries: 1 });
  // An archive, too, that was stored in it as it is.
  expect(await check(await streamed(await streamed()))).toEqual({ entries: 2 });
  // An archive in it that does not get smaller is there as it is.
  const inner = zipOf({ name: 'x', content: randomBytes(100_000) });
  expect(await check(withBehind(deflateRawSync(inner), inner.length))).toEqual({ entries: 1 });
  const large = { compressedSize: 0xffff_ffff, uncompressedSize: 0xffff_ffff, extra: largeSizes(1) };
  expect(await check(zipOf({ name: 'a', content: 'x', before: large }))).toEqual({ entries: 1 });
  // As writers of other times have it: the name in a code page, in which half a character may be a backslash, and in Unicode.
  const both = unicodeName('\x83\\.txt', 'ソ.txt');
  const inCodePage = { name: '\x83\\.txt', says: { extra: both }, before: { extra: both } };
  expect(await check(zipOf(inCodePage))).toEqual({ entries: 1 });
});

/** The good one, with another end record: `directory` is what stands there. */
function ending(
  change: (end: Buffer, directory: { from: number; bytes: number }) => void,
  between = '',
): Buffer {
  const [before, end] = [good.subarray(0, -endBytes), Buffer.from(good.subarray(-endBytes))];
  const directory = { bytes: end.readUInt32LE(12), from: end.readUInt32LE(16) };
  change(end, directory);
  return Buffer.concat([before, Buffer.from(between, 'latin1'), end]);
}

/** An entry whose header is at 2^64 - 1, as the extra field of large files says. */
function largeOffset(): Buffer {
  const name = 'a'.repeat(12);
  const bytes = zipOf({ name, says: { offset: 0xffff_ffff } });
  const nameAt = bytes.lastIndexOf(name);
  // The name makes room for the field, whose head takes four bytes.
  bytes.writeUInt16LE(0, nameAt - 18);
  bytes.writeUInt16LE(12, nameAt - 16);
  bytes.writeUInt16LE(1, nameAt);
  bytes.writeUInt16LE(8, nameAt + 2);
  bytes.fill(0xff, nameAt + 4, nameAt + 12);
  return bytes;
}

/** With the end records of large files, which some writers always make. */
async function largeForm(comment = ''): Promise<Buffer> {
  const zip = new ZipWriter();
  zip.addBuffer(Buffer.from('x'), 'a');
  zip.addBuffer(Buffer.from('y'), 'b');
  zip.end({ forceZip64Format: true, comment });
  return buffer(zip.outputStream);
}

/** As who writes without going back has it: the sizes are behind the data. */
async function streamed(content: Buffer = Buffer.from('a line\n')): Promise<Buffer> {
  const zip = new ZipWriter();
  for (const compress of [true, false])
    zip.addReadStream(Readable.from([content]), `${compress}.txt`, { compress });
  zip.end();
  return buffer(zip.outputStream);
}

/** The extra field that says both sizes of a header for large files. */
function largeSizes(size: number): Buffer {
  const field = Buffer.alloc(20);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(16, 2);
  field.writeBigUInt64LE(BigInt(size), 4);
  field.writeBigUInt64LE(BigInt(size), 12);
  return field;
}

/** What only those find who read a file from its start. */
const outside = { name: '../../a', isHidden: true };
/** The same in the place of what is stored in an entry. */
const enclosed = zipOf(outside).subarray(0, 30 + outside.name.length);

/** What was stored before its size was known: `before`, what looks like its end, and what only those find who take it for that. */
function endingTwice(before: Buffer): Buffer {
  const end = Buffer.alloc(16);
  end.write('PK\x07\x08', 'latin1');
  end.writeUInt32LE(crc32(before), 4);
  end.writeUInt32LE(before.length, 8);
  end.writeUInt32LE(before.length, 12);
  const content = Buffer.concat([before, end, enclosed]);
  const unsized = { compressedSize: 0, uncompressedSize: 0 };
  return zipOf({ name: 'a', content, says: { flags: 0x808 }, before: unsized });
}

const text = 'a line\n'.repeat(1000);

/** An entry whose deflated data are these bytes. */
function withBehind(data: Buffer, uncompressedSize = text.length): Buffer {
  return zipOf({ name: 'a', content: data, says: { method: 8, uncompressedSize } });
}

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
  [
    '../ for who knows no names in Unicode',
    lying({ extra: unicodeName('../../a', 'a') }, '../../a'),
    'whose header differs',
  ],
  [
    '../ for who reads the name in Unicode before the data',
    zipOf({ name: 'a', before: { extra: unicodeName('a', '../../a') } }),
    'whose header differs',
  ],
  [
    'an extra field that breaks off',
    zipOf({ name: 'a', before: { extra: Buffer.from('up\xff\xff') } }),
    'is not a sound ZIP file',
  ],
  ['NUL in a name', zipOf({ name: 'a\0.txt' }), 'has a name with control characters'],
  ['a line break in a name', zipOf({ name: 'a\n.txt' }), 'has a name with control characters'],
  ['a name twice', zipOf({ name: 'a' }, { name: 'a' }), 'has a name twice'],
  ['a name twice but for case', zipOf({ name: 'a' }, { name: 'A' }), 'has a name twice'],
  ['a name twice but for its form', zipOf({ name: 'é' }, { name: 'e\u0301' }), 'has a name twice'],
  [
    'entries with one content',
    zipOf({ name: 'a' }, { name: 'b', says: { offset: 0 } }),
    'whose header differs',
  ],
  ['a name twice but for what says nothing', zipOf({ name: 'a/b' }, { name: './a//b' }), 'has a name twice'],
  ['a file and a directory of one name', zipOf({ name: 'a' }, { name: 'a/' }), 'has a name twice'],
  ['a long name', zipOf({ name: 'ä'.repeat(128) }), 'has a name that no file system takes'],
  ['a long path', zipOf({ name: `${'ab/'.repeat(65)}c` }), 'has a name that no file system takes'],
  ['no name', zipOf({ name: '' }), 'has a name that no file system takes'],
  ['.', zipOf({ name: '.' }), 'has a name that no file system takes'],
  ['C1 controls in a name', zipOf({ name: 'a\u009b2J' }), 'has a name with control characters'],
  ['a turn of direction in a name', zipOf({ name: 'a\u202egpj.exe' }), 'has a name with control characters'],
  ['a name twice but for dots and blanks', zipOf({ name: 'a/b' }, { name: 'a. /b.' }), 'has a name twice'],
  ['a file that is a directory of another', zipOf({ name: 'a/b' }, { name: 'A' }), 'has a name twice'],
  ['a socket', lying({ attributes: 0o140644 * 65536 }), 'has what is neither a file nor a directory'],
  ...[0o020644, 0o060644, 0o140644].map((mode): [string, Buffer, string] => [
    `a device or a socket (${mode.toString(8)})`,
    lying({ attributes: mode * 65536 }),
    'has what is neither a file nor a directory',
  ]),
  ['another name before the data', zipOf({ name: 'a', before: { name: '../../a' } }), 'whose header differs'],
  [
    'encryption said before the data alone',
    zipOf({ name: 'a', before: { flags: 0x801 } }),
    'whose header differs',
  ],
  [
    'a smaller size before the data, where another entry hides',
    zipOf({ name: 'a', content: enclosed, before: { compressedSize: 0, uncompressedSize: 0 } }),
    'whose header differs',
  ],
  [
    'another size for who reads large files before the data',
    zipOf({
      name: 'a',
      content: 'x',
      before: { compressedSize: 0xffff_ffff, uncompressedSize: 0xffff_ffff, extra: largeSizes(0) },
    }),
    'whose header differs',
  ],
  [
    'a size of large files that is not there',
    zipOf({ name: 'a', before: { compressedSize: 0xffff_ffff, uncompressedSize: 0xffff_ffff } }),
    'whose header differs',
  ],
  ...[0, 1, 2].map((at): [string, Buffer, string] => [
    `an entry that the directory does not have, after ${at}`,
    zipOf(...[{ name: 'a' }, { name: 'b' }].toSpliced(at, 0, outside)),
    'has something between its entries',
  ]),
  [
    'an entry behind the stream of another, in its data',
    withBehind(Buffer.concat([deflateRawSync(text), enclosed, Buffer.alloc(5 * MiB)])),
    'has something behind the data',
  ],
  [
    'the same, where only part of a window is left for the signature',
    withBehind(Buffer.concat([deflateRawSync(randomBytes(65_500)), Buffer.alloc(20), enclosed]), 65_500),
    'has something behind the data',
  ],
  // From within a window, over the edge of two, and behind what looks like it.
  ...[Buffer.alloc(0), randomBytes(1000), ...[0, 3, 4, 7, 8, 12].map((less) => randomBytes(65_536 - less))]
    .flatMap((before) => [before, Buffer.concat([Buffer.from('PK\x07\x08PK\x07\x08'), before])])
    .map((before): [string, Buffer, string] => [
      `an entry behind what looks like the end of what is stored, after ${before.length} bytes`,
      endingTwice(before),
      'has something behind the data',
    ]),
  [
    'a stream that inflates to more than it says, with the signature in it',
    withBehind(deflateRawSync(enclosed, { level: 0 }), 1),
    'is not a sound ZIP file',
  ],
  [
    'a stream without an end, with the signature in it',
    withBehind(deflateRawSync(enclosed, { level: 0 }).subarray(0, -1)),
    'is not a sound ZIP file',
  ],
  ['another method before the data', zipOf({ name: 'a', before: { method: 8 } }), 'whose header differs'],
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
    // Each has the next ones' headers and data in its own.
    zipOf(
      ...Array.from({ length: 1000 }, (_, index) => ({
        name: `${index}`,
        deflate: true,
        says: { compressedSize: 100 },
      })),
    ),
    'has entries that overlap',
  ],
  [
    'an entry within another',
    zipOf(
      { name: 'a', content: zipOf({ name: 'b', content: 'x' }).subarray(0, 32) },
      { name: 'b', content: 'x', says: { offset: 31 } },
    ),
    'has entries that overlap',
  ],
  [
    'more entries than may be',
    zipOf(...Array.from({ length: 10_001 }, (_, i) => ({ name: `${i}` }))),
    'has more than',
  ],
  ['more entries than it says', ending((end) => end.writeUInt16LE(1, 10)), 'is not a sound ZIP file'],
  [
    'a longer directory than it has',
    ending((end, { bytes }) => end.writeUInt32LE(bytes + 1, 12)),
    'is not a sound ZIP file',
  ],
  ['something between the directory and its end', ending(() => undefined, 'PK'), 'is not a sound ZIP file'],
  [
    'a locator that leads beyond the end',
    ending(() => undefined, `PK\x06\x07${'\0'.repeat(4)}${'\xff'.repeat(8)}${'\0'.repeat(4)}`),
    'is not a sound ZIP file',
  ],
  ['a header beyond all files', largeOffset(), 'is not a sound ZIP file'],
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

test.each([
  ['more entries than they say', (end: Buffer) => end.writeBigUInt64LE(1n, 32)],
  ['a longer directory', (end: Buffer) => end.writeBigUInt64LE(end.readBigUInt64LE(40) + 1n, 40)],
  ['a longer record', (end: Buffer) => end.writeBigUInt64LE(45n, 4)],
  ['a directory beyond all files', (end: Buffer) => end.fill(0xff, 48, 56)],
  ['another directory for who reads the small one', (end: Buffer) => end.writeUInt32LE(0, largeBytes + 16)],
])('the end records of large files that say another thing are refused: %s', async (_name, change) => {
  const bytes = await largeForm();
  change(bytes.subarray(-endBytes - largeBytes));
  await expect(check(bytes)).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
});

test('whatever bytes are changed, it is taken or refused', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-zip-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'bundle.zip');
  // Eight alike are a size or a place that no file has.
  const change = fc.record({ at: fc.nat(), to: fc.nat(255), bytes: fc.constantFrom(1, 8) });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(good, await largeForm()),
      fc.array(change, { minLength: 1, maxLength: 4 }),
      fc.nat(good.length),
      async (whole, changes, cut) => {
        const bytes = Buffer.from(whole);
        for (const { at, to, bytes: count } of changes) {
          const from = at % bytes.length;
          bytes.subarray(from, from + count).fill(to);
        }
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
