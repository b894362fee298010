import { expect, test } from 'vitest';
import { FileList } from './file-list.ts';

const printed = '1\t2\ta\0-\t-\tpicture\0' + '3\t0\t\0old name\0new\tname\0' + '0\t4\té\n\0';
const files = [
  { path: 'a', added: 1, removed: 2 },
  { path: 'picture' },
  { path: 'new\tname', from: 'old name', added: 3, removed: 0 },
  { path: 'é\n', added: 0, removed: 4 },
];

test('files are read from whatever chunks git prints', () => {
  for (let size = 1; size <= Buffer.byteLength(printed); size += 1) {
    const list = new FileList(1000);
    const read = list.reader('');
    const bytes = Buffer.from(printed);
    for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size));
    expect(list.files).toEqual(files);
    expect([list.count, list.added, list.removed]).toEqual([4, 4, 6]);
  }
});

test('beyond the bound files are counted, and not listed; the list has no gap', () => {
  const list = new FileList(60);
  list.reader('lib/')(Buffer.from('1\t1\ta\0' + `1\t1\t${'b'.repeat(60)}\0` + '1\t1\tc\0'));
  expect(list.files).toEqual([{ path: 'lib/a', added: 1, removed: 1 }]);
  expect([list.count, list.added]).toEqual([3, 3]);
});
