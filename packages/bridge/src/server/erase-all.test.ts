import { expect, test } from 'vitest';
import { eraseAll } from './erase-all.ts';

/** A store that gives its first two items at a time. */
function storeOf(ids: readonly string[]) {
  const left = new Set(ids);
  const read = () =>
    Promise.resolve({ items: [...left].slice(0, 2).map((id) => ({ id })), isLast: left.size <= 2 });
  return { left, read };
}

test('an erasure goes on until nothing is left, however short the parts are, and after it was interrupted', async () => {
  const { left, read } = storeOf(['a', 'b', 'c', 'd', 'e']);
  const failing = eraseAll(read, (id) =>
    id === 'd' ? Promise.reject(new Error('interrupted')) : Promise.resolve(left.delete(id)),
  );
  await expect(failing).rejects.toThrow('interrupted');
  expect(await eraseAll(read, (id) => Promise.resolve(left.delete(id)))).toBe(2);
  expect(left.size).toBe(0);
});

test('what an erasure leaves there ends it: it does not go round for ever', async () => {
  const { left, read } = storeOf(['a', 'b', 'c']);
  const erase = (id: string) => Promise.resolve(id !== 'b' && left.delete(id));
  await expect(eraseAll(read, erase)).rejects.toThrow('b is there again');
});
