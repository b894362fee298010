/** Something that a test waits for until something else lets it through. */
export interface Gate {
  readonly opened: Promise<unknown>;
  open(): void;
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return { opened: promise, open: () => resolve(undefined) };
}
