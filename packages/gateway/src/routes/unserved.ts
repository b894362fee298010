import type { Row } from '@sallyport/core/contract';

/** Rows that no engine serves yet: they answer 501 after all checks that the row implies. A row that is served leaves the list. */
export const unserved = [] as const satisfies readonly Row['id'][];
export type UnservedId = (typeof unserved)[number];
