import { expect, test } from 'vitest';
import { ChangesReader } from './changes.ts';

const changes = { url: '.', branch: 'b', base: 'c', files: [], file_count: 1, added: 1, removed: 0 };

/** What a reader makes of these events. */
function read(...events: readonly (readonly [string, Readonly<Record<string, unknown>>])[]) {
  const reader = new ChangesReader();
  return events.map(([type, data]) => reader.take({ type, data })).filter((found) => found !== undefined);
}

test('pieces are put together, source by source; a torn character is whole again', () => {
  const bytes = Buffer.from('+é\n');
  const [found] = read(
    ['worker.patch', { source: 1, text: 'other\n' }],
    ['worker.patch', { source: 0, base64: bytes.subarray(0, 2).toString('base64') }],
    ['session.output', { text: 'x' }],
    ['worker.patch', { source: 0, base64: bytes.subarray(2).toString('base64') }],
    [
      'worker.changes',
      {
        sources: [
          { ...changes, patch_bytes: 4 },
          { url: 'u', error: 'no' },
        ],
      },
    ],
  );
  expect(found).toMatchObject([
    { ...changes, patch: bytes },
    { url: 'u', branch: '', error: 'no' },
  ]);
});

test('each report has its own pieces, and an attempt that ended before its report none', () => {
  const report = ['worker.changes', { sources: [{ ...changes, patch_bytes: 2 }] }] as const;
  const [first, second, third] = read(
    ['worker.patch', { source: 0, text: 'a\n' }],
    report,
    ['worker.patch', { source: 0, text: 'torn' }],
    ['worker.ready', {}],
    ['worker.patch', { source: 0, text: 'b\n' }],
    report,
    report,
  );
  expect(first).toMatchObject([{ patch: Buffer.from('a\n') }]);
  expect(second).toMatchObject([{ patch: Buffer.from('b\n') }]);
  expect(third).toMatchObject([{ patch: Buffer.alloc(0), patch_bytes: 2 }]);
});

test('nonsense of a worker is passed over', () => {
  const counts = [-1, 1.5, 1e300, null];
  const fileOf = (count: number | null) => ({ path: 'b', added: count, removed: 1 });
  const nonsense = [{ source: -1 }, { source: 1e9 }, { source: '__proto__', text: 'x' }, { text: 'x' }, {}];
  const found = read(
    ...nonsense.map((data) => ['worker.patch', data] as const),
    ['worker.changes', { sources: 7 }],
    ['worker.patch', { source: 2, text: 'third' }],
    [
      'worker.changes',
      {
        sources: [
          7,
          null,
          {
            files: [7, { path: 7 }, { path: 'a', added: 'x' }, ...counts.map(fileOf)],
            added: -1,
            removed: 1e300,
          },
        ],
      },
    ],
  );
  const [source] = found[0] ?? [];
  expect(source).toEqual({
    ...{ url: '', branch: '', base: '', patch: Buffer.from('third') },
    ...{ files: [{ path: 'a' }, ...counts.map(() => ({ path: 'b' }))] },
    ...{ file_count: 0, added: 0, removed: 0, patch_bytes: 0 },
  });
});

test('of patches without end as much is kept as the bound lets, report by report', () => {
  const reader = new ChangesReader({ mostBytes: 4 });
  const piece = { type: 'worker.patch', data: { source: 0, text: 'ab\n' } };
  const report = { type: 'worker.changes', data: { sources: [{ ...changes, patch_bytes: 9 }] } };
  for (let again = 0; again < 2; again += 1) {
    for (let pieces = 0; pieces < 3; pieces += 1) reader.take(piece);
    expect(reader.take(report)).toMatchObject([{ patch: Buffer.from('ab\n'), patch_bytes: 9 }]);
  }
});
