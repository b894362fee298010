import type { Context } from '../context.ts';
import type { Output } from '../io/terminal.ts';

/** A command: gives its result, or its exit code where its output was a stream, or nothing. */
export type CommandAct<O> = (
  context: Context,
  options: O,
  ...args: string[]
) => Promise<Output | number | undefined>;

/** Makes commander's action of a command whose module is imported when it runs. */
export type Act = <O>(load: () => Promise<CommandAct<O>>) => (...all: unknown[]) => Promise<void>;
