// Terminology
//
// act       one atomic write of a domain (`consumeCode`, `appendEvents`): a method of one plain argument
// acts      a domain's port of such methods; asynchronous for the engine, synchronous inside the writer
// area      the name under which the acts of one domain are registered
// batch     the acts that share one transaction, hence one fsync; each still holds or fails by itself
// contents  what a store holds: its areas and the migrations that make their tables
import type { DatabaseSync } from 'node:sqlite';
import type { Migration } from './migrate.ts';

/** A port as its adapter writes it: what answers with a promise outside answers at once inside the transaction. */
export type Sync<Port> = {
  readonly [Act in keyof Port]: Port[Act] extends (...input: infer Input) => Promise<infer Answer>
    ? (...input: Input) => Answer
    : never;
};

/** A port as its callers see it; `Async<Sync<Port>>` is `Port`. */
export type Async<Acts> = {
  readonly [Act in keyof Acts]: Acts[Act] extends (...input: infer Input) => infer Answer
    ? (...input: Input) => Promise<Answer>
    : never;
};

/**
 * Makes a domain's acts over the writer's connection: called once, after the migrations, so statements are prepared here.
 * An act runs inside a transaction that is not its own: it must not begin, commit or roll back, nor be `async`. What it
 * throws undoes that act alone. Argument and answer are structured-cloned: plain data.
 */
export type ActsFactory<Acts extends object> = (db: DatabaseSync) => Acts;

/** The registered areas. The parameter is what makes each act's own types survive: see `Async`. */
export type Areas = Readonly<Record<string, ActsFactory<object>>>;

/** The module that the writer's thread loads: `export const areas = {...} satisfies Areas; export const migrations = [...]`. */
export interface StoreContents {
  readonly areas: Areas;
  readonly migrations: readonly Migration[];
}
