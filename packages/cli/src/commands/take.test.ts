import { expect, test } from 'vitest';
import { testContext } from '../testing/context.ts';
import { take, type TakeOptions } from './take.ts';

/** A list of so many items, in pages of at most three. */
function listOf(count: number) {
  const asked: number[] = [];
  async function* pagesOf(pageSize: number) {
    const size = Math.min(pageSize, 3);
    for (let from = 0; from < count; from += size) {
      asked.push(pageSize);
      yield await Promise.resolve(Array.from({ length: Math.min(size, count - from) }, (_, at) => from + at));
    }
  }
  return { asked, pagesOf };
}

test.each<readonly [TakeOptions, number, readonly number[], boolean, number]>([
  [{ limit: 5 }, 10, [0, 1, 2, 3, 4], true, 2],
  [{ limit: 5 }, 5, [0, 1, 2, 3, 4], false, 2],
  [{ limit: 1 }, 2, [0], true, 1],
  [{ limit: 3 }, 10, [0, 1, 2], true, 2],
  [{ limit: 5 }, 0, [], false, 0],
  [{ limit: 2, all: true }, 7, [0, 1, 2, 3, 4, 5, 6], false, 3],
])('%j of %i items', async (options, count, expected, isTold, calls) => {
  const { context, text } = testContext();
  const { asked, pagesOf } = listOf(count);
  expect(await take(context, options, pagesOf)).toEqual(expected);
  expect(text().stderr).toBe(
    isTold
      ? `There are more than ${options.limit === 1 ? 'this one' : `these ${options.limit}`}: see them with --all.\n`
      : '',
  );
  expect(asked).toEqual(Array.from({ length: calls }, () => (options.all ? 1000 : options.limit + 1)));
});
