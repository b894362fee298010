export const pageItems = 100;

/** A page at a time, whose acts share their commits; from the beginning each time, because what is deleted is not listed. */
export async function eraseAll(
  read: () => Promise<readonly { readonly id: string }[]>,
  erase: (id: string) => Promise<unknown>,
): Promise<number> {
  for (let erased = 0; ;) {
    const page = await read();
    await Promise.all(page.map(({ id }) => erase(id)));
    erased += page.length;
    if (page.length < pageItems) return erased;
  }
}
