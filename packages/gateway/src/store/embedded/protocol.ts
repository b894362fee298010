import type { SoundnessCheck } from './soundness.ts';
import type { Thrown } from './thrown.ts';

/** One act asked for. */
export interface Call {
  readonly id: number;
  readonly area: string;
  readonly act: string;
  readonly argument: unknown;
}

/** The end of one act, sent after its batch was committed or undone. */
export type Reply =
  { readonly id: number; readonly value: unknown } | { readonly id: number; readonly thrown: Thrown };

export interface BatchLimits {
  /** Most acts of one transaction. */
  readonly acts: number;
  /** A transaction takes up no further act once it has run for so many milliseconds. */
  readonly ms: number;
}

/** What the thread starts with. */
export interface WriterData {
  readonly path: string;
  /** URL of a module with the exports of `StoreContents`. */
  readonly contents: string;
  readonly limits: BatchLimits;
  readonly migrate: boolean;
  readonly check: SoundnessCheck | undefined;
}

export type ToWriter = readonly Call[] | 'close';

export type FromWriter =
  /** Before a migration that takes long. */
  | { readonly notice: string }
  /** Once: the names of the acts by area, or why there are none. */
  | { readonly ready: Readonly<Record<string, readonly string[]>> }
  | { readonly failed: Thrown }
  /** Then one for each batch. */
  | readonly Reply[];
