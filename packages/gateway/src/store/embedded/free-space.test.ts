import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lowOnSpace } from './free-space.ts';

test('says how much is left where that is too little', async () => {
  const path = join(import.meta.dirname, 'store.db');
  expect(await lowOnSpace(path, 2 ** 50)).toMatch(
    /^The disk of .* has \d+ MiB left, less than 1073741824 \(lowDiskBytes\)/,
  );
  expect(await lowOnSpace(path, 0)).toBeUndefined();
});
