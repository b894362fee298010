import type { Row } from '@sallyport/core/contract';

/** Rows that no engine serves yet: they answer 501 after all checks that the row implies. A row that is served leaves the list. */
export const unserved = [
  'environments.create',
  'environments.list',
  'environments.get',
  'environments.update',
  'environments.delete',
  'environments.archive',
  'telemetry.logs',
  'feedback.bundle',
] as const satisfies readonly Row['id'][];
export type UnservedId = (typeof unserved)[number];
