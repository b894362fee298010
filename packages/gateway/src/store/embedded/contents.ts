import type { Areas } from './acts.ts';
import type { Migration } from './migrate.ts';

/** Every domain's acts, by area. An entry here is all that it takes to have them run in the writer. */
export const areas = {} satisfies Areas;

/** In the order in which they are applied, for ever: append; never edit, reorder or remove. */
export const migrations: readonly Migration[] = [];
