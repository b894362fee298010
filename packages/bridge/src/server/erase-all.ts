import type { Part } from '@sallyport/core';

export const pageItems = 100;

/**
 * A part of the list at a time, whose acts share their commits; from the beginning each time, because what is deleted is not
 * listed, so it can be done again where it was interrupted. Throws where what was erased is there again: that would not end.
 */
export async function eraseAll(
  read: () => Promise<Part<{ readonly id: string }>>,
  erase: (id: string) => Promise<unknown>,
): Promise<number> {
  let before: ReadonlySet<string> = new Set();
  for (let erased = 0; ;) {
    const { items, isLast } = await read();
    const again = items.find(({ id }) => before.has(id));
    if (again) throw new Error(`${again.id} is there again after it was erased.`);
    await Promise.all(items.map(({ id }) => erase(id)));
    erased += items.length;
    if (isLast) return erased;
    before = new Set(items.map(({ id }) => id));
  }
}
